"""Backends that sample responses behind one small interface."""

from agents.generation.base import Completion, EngineError, Generator, Sampling
from agents.generation.factory import make_generator
from agents.generation.transformers_backend import TransformersGenerator

__all__ = ["Completion", "EngineError", "Generator", "Sampling", "TransformersGenerator", "make_generator"]
