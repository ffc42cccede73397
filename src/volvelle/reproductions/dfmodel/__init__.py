"""DFModel (Ko and others, arXiv:2412.16432), computed again."""
