"""Training of language models, held against published runs."""
