"""Answers as pages: one HTML file each that needs no other."""
