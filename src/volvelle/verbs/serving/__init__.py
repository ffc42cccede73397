"""Questions about serving: a batch or a load, split pools, files that launch it, constants from one's own runs."""
