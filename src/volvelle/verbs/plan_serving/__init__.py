"""The cheapest way to serve a load within limits: candidates, a search over them, and what would change the answer."""
