"""What every part of the package rests on: questions as values."""
