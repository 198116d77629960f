"""Multi-hop questions over numbered paragraphs: `vpo/MuSiQue-v0`."""

from vpo_envs.musique.problems import Hop, Problem
from vpo_envs.musique.task import MuSiQueTask

__all__ = ["Hop", "MuSiQueTask", "Problem"]
