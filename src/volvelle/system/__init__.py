"""WHERE it runs: chips, memories, links, clusters. Knows no workload."""
