"""Runs that are interrupted: how often, what each interruption costs, and how long it all takes."""
