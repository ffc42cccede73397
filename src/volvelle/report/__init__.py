"""Answers made readable: text, tables, JSON. Computes nothing."""
