"""Estimators against each other, where theory says that they agree."""
