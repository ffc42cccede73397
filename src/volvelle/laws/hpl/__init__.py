"""High-Performance Linpack: the closed form, its layers, its panels."""
