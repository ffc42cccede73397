"""Estimators held against each other, for people."""
