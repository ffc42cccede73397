"""The multi-layered model of Linpack (Kim and others, ETRI Journal 2021), computed again."""
