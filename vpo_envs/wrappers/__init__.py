"""Adapters between environments."""

from vpo_envs.wrappers.multi_answer import MultiAnswer

__all__ = ["MultiAnswer"]
