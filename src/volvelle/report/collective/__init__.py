"""A collective, in words and in a picture."""
