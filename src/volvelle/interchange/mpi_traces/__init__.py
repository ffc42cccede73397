"""Traces of MPI programs in and out: a CSV of events, archives of OTF2, time-independent traces of SimGrid."""
