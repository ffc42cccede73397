"""Commands of logs of one's own."""
