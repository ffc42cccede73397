"""What the results of a study answer: the best design, the front, what matters, what pays, and how sure that is."""
