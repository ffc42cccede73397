"""Design spaces: what may vary, what is asked of each point, and how a slice of points is evaluated."""
