"""Traces on another machine: operation by operation by the laws, then replayed in order."""
