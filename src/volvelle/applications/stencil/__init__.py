"""Stencils on a regular grid."""
