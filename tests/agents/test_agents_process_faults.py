"""What happens to a run when the machine fails: the disk fills up, the node is taken, a worker or the engine dies."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from agents_runs import checkpoints_of, lines_of, metrics_of, tiny_run

from agents import train_vpo, training_loop
from agents.config import SamplingConfig, TrainConfig
from agents.faults import Fault
from agents.generation import EngineError, TransformersGenerator
from agents.presets import LAPTOP
from agents.train_vpo import main, train
from vpo_envs.code.sandbox.batch import Batch

ROOT = Path(__file__).resolve().parents[2]
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]


@pytest.fixture(autouse=True, scope="module")
def no_picture() -> Iterator[None]:
    """The learning curves would take longer than the four steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train_vpo, "plot_training", lambda *paths: None)
        yield


@pytest.fixture
def config(policy_folder: Path, tmp_path: Path) -> TrainConfig:
    return tiny_run(policy_folder, tmp_path)


@pytest.fixture(scope="module")
def undisturbed(policy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, float]]:
    """What the four steps measure when nothing fails."""
    return metrics_of(train(tiny_run(policy_folder, tmp_path_factory.mktemp("undisturbed"))))


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Writes fail beyond this size of a file, as they do when a quota is used up."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("largest", [50_000, 300_000])
def test_a_checkpoint_that_cannot_be_written_leaves_the_last_whole_one(
    config: TrainConfig, undisturbed: list[dict[str, float]], largest: int
) -> None:
    """It fails at the weights (50 kB) and at the optimizer's state, which is twice their size."""
    folder = train(replace(config, steps=2))
    weights = (folder / "checkpoints" / "step-000002" / "model.safetensors").stat().st_size
    assert 50_000 < weights < 300_000 < 2 * weights
    with files_of_at_most(largest), pytest.raises(Fault) as fault:
        train(replace(config, resume=str(folder), name=None))
    message = str(fault.value)
    assert message.startswith("the checkpoint of step 3 could not be written (")
    assert "MB free in" in message
    assert message.endswith(f"then go on with --resume {folder} if it has a checkpoint")
    assert checkpoints_of(folder) == ["step-000001", "step-000002"]
    train(replace(config, resume=str(folder), name=None))
    assert metrics_of(folder) == undisturbed


