"""How long, what fits, why: answers about a workload on a system, laid out by a mapping."""
