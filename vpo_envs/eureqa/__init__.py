"""Chains of masked entities: `vpo/EUREQA-v0`."""

from vpo_envs.eureqa.chain import Chain
from vpo_envs.eureqa.task import EureqaTask

__all__ = ["Chain", "EureqaTask"]
