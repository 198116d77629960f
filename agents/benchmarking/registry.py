"""The one table of algorithms: what each is, and which package it needs. Files are imported when they are used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from agents.benchmarking.contract import Algorithm

MORL, SB3 = "morl_baselines", "stable_baselines3"
LLM = "llm:"
"""What the names of language models begin with; after it comes a run's folder, a model, or "builtin"."""


@dataclass(frozen=True)
class Entry:
    """An algorithm of this package."""

    description: str
    package: str | None = None
    """What must be importable."""


ALGORITHMS: dict[str, Entry] = {
    "random": Entry("one policy, every action equally likely"),
    "random-search": Entry("random episodes of a fixed problem; the undominated ones are played again"),
    "pcn": Entry("Pareto Conditioned Networks (Reymond et al. 2022)", MORL),
    "envelope": Entry("Envelope Q-learning (Yang et al. 2019)", MORL),
    "gpi-ls": Entry("GPI Linear Support (Alegre et al. 2023)", MORL),
    "pql": Entry("Pareto Q-learning (Van Moffaert & Nowe 2014)", MORL),
    "mpmoq": Entry("multi-policy multi-objective Q-learning (Van Moffaert et al. 2013)", MORL),
    "lcn": Entry("Lorenz Conditioned Networks (Michailidis et al. 2025)", MORL),
    "eupg": Entry("Expected Utility Policy Gradient (Roijers et al. 2018)", MORL),
    "morld": Entry("MORL/D, decomposition (Felten et al. 2024), with discrete soft actor-critic", MORL),
    "ipro": Entry("Iterated Pareto Referent Optimisation (Röpke et al. 2025)", MORL),
    "nlmoppo": Entry("PPO for a nonlinear utility (Röpke et al. 2025)", MORL),
    "sb3-ppo": Entry("PPO (Schulman et al. 2017), one for each of a few weightings", SB3),
    "sb3-dqn": Entry("DQN (Mnih et al. 2015), one for each of a few weightings", SB3),
}
"""The file of an algorithm is `algorithms/NAME.py` with underscores."""


def check_names(names: Iterable[str], own: Mapping[str, Algorithm]) -> None:
    """Check that all algorithms are there before anything runs.

    Raises:
        ValueError: an unknown name (near ones are named), or a package that is not installed (and how to install it).
    """
    missing: dict[str, list[str]] = {}
    for name in names:
        if name in own or (name.startswith(LLM) and len(name) > len(LLM)):
            continue
        if name not in ALGORITHMS:
            near = get_close_matches(name, [*ALGORITHMS, *own], n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}? " if near else ""
            known = ", ".join([*ALGORITHMS, *own, f"{LLM}FOLDER"])
            raise ValueError(f"--algos: no algorithm {name!r}; {hint}there are {known}")
        package = ALGORITHMS[name].package
        if package is not None and find_spec(package) is None:
            missing.setdefault(package, []).append(name)
    if missing:
        wants = "; ".join(f"{', '.join(users)} need {package}" for package, users in missing.items())
        raise ValueError(
            f'{wants}, not installed here: pip install -e ".[morl]" installs it (morl-baselines builds pycddlib from '
            "source: gcc and libgmp-dev), or leave these algorithms out of --algos"
        )


def load_algorithm(name: str, own: Mapping[str, Algorithm]) -> Algorithm:
    """The algorithm of a name that `check_names` has passed."""
    if name in own:
        return own[name]
    module: Any = import_module(f"agents.benchmarking.algorithms.{name.replace('-', '_')}")
    algorithm: Algorithm = module
    return algorithm
