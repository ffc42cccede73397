"""Laws of networks beside those of collectives: cuts, contention, and what a library takes links to do."""
