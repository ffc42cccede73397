"""Traces of MPI programs: a CSV of events, archives of OTF2."""
