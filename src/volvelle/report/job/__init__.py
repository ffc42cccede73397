"""A whole job in words."""
