"""How training scales, in words and in a picture."""
