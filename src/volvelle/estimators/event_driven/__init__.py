"""A training step task by task: every kernel, exchange and transfer of every stage, put in time by a replay."""
