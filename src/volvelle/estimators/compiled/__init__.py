"""The same laws, traced once and compiled; speed may not shape formulas."""
