"""What is asked of a model that serves: requests, when they come and how long they are."""
