"""HPCG."""
