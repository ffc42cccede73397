"""A fleet, in words and in a picture."""
