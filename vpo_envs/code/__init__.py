"""Programs that are run against tests: `vpo/Code-v0`."""

from vpo_envs.code.problems import CodeProblem
from vpo_envs.code.task import CodeTask

__all__ = ["CodeProblem", "CodeTask"]
