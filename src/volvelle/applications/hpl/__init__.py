"""High-Performance Linpack."""
