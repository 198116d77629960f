"""What a run leaves while it trains: metrics, samples, and trackers that go on with the same run."""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from agents_runs import lines_of, metrics_of, tiny_run
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents.config import EvaluationConfig, TrainConfig
from agents.faults import Fault
from agents.interrupt import StopRequest
from agents.run import complete
from agents.tracking import RunLog
from agents.train_vpo import main, train

PLAIN = TrainConfig(trackers=())


@pytest.fixture
def config(policy_folder: Path, tmp_path: Path) -> TrainConfig:
    return tiny_run(policy_folder, tmp_path)


def row(step: int, text: str = "<answer>UP</answer>") -> dict[str, Any]:
    return {"step": step, "problem": 4, "response": text, "rewards": [[1.0, 0.5]], "advantage": 0.25}


def write_run(folder: Path, config: TrainConfig, first: int, last: int) -> None:
    with RunLog(folder, first, config) as log:
        for step in range(first, last):
            log.metrics(step, {"score/answer": step / 8})
            log.samples(step, [row(step), row(step, "a | b")])


def test_what_was_written_after_the_checkpoint_is_dropped_on_resume(tmp_path: Path) -> None:
    write_run(tmp_path, PLAIN, 0, 5)
    for name in ("metrics.jsonl", "samples.jsonl"):
        with (tmp_path / name).open("a") as file:
            file.write('{"step": 5, "sco')  # the machine lost power here
    with RunLog(tmp_path, 3, PLAIN) as log:
        log.metrics(3, {"score": 9.0})
        log.samples(3, [row(3)])
    assert [line["step"] for line in lines_of(tmp_path / "metrics.jsonl")] == [0, 1, 2, 3]
    assert [line["step"] for line in lines_of(tmp_path / "samples.jsonl")] == [0, 0, 1, 1, 2, 2, 3]
    assert lines_of(tmp_path / "metrics.jsonl")[-1] == {"step": 3, "score": 9.0}


def test_a_number_that_is_not_one_is_not_written(tmp_path: Path) -> None:
    with RunLog(tmp_path, 0, PLAIN) as log, pytest.raises(ValueError, match="JSON"):
        log.metrics(0, {"score": float("nan")})


def test_metrics_that_cannot_be_written_are_a_fault(tmp_path: Path) -> None:
    with RunLog(tmp_path, 0, PLAIN) as log:
        log._metrics._file.close()
        log._metrics._file = open("/dev/full", "w")  # noqa: SIM115 - the log closes it
        with pytest.raises(Fault, match=r"the metrics of step 7 could not be written \(.*No space left on device; "):
            log.metrics(7, {"score": 1.0})
        log._metrics._file = open(os.devnull, "w")  # noqa: SIM115


def test_tensorboard_shows_metrics_and_samples_and_goes_on(tmp_path: Path) -> None:
    config = TrainConfig(trackers=("tensorboard",))
    write_run(tmp_path, config, 0, 5)
    write_run(tmp_path, config, 3, 6)
    board = EventAccumulator(str(tmp_path / "tensorboard"), size_guidance={"tensors": 0}).Reload()
    assert [(e.step, e.value) for e in board.Scalars("score/answer")] == [(i, i / 8) for i in range(6)]
    texts = board.Tensors("samples/text_summary")
    assert sorted({e.step for e in texts}) == list(range(6))  # TensorBoard itself purges scalars only
    table = texts[-1].tensor_proto.string_val[0].decode().splitlines()
    assert table[0] == "| step | problem | response | rewards | advantage |"
    assert table[2] == "| 5 | 4 | &lt;answer&gt;UP&lt;/answer&gt; | [[1.0, 0.5]] | 0.25 |"
    assert table[3] == "| 5 | 4 | a &#124; b | [[1.0, 0.5]] | 0.25 |"


@pytest.mark.skipif(find_spec("wandb") is None, reason="W&B is not installed")
def test_wandb_goes_on_with_the_same_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    config = TrainConfig(trackers=("wandb",), project="mazes")
    write_run(tmp_path, config, 0, 3)
    write_run(tmp_path, config, 2, 4)
    runs = [path.name.rpartition("-")[2] for path in (tmp_path / "wandb").glob("offline-run-*")]
    assert runs == [(tmp_path / "run_id").read_text()] * 2
    tables = list((tmp_path / "wandb").glob("offline-run-*/files/media/table/samples_*.table.json"))
    assert len(tables) == 5
    assert json.loads(tables[0].read_text())["columns"] == ["step", "problem", "response", "rewards", "advantage"]


@pytest.mark.skipif(find_spec("trackio") is None, reason="trackio is not installed")
def test_trackio_goes_on_with_the_same_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    import trackio

    config = TrainConfig(trackers=("trackio",), project="mazes")
    folder = tmp_path / "run"
    folder.mkdir()
    write_run(folder, config, 0, 3)
    write_run(folder, config, 2, 4)
    (run,) = trackio.Api().runs("mazes")
    assert run.name == f"run-{(folder / 'run_id').read_text()[:8]}"
    assert (tmp_path / "trackio").is_dir()


def test_a_missing_tracker_is_one_error_before_the_run_begins(
    policy_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("agents.config_checks.find_spec", lambda name: None if name == "wandb" else name)
    arguments = ["--preset", "laptop", "--output", str(tmp_path), "--trackers", "tensorboard", "wandb"]
    monkeypatch.setattr(sys, "argv", ["train_vpo.py", *arguments])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code == 2
    assert "error: --trackers tensorboard wandb: not installed: wandb" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trackers": ("tensorboard", "tensorboard")}, "--trackers tensorboard tensorboard names one twice"),
        ({"trackers": ("mlflow",)}, "--trackers: unknown mlflow; there are: tensorboard, wandb, trackio"),
        ({"samples_every": 0}, "--samples-every must be at least 1, not 0"),
        ({"samples_prompts": 0}, "--samples-prompts must be at least 1, not 0"),
        ({"evaluate_every": -1}, "--evaluate-every must be at least 1, not -1"),
        ({"evaluate_problems": 0}, "--evaluate-problems must be at least 1, not 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        complete(replace(TrainConfig(), **changes))


def test_an_evaluation_on_the_way_changes_nothing_else(config: TrainConfig) -> None:
    plain = train(replace(config, name="plain", samples_every=None))
    assert lines_of(plain / "samples.jsonl") == []
    evaluation = EvaluationConfig(problems=50, answers=6, ks=(1, 3), weights=16)
    config = replace(config, evaluate_every=2, evaluate_problems=3, evaluation=evaluation)
    watched = train(replace(config, name="watched"))
    assert metrics_of(watched, without="evaluation/") == metrics_of(plain)
    evaluated = [{n for n in line if n.startswith("evaluation/")} for line in metrics_of(watched)]
    assert [bool(names) for names in evaluated] == [True, False, True, False]
    assert {"evaluation/best@3", "evaluation/ew_best_of_set", "evaluation/objective/completion"} <= evaluated[0]
    # A resumed run evaluates at the same steps and finds the same.
    part = train(replace(config, name="part", steps=1))
    train(replace(config, name=None, resume=str(part)))
    assert metrics_of(part) == metrics_of(watched)


def test_the_first_interrupt_asks_and_the_second_insists() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with StopRequest() as stop:
        assert stop.requested is None
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.requested is signal.SIGINT
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_repeated_sigterm_does_not_insist() -> None:
    with StopRequest() as stop:
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGTERM)
        assert stop.requested is signal.SIGTERM
