"""Generated problems in a small grammar, for a policy that learns to program from nothing."""

from vpo_envs.code.rules.demonstrations import careless_program as demonstration
from vpo_envs.code.rules.generator import rule_problem

__all__ = ["demonstration", "rule_problem"]
