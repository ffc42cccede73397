"""WHEN things happen: state machines on flat arrays that turn rules and times of steps into what clients see."""
