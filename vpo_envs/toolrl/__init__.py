"""Tool calling: `vpo/ToolRL-v0`."""

from vpo_envs.toolrl.problems import ToolProblem
from vpo_envs.toolrl.task import ToolRLTask

__all__ = ["ToolProblem", "ToolRLTask"]
