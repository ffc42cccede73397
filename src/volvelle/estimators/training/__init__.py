"""One optimiser step by formulas: a reduction of lowered blocks over stages and replicas."""
