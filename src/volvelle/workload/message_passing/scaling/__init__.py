"""The same program on more ranks: what partners, sizes, turns and times become, from traces of a few rank counts."""
