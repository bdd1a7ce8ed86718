"""Speed, memory, and how often verdicts are right: `make bench`."""
