"""COMET (Kadiyala and others, arXiv:2211.16648), computed again."""
