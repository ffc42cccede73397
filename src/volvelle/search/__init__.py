"""(workload, system, estimator) → ranked mappings."""
