"""Published studies computed again; nothing but the command imports them."""
