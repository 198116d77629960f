"""pcn: Pareto Conditioned Networks. Policies are the undominated returns of its buffer, each given as a command."""

from __future__ import annotations

from typing import Any

from morl_baselines.multi_policy.pcn.pcn import PCN

from agents.benchmarking.contract import Policy, Setting
from agents.benchmarking.return_conditioned import DEFAULTS as SHARED
from agents.benchmarking.return_conditioned import train_commands

OBSERVATION = "vector"
DEFAULTS: dict[str, Any] = SHARED


def train(setting: Setting) -> list[Policy]:
    """Exactly the steps of the setting; the last episode may be cut short, and is then not learned from."""
    return train_commands(PCN, setting, {**DEFAULTS, **setting.options})
