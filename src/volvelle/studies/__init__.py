"""Many estimates against one question."""
