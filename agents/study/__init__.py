"""A comparison of methods over seeds: its configuration, its runs, and what they come to."""
