"""Answers that users found wrong: one test per answer, each of which runs the command as the user did."""
