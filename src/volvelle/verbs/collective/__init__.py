"""One collective on a machine: its time by law, as flows, and what a library would choose."""
