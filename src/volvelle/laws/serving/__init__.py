"""Laws of serving a language model: passes through stages of chips, and drafts that are verified."""
