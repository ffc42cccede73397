"""SimGrid, an engine that we did not write, in a process of its own."""
