"""Flows that share the links of a network fairly. Knows no collective and no machine."""
