"""Single kernels: products, attention, experts, collectives inside a node, against measured tables."""
