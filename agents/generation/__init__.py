"""Backends that sample responses behind one small interface."""

from agents.generation.base import Completion, Generator, Sampling
from agents.generation.transformers_backend import TransformersGenerator

__all__ = ["Completion", "Generator", "Sampling", "TransformersGenerator"]
