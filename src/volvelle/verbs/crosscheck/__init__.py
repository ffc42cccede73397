"""One step by several estimators: answers side by side, and why they differ."""
