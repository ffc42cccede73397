"""The public surface, one module a verb: a question in names or values, a frozen value as its answer."""
