"""(workload, system, mapping) → Estimate. Pure: no estimator reads a file or keeps state."""
