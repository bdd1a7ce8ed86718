"""Speed and memory, as ratios of one run on one machine: `make bench`."""
