"""The policy-gradient step: what it minimises, how it is cut into passes, and what it does when memory runs out."""

from agents.learner.learner import Learner

__all__ = ["Learner"]
