"""Which kernels of a dataflow graph run together on a chip: the best fusion, with a proof."""
