"""MPI programs timed again: what they computed and sent, replayed on another machine."""
