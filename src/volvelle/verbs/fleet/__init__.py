"""How many chips serve a load of days within limits, by the hour, and for what money."""
