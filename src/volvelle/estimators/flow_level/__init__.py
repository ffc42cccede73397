"""A training step whose exchanges are flows on the links of its machine."""
