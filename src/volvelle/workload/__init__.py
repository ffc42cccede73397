"""WHAT is computed: graphs of operations declared by named dimensions. Knows no hardware."""
