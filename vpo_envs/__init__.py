"""Multi-objective text environments for Gymnasium and MO-Gymnasium. Importing this module registers `vpo/*`."""

from vpo_envs.registration import make_task, register_all, register_task
from vpo_envs.task import Objective, Task
from vpo_envs.text_env import TextEnv
from vpo_envs.text_vector_env import TextVectorEnv

__version__ = "0.1.0"
__all__ = ["Objective", "Task", "TextEnv", "TextVectorEnv", "__version__", "make_task", "register_task"]

register_all()
