"""What is run and measured: one folder a family, with its rows, estimator, fit and plan."""
