"""What is known about a model before it is loaded: what it was trained on, from the files beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agents.config import TrainConfig
from agents.presets import LAPTOP, Laptop, preset_defaults
from agents.run import complete, load_config

BUILTIN = "builtin"
FINAL = "final"


@dataclass(frozen=True)
class Candidate:
    """A model to evaluate."""

    source: str
    """Folder, hub id or "builtin"."""
    name: str
    """Short name."""
    env: str | None
    """Environment id, None where nothing is saved."""
    env_args: tuple[str, ...]
    num_answers: int | None
    max_tokens: int
    prompt_tokens: int
    method: str | None = None
    """What trained it, None where that is not known."""


def find_candidate(source: str, env: str | None = None) -> Candidate:
    """Read what is saved with a model; `env` is the environment that was asked for, whose defaults the others take.

    A run's folder stands for its final model; a model inside a run (`final`, a checkpoint) takes the run's options; a
    policy made by the warm start takes its recipe's environment. Other models have the defaults of the command line.

    Raises:
        ValueError: files beside the model that are not what they should be, or a run that has no final model yet.
    """
    folder, default_env = Path(source), env or TrainConfig.env
    if source == BUILTIN or not folder.is_dir():
        defaults = preset_defaults("laptop" if source == BUILTIN else "auto", default_env)
        return _candidate(source, Path(source).name, None, defaults, None)
    if _is_run(folder):
        if not (folder / FINAL).is_dir():
            raise ValueError(f"{source} has no final model yet; name one of its checkpoints, or go on with --resume")
        folder = folder / FINAL
        source = str(folder)
    for run in list(folder.resolve().parents)[:2]:  # runs/x/final, runs/x/checkpoints/step-000100
        if _is_run(run):
            config = load_config(run)
            name = run.name if folder.name == FINAL else f"{run.name}/{folder.name}"
            found = _candidate(source, name, config.env, config, complete(config).num_answers)
            return replace(found, method=config.method)
    recipe = folder / "recipe.json"
    if recipe.is_file():
        saved = _read(recipe)
        if not isinstance(saved.get("env"), str) or not isinstance(saved.get("env_args"), list):
            raise ValueError(f"{recipe} does not name an environment and its arguments (env, env_args)")
        config = preset_defaults("laptop", saved["env"])
        config.env_args = tuple(saved["env_args"])
        return _candidate(source, folder.resolve().name, saved["env"], config, None)
    return _candidate(source, folder.resolve().name, None, preset_defaults("auto", default_env), None)


def common_environment(
    candidates: Sequence[Candidate], env: str | None, env_args: tuple[str, ...] | None
) -> tuple[str, tuple[str, ...]]:
    """The environment that the models are evaluated on, and its arguments: what was asked for, else what they share.

    Raises:
        ValueError: the models were trained on different ones and none was asked for.
    """
    known = [c for c in candidates if c.env is not None]
    if env is None:
        ids = sorted({c.env for c in known if c.env is not None})
        if len(ids) > 1:
            raise ValueError(
                f"the models were trained on different environments, choose one with --env: {', '.join(ids)}"
            )
        env = ids[0] if ids else TrainConfig.env
    if env_args is not None:
        return env, env_args
    sharing = sorted({c.env_args for c in known if c.env == env})
    if len(sharing) > 1:
        options = "; ".join(" ".join(args) or "(none)" for args in sharing)
        raise ValueError(
            f"the models were trained with different arguments of {env}, choose with --env-args: {options}"
        )
    if sharing:
        return env, sharing[0]
    # The built-in policy only knows the small problems of the laptop preset.
    return env, LAPTOP.get(env, Laptop()).env_args if any(c.source == BUILTIN for c in candidates) else ()


def _candidate(source: str, name: str, env: str | None, config: TrainConfig, num_answers: int | None) -> Candidate:
    return Candidate(
        source, name, env, tuple(config.env_args), num_answers, config.sampling.max_tokens, config.prompt_tokens
    )


def _is_run(folder: Path) -> bool:
    """Whether a folder's `config.json` is a training configuration and not a model's."""
    path = folder / "config.json"
    return path.is_file() and {"env", "method"} <= _read(path).keys()


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    return data if isinstance(data, dict) else {}
