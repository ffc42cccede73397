"""Laws of single kernels: products, attention, experts, collectives inside a node."""
