"""What ranges of serving rest on: the runs that tell how far engines are off, and whether a question is like them."""
