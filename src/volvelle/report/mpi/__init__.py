"""MPI traces as a person reads them."""
