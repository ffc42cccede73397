"""Remedies for questions without an answer: every change is tried before it is offered."""
