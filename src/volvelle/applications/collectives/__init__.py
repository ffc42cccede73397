"""Collective communication, held against nccl-tests and the like."""
