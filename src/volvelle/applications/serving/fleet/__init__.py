"""A fleet of replicas: what one of them can take, how many there are by the minute, and whether that is enough."""
