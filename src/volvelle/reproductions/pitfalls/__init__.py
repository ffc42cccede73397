"""The talk on pitfalls of performance modelling (Intel), its printed results computed again."""
