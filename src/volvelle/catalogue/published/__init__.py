"""What published studies printed or logged, with its sources: machines, workloads, results."""