def can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run([*UNSHARE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False)
    return tried.returncode == 0


@pytest.mark.skipif(not can_mount(), reason="a file system of its own needs user namespaces")
def test_a_full_disk_ends_the_run_with_one_line(policy_folder: Path, tmp_path: Path) -> None:
    """A real file system of 1 MB, which two checkpoints of half a megabyte fill."""
    script = (
        'mount -t tmpfs -o size=1m tmpfs "$1"; "$2" "$3/agents/train_vpo.py" --preset laptop --model "$4" '
        '--output "$1" --name run --prompts 2 --answers-per-prompt 6 --sampling.max-tokens 8 --learner.mini-batch 2 '
        "--env-args size=5 slack=4 num_problems=50 --steps 9 --checkpoint-every 1 --threads 1 --trackers; "
        'echo "code $?"; ls -A "$1/run/checkpoints"; wc -l < "$1/run/metrics.jsonl"'
    )
    arguments = [str(tmp_path), sys.executable, str(ROOT), str(policy_folder)]
    done = subprocess.run(
        [*UNSHARE, "sh", "-c", script, "sh", *arguments], capture_output=True, text=True, check=False, timeout=120
    )
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, done.stderr
    assert "could not be written" in errors[0]
    code, *kept, steps = done.stdout.split("\n")[:-1]
    assert code == "code 1"
    assert kept == [f"step-{int(steps) - 1:06d}"]  # and nothing half-written


def during(step: int, act: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Act while the rollouts of a step are collected."""
    calls = iter(range(100))
    collect = training_loop.collect

    def disturbed(*arguments: Any, **options: Any) -> Any:
        if next(calls) == step:
            act()
        return collect(*arguments, **options)

    monkeypatch.setattr(training_loop, "collect", disturbed)


@pytest.mark.parametrize(("blow", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_stops_between_two_steps_with_a_checkpoint(
    config: TrainConfig,
    undisturbed: list[dict[str, float]],
    blow: signal.Signals,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    config = replace(config, checkpoint_every=100)
    with monkeypatch.context() as patch:
        during(1, lambda: os.kill(os.getpid(), blow), patch)
        with pytest.raises(SystemExit) as exit_:
            train(config)
    assert exit_.value.code == code
    folder = Path(config.output) / "run"
    errors = capfd.readouterr().err
    assert f"{blow.name}: stopping after this step" in errors
    assert f"{blow.name}: stopped after step 2; go on with --resume {folder}" in errors
    assert checkpoints_of(folder) == ["step-000002"]
    train(replace(config, resume=str(folder), name=None))
    assert metrics_of(folder) == undisturbed


def test_the_command_line_ends_with_0_after_sigterm(
    config: TrainConfig, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    during(0, lambda: os.kill(os.getpid(), signal.SIGTERM), monkeypatch)
    monkeypatch.setattr(train_vpo, "command_line_defaults", lambda arguments: config)
    monkeypatch.setattr(sys, "argv", ["train_vpo.py"])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code == 0
    assert checkpoints_of(tmp_path / "run") == ["step-000001"]


def test_an_engine_that_dies_of_the_same_signal_is_no_fault(
    config: TrainConfig, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A scheduler signals every process of a job, an engine in a process of its own among them."""

    def both_die() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        raise EngineError("the engine's process ended")

    during(2, both_die, monkeypatch)
    with pytest.raises(SystemExit) as exit_:
        train(config)
    assert exit_.value.code == 0
    assert "SIGTERM: stopped after step 2; go on with" in capfd.readouterr().err
    assert checkpoints_of(Path(config.output) / "run") == ["step-000001", "step-000002"]


class Engine(TransformersGenerator):
    """A real engine that fails at its n-th call."""

    fails_at = 2
    calls = 0

    def stream(self, *arguments: Any) -> Any:
        Engine.calls += 1
        stream = super().stream(*arguments)
        if Engine.calls == Engine.fails_at + 1:
            yield next(stream)
            raise EngineError("a kernel was given an illegal address")
        yield from stream


@pytest.mark.parametrize("fails_at", [0, 2])
def test_an_engine_that_crashes_leaves_a_checkpoint_of_the_last_step(
    config: TrainConfig,
    undisturbed: list[dict[str, float]],
    fails_at: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = replace(config, checkpoint_every=100)
    folder = Path(config.output) / "run"

    def make(policy: Any, *_: Any) -> Engine:
        return Engine(policy.model, policy.end_ids, policy.tokenizer.pad_token_id)

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "calls", 0)
        patch.setattr(Engine, "fails_at", fails_at)
        patch.setattr(train_vpo, "make_generator", make)
        patch.setattr(train_vpo, "command_line_defaults", lambda arguments: config)
        patch.setattr(sys, "argv", ["train_vpo.py"])
        with pytest.raises(SystemExit) as exit_:
            main()
    assert exit_.value.code == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert f"the engine failed in step {fails_at}: a kernel was given an illegal address" in errors[0]
    assert f"--resume {folder}" in errors[0]
    assert checkpoints_of(folder) == [f"step-{fails_at:06d}"]
    train(replace(config, resume=str(folder), name=None))
    assert metrics_of(folder) == undisturbed


def test_a_scoring_worker_that_dies_changes_no_reward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fork server of the sandbox is killed while it runs a program of the step."""
    small = LAPTOP["vpo/Code-v0"]
    config = replace(
        tiny_run(Path("builtin"), tmp_path, env="vpo/Code-v0", env_args=(*small.env_args[:1], "num_problems=40")),
        steps=1,
        prompts=1,
        sampling=SamplingConfig(max_tokens=small.max_tokens),
    )
    calm = train(replace(config, name="calm"))
    killed: list[int] = []
    begin = Batch._begin

    def begin_and_kill(self: Batch, worker: Any, run: Any) -> None:
        begin(self, worker, run)
        if len(killed) < 2:
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)

    monkeypatch.setattr(Batch, "_begin", begin_and_kill)
    disturbed = train(replace(config, name="disturbed"))
    assert len(killed) == 2
    assert metrics_of(disturbed) == metrics_of(calm)
    rewards = [row["rewards"] for row in lines_of(disturbed / "samples.jsonl")]
    assert rewards == [row["rewards"] for row in lines_of(calm / "samples.jsonl")]
    assert any(sum(answer) > 0 for row in rewards for answer in row)  # programs ran and passed tests
