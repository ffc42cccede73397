"""How many drafted tokens a target keeps."""
