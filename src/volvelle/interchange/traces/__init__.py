"""Other people's traces, read and written: one format a module."""
