"""Runs a study: its rows cut into chunks, evaluated anywhere, written as Parquet shards with a manifest."""
