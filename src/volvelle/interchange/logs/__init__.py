"""Logs of benchmarks and of training runs, as tools print them."""
