"""Memory of training runs, held against published amounts."""
