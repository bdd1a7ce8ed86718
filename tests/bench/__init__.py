"""Speed, memory, and how often what is said is right: `make bench`."""
