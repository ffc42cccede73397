"""The closed form's own arithmetic, written down while it runs, for a compiler to run again."""
