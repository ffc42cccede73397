"""Many answers at once: measurements held against the model, constants fitted to them."""
