"""Training in two processes, DDP and FSDP: the same run as in one, resuming, stopping, and accelerate as launcher."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from agents_helpers import two_processes
from processes_train_worker import config_of, on_mazes
from safetensors.torch import load_file

from agents.config import TrainConfig
from agents.policy import load_policy
from agents.processes import Processes
from agents.runs.checkpoint import latest_checkpoint
from agents.runs.run import load_config
from agents.train_vpo import train

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def runs(policy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs of two processes (`processes_train_worker`), and "alone", the same run by one."""
    output = tmp_path_factory.mktemp("runs")
    printed = two_processes("processes_train_worker.py", str(policy_folder), str(output))
    (output / "printed").write_text(printed)
    config = config_of(str(policy_folder), str(output))
    train(replace(config, name="alone"))
    for method in ("vpo_shapley", "goal_conditioned"):
        train(replace(on_mazes(config, method), name=f"alone-{method}"))
    return output


def metrics(folder: Path) -> list[dict[str, float]]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if not name.startswith("time/")} for line in lines]


def weights(folder: Path) -> list[torch.Tensor]:
    policy = load_policy(str(folder), torch.device("cpu"), torch.float32)
    return [p.detach() for p in policy.model.parameters()]


def assert_same_run(folder: Path, other: Path) -> None:
    """The same responses and rewards, and metrics and weights to 1e-5.

    Some weights have no gradient but rounding (attention ignores a bias of the keys), which Adam scales up to the
    learning rate: that is 1e-5 as well here. In double precision `test_agents_processes` shows agreement to rounding.
    """
    samples = [[json.loads(line) for line in (f / "samples.jsonl").read_text().splitlines()] for f in (folder, other)]
    for ours, theirs in zip(*samples, strict=True):
        assert ours.pop("advantage") == pytest.approx(theirs.pop("advantage"), abs=1e-5)
        assert ours == theirs
    for ours, theirs in zip(metrics(folder), metrics(other), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-5)
    for a, b in zip(weights(folder / "final"), weights(other / "final"), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-5)


@pytest.mark.parametrize("method", ["vpo_shapley", "goal_conditioned"])
def test_credit_for_tokens_and_weights_in_prompts_are_those_of_one_process(runs: Path, method: str) -> None:
    assert_same_run(runs / f"ddp-{method}", runs / f"alone-{method}")


@pytest.mark.parametrize("kind", ["ddp", "fsdp"])
def test_two_processes_train_like_one(runs: Path, kind: str) -> None:
    assert_same_run(runs / f"{kind}-whole", runs / "alone")
    assert len(metrics(runs / "alone")) == 4
    assert all(line["group/zero_advantage"] < 1 for line in metrics(runs / "alone"))


@pytest.mark.parametrize("kind", ["ddp", "fsdp"])
def test_a_resumed_run_repeats_the_uninterrupted_one(runs: Path, kind: str) -> None:
    assert metrics(runs / f"{kind}-part") == metrics(runs / f"{kind}-whole")
    for a, b in zip(weights(runs / f"{kind}-part" / "final"), weights(runs / f"{kind}-whole" / "final"), strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("kind", ["ddp", "fsdp"])
def test_one_process_goes_on_where_two_stopped(runs: Path, kind: str, policy_folder: Path) -> None:
    """Checkpoints hold whole tensors: the number of processes may change, and only rounding differs."""
    folder = runs / f"{kind}-part"
    longer = replace(config_of(str(policy_folder), str(runs)), resume=str(folder), steps=5)
    train(longer)
    train(replace(longer, resume=str(runs / f"{kind}-whole")))
    assert len(metrics(folder)) == 5
    assert metrics(folder) == metrics(runs / f"{kind}-whole")


@pytest.mark.parametrize("kind", ["ddp", "fsdp"])
def test_an_adapter_is_saved_whole(runs: Path, kind: str) -> None:
    adapter = load_file(runs / f"{kind}-lora" / "final" / "adapter_model.safetensors")
    changes = [tensor for name, tensor in adapter.items() if "lora_B" in name]
    assert changes
    assert all(bool(tensor.any()) for tensor in changes), "B starts at zero"


def test_a_signal_to_one_process_stops_all_after_the_step(runs: Path) -> None:
    folder = runs / "terminated"
    checkpoint = latest_checkpoint(folder / "checkpoints")
    assert checkpoint is not None
    assert checkpoint.step == 2
    assert metrics(folder) == metrics(runs / "ddp-whole")[:2]
    assert (runs / "printed").read_text().count("SIGTERM: stopped after step 2; go on with --resume") == 1


@pytest.mark.parametrize(
    ("launcher", "method"),
    [
        (("--multi_gpu", "--num_processes", "2"), "grpo"),
        (("--config_file", str(ROOT / "configs" / "fsdp.yaml")), "multi_rlvr"),
    ],
    ids=["ddp", "fsdp"],
)
def test_accelerate_launches_it(launcher: tuple[str, ...], method: str, tmp_path: Path) -> None:
    """The built-in policy for two steps; single answers, and sets of answers."""
    words = [sys.executable, "-m", "accelerate.commands.launch", *launcher, str(ROOT / "agents" / "train_vpo.py")]
    words += ["--preset", "laptop", "--device", "cpu", "--method", method, "--output", str(tmp_path), "--name", "two"]
    words += [
        "--steps",
        "2",
        "--prompts",
        "2",
        "--answers-per-prompt",
        "6",
        "--sampling.max-tokens",
        "24",
        "--trackers",
    ]
    words += ["--learner.lr", "1e-5", "--samples-every", "1", "--no-final-evaluation"]
    two = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert two.returncode == 0, two.stderr
    train(replace(load_config(tmp_path / "two"), name="alone"))
    assert_same_run(tmp_path / "two", tmp_path / "alone")


def test_too_few_prompts_for_the_processes_is_one_error(policy_folder: Path, tmp_path: Path) -> None:
    config: TrainConfig = replace(config_of(str(policy_folder), str(tmp_path)), prompts=1)
    with pytest.raises(ValueError, match="2 processes need a prompt each: raise --prompts 1"):
        train(config, Processes(rank=1, count=2))
    assert list(tmp_path.iterdir()) == []
