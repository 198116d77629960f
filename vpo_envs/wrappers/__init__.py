"""Adapters between environments."""
