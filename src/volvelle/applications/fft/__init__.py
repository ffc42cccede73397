"""Fourier transforms over many chips."""
