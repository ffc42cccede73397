"""Kernels run together on one chip, streaming tiles through on-chip memory."""
