"""Graphs of kernels by name, and their best mapping to a machine: one question, whoever asks it."""
