"""A plan of how to serve: as words, text, a picture and a page."""
