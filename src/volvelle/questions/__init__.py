"""What each command asks: one question a command, its options declared once."""
