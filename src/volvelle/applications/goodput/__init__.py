"""Runs as wholes: days, money, energy and carbon of a job that will be interrupted."""
