"""A finished study as text, JSON, a page and files."""
