"""What ranks of an MPI program did: recorded events, who talks to whom, loops, and the same on more ranks."""
