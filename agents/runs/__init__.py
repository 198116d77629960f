"""A run's folder: its configuration, checkpoints, metrics, and how it is stopped and resumed."""
