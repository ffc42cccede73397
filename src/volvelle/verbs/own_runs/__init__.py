"""Calibration from logs of one's own."""
