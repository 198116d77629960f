"""A run's configuration: what follows from it, what is refused, and what may change on resume."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from agents_helpers import family_model

from agents.config import EngineConfig, EvaluationConfig, LearnerConfig, SamplingConfig, TrainConfig, parse_pairs
from agents.faults import Fault
from agents.presets import LAPTOP, command_line_defaults, evaluation_top_p, preset_defaults
from agents.runs.checkpoint import save_checkpoint
from agents.runs.run import complete, load_config, open_run, refuse_changes, save_config
from vpo_envs.registration import TEXT_TASKS, make_task

UNUSUAL = TrainConfig(
    env="vpo/Maze-v0",
    env_args=("size=6", "slack=5"),
    method_args=("alpha=0.5",),
    steps=30,
    num_answers=4,
    threads=1,
    sampling=SamplingConfig(max_tokens=7, temperature=0.9),
    learner=LearnerConfig(betas=(0.8, 0.9), tis_cap=None),
    evaluation=EvaluationConfig(ks=(1, 2)),
)


@pytest.mark.parametrize(
    ("method", "given", "expected"),
    [("vpo", None, 3), ("shape_grpo", None, 3), ("grpo", None, 1), ("vpo", 1, 1)]
    + [(method, None, 1) for method in ("max_at_k", "maxpo", "poly", "pass_at_k", "goal_conditioned")],
)
def test_number_of_answers_follows_from_the_method(method: str, given: int | None, expected: int) -> None:
    completed = complete(TrainConfig(method=method, num_answers=given))
    assert completed == TrainConfig(method=method, num_answers=expected)
    assert complete(completed) == completed


def learner(**changes: Any) -> dict[str, Any]:
    return {"learner": replace(LearnerConfig(), **changes)}


def sampling(**changes: Any) -> dict[str, Any]:
    return {"sampling": replace(SamplingConfig(), **changes)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "vop"}, r"no estimator 'vop': .*; did you mean 'vpo'\?"),
        ({"method_args": ("alhpa=1",)}, r"vpo has no option alhpa \(it has: num_weights, alpha, sampler\)"),
        ({"method": "grpo", "method_args": ("alpha=1",)}, r"grpo has no option alpha \(it has: none\)"),
        ({"method_args": ("alpha",)}, "--method-args takes name=value words, not 'alpha'"),
        ({"method": "grpo", "num_answers": 3}, "--method grpo trains on single answers: use --num-answers 1, not 3"),
        ({"num_answers": 0}, "--num-answers must be at least 1, not 0"),
        (sampling(temperature=float("inf")), "temperature must be at least 0 and finite, not inf"),
        (
            {"backend": "vllm", **sampling(temperature=2.5)},
            r"--sampling.temperature 2.5: vLLM samples at temperatures up to 2",
        ),
        (
            {"backend": "vllm", "evaluation": EvaluationConfig(temperature=2.5)},
            r"--evaluation.temperature 2.5: vLLM samples at temperatures up to 2",
        ),
        ({"engine": EngineConfig(max_model_len=1791)}, "--engine.max-model-len 1791 does not hold .* at least 1792"),
        ({"backend": "transformers", "engine": EngineConfig(cache_gib=3)}, "--engine options are vLLM's"),
        ({"dtype": "float32", **learner(param_dtype="bfloat16")}, "--learner.param-dtype bfloat16 needs --dtype"),
        ({"answers_per_prompt": 25}, "--answers-per-prompt 25 must be at least two rollouts of --num-answers 3 each"),
        ({"answers_per_prompt": 3}, "--answers-per-prompt 3 must be at least two rollouts of --num-answers 3 each"),
        ({"prompts": 0}, "--prompts must be at least 1, not 0"),
        ({"epochs": 0}, "--epochs must be at least 1, not 0"),
        ({"steps": 0}, "--steps must be at least 1, not 0"),
        ({"checkpoint_every": 0}, "--checkpoint-every must be at least 1, not 0"),
        (sampling(temperature=0.0), "--sampling.temperature must be above 0 in training"),
        (sampling(top_p=0.9), "--sampling.top-p 0.9 .* --learner.tis-cap None"),
        (learner(dual_clip=1.0), "--learner.dual-clip must be above 1, not 1.0"),
        (learner(lr=0.0), "--learner.lr must be above 0, not 0.0"),
        (learner(lr=float("inf")), "--learner.lr must be above 0, not inf"),
        (learner(clip_low=-1.0), "--learner.clip-low must be between 0 and 1, not -1.0"),
        (learner(clip_high=float("nan")), "--learner.clip-high must be above 0, not nan"),
        (learner(tis_cap=-1.0), "--learner.tis-cap must be above 0, or None, not -1.0"),
        (learner(kl_coef=-1.0), "--learner.kl-coef must be at least 0, not -1.0"),
        (learner(betas=(1.5, 2.0)), r"--learner.betas must be in \[0, 1\)"),
        (
            {"method": "max_at_k", "answers_per_prompt": 4},
            "max_at_k with k=4 needs groups of at least 5 rollouts and got 4",
        ),
        (
            {"method": "pass_at_k", "method_args": ("k=9",), "answers_per_prompt": 8},
            "lower k to 8 or sample more rollouts",
        ),
        ({"method": "poly", "method_args": ("k=0",)}, "poly: k must be a whole number of at least 1, not 0"),
        (
            {"method": "goal_conditioned", "prompt_alpha": 0.0},
            "--prompt-alpha must be a positive, finite number, not 0",
        ),
        ({"prompt_alpha": 0.5}, "--prompt-alpha 0.5: --method vpo writes no weights into its prompts"),
        ({"method_args": ("alpha=0",)}, "--method-args: alpha must be a positive, finite number, not 0"),
        ({"method_args": ("alpha=abc",)}, "--method-args: alpha must be a positive, finite number, not 'abc'"),
        ({"method_args": ("num_weights=2.5",)}, "--method-args: num_weights must be a whole number"),
        ({"num_answers": 4, "answers_per_prompt": 24}, "30 answers cannot be sampled as responses of 4 answers"),
        ({"threads": 0}, "--threads must be at least 1, not 0"),
        ({"keep_checkpoints": 0}, "--keep-checkpoints must be at least 1, not 0"),
        ({"seed": -1}, "--seed must be at least 0, not -1"),
        (learner(mini_batch=0), "--learner.mini-batch must be at least 1, not 0"),
        (learner(micro_batch=-1), "--learner.micro-batch must be at least 1, not -1"),
        (learner(epochs=0), "--learner.epochs must be at least 1, not 0"),
        (learner(logprob_chunk=0), "--learner.logprob-chunk must be at least 1, not 0"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        complete(replace(TrainConfig(), **changes))


def test_nucleus_sampling_is_possible_without_importance_weights() -> None:
    config = TrainConfig(sampling=SamplingConfig(top_p=0.9), learner=LearnerConfig(tis_cap=None))
    assert complete(config).sampling.top_p == 0.9


def test_a_configuration_comes_back_from_its_file(tmp_path: Path) -> None:
    save_config(UNUSUAL, tmp_path)
    assert load_config(tmp_path) == UNUSUAL


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"is not a run \(no config.json\)"),
        ("{", "config.json is not a training configuration"),
        ("[]", "config.json is not a training configuration"),
        ('{"envv": 1, "learner": {}}', r"unknown option\(s\) envv"),
        ('{"learner": {"momentum": 1}}', r"unknown option\(s\) momentum"),
    ],
)
def test_a_folder_that_is_no_run_is_refused(text: str | None, message: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "config.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        load_config(tmp_path)


def test_a_new_run_gets_its_own_folder(tmp_path: Path) -> None:
    run = open_run(replace(UNUSUAL, output=str(tmp_path)))
    assert (run.first_step, run.checkpoint) == (0, None)
    assert run.folder.parent == tmp_path
    assert run.folder.name.startswith("Maze-v0-vpo-seed0-")
    assert load_config(run.folder) == run.config


def test_runs_that_start_in_the_same_second_do_not_share_a_folder(tmp_path: Path) -> None:
    folders = {open_run(replace(UNUSUAL, output=str(tmp_path))).folder for _ in range(4)}
    assert len(folders) == 4


def started(tmp_path: Path, step: int | None = 7) -> TrainConfig:
    """A run named `first`, with a checkpoint unless `step` is None; returns the configuration that resumes it."""
    run = open_run(replace(UNUSUAL, output=str(tmp_path), name="first"))
    if step is not None:
        save_checkpoint(run.folder / "checkpoints", step, family_model("gpt2", 50), {}, keep=1)
    return replace(run.config, resume=str(run.folder))


def test_a_name_is_not_used_twice(tmp_path: Path) -> None:
    config = started(tmp_path)
    with pytest.raises(ValueError, match=r"first is a run already: go on with --resume .*first, or choose another"):
        open_run(replace(config, resume=None))


def test_a_run_goes_on_at_its_newest_checkpoint(tmp_path: Path) -> None:
    config = started(tmp_path)
    run = open_run(config)
    assert run.first_step == 7
    assert run.folder == tmp_path / "first"


def test_a_run_without_a_checkpoint_cannot_go_on(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="first has no checkpoint yet"):
        open_run(started(tmp_path, step=None))


def test_what_a_step_computes_must_not_change_on_resume(tmp_path: Path) -> None:
    config = started(tmp_path)
    changed = replace(config, seed=5, env_args=(), steps=40, learner=replace(config.learner, lr=1e-3))
    with pytest.raises(ValueError, match="first cannot be resumed with another configuration") as error:
        refuse_changes(changed)
    assert str(error.value).endswith("env_args: ('size=6', 'slack=5') -> (); seed: 0 -> 5; learner.lr: 1e-06 -> 0.001")
    assert load_config(tmp_path / "first").steps == 30


def test_a_run_cannot_be_made_shorter_than_it_is(tmp_path: Path) -> None:
    config = started(tmp_path)
    with pytest.raises(ValueError, match="first has 7 steps already; --steps 5 is less"):
        open_run(replace(config, steps=5))


def test_a_name_without_a_checkpoint_is_free_again(tmp_path: Path) -> None:
    """A run that failed before its first checkpoint cannot go on; the same command must work once it is mended."""
    config = started(tmp_path, step=None)
    assert open_run(replace(config, resume=None)).first_step == 0


def test_a_run_may_be_made_longer(tmp_path: Path) -> None:
    config = started(tmp_path)
    run = open_run(replace(config, steps=40, keep_checkpoints=9, checkpoint_every=3))
    assert run.config.steps == 40
    saved = load_config(run.folder)
    assert saved.steps == 40
    assert saved.resume is None


def test_words_become_python_values() -> None:
    words = ("size=6", "alpha=1e-1", "sampler=sobol", "data=None", "on=True", "path=a=b", "empty=", "ks=(1, 2)")
    assert parse_pairs(words, "--env-args") == {
        "size": 6,
        "alpha": 0.1,
        "sampler": "sobol",
        "data": None,
        "on": True,
        "path": "a=b",
        "empty": "",
        "ks": (1, 2),
    }


@pytest.mark.parametrize("word", ["size", "=6", "two words=1", "9lives=1"])
def test_words_that_are_no_pairs_are_refused(word: str) -> None:
    with pytest.raises(ValueError, match=f"--env-args takes name=value words, not '{word}'"):
        parse_pairs(["a=1", word], "--env-args")


def test_defaults_of_a_command_line_are_those_of_its_preset() -> None:
    laptop = command_line_defaults(["--preset", "laptop", "--seed", "3"])
    assert laptop == preset_defaults("laptop", "vpo/Maze-v0")
    assert (laptop.model, laptop.preset) == ("builtin", "laptop")
    assert "size=5" in laptop.env_args
    paper = command_line_defaults(["--env=vpo/Maze-v0", "--preset=paper"])
    assert (paper.model, paper.prompts, paper.sampling.max_tokens) == ("Qwen/Qwen3-4B", 128, 1024)
    assert (paper.learner.lr, paper.learner.mini_batch, paper.env_args) == (1e-6, 64, ())
    automatic = command_line_defaults(["--env", "other/Env-v0"])
    assert automatic.preset == ("paper" if torch.cuda.is_available() else "laptop")
    assert automatic.env == "other/Env-v0"
    for config in (laptop, paper):
        complete(config)


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(ValueError, match="--preset must be auto, laptop or paper, not 'huge'"):
        command_line_defaults(["--preset", "huge"])


def test_defaults_of_a_resumed_run_are_its_own(tmp_path: Path) -> None:
    config = started(tmp_path)
    defaults = command_line_defaults(["--resume", str(tmp_path / "first"), "--steps", "40"])
    assert defaults == config
    assert json.loads((tmp_path / "first" / "config.json").read_text())["resume"] is None
    with pytest.raises(ValueError, match="is not a run"):
        command_line_defaults(["--resume", str(tmp_path)])


@pytest.mark.parametrize("env", TEXT_TASKS)
def test_every_text_environment_has_both_presets(env: str) -> None:
    laptop, paper = preset_defaults("laptop", env), preset_defaults("paper", env)
    assert laptop.env_args == LAPTOP[env].env_args
    assert laptop.sampling.max_tokens == LAPTOP[env].max_tokens
    make_task(env, **parse_pairs(laptop.env_args, "laptop"))
    assert paper.env_args == ()
    assert paper.model.startswith("Qwen/")
    complete(laptop)
    complete(paper)


def test_the_papers_batches() -> None:
    eureqa = preset_defaults("paper", "vpo/EUREQA-v0")
    assert (eureqa.model, eureqa.prompts, eureqa.epochs) == ("Qwen/Qwen3-8B", 64, 6)
    assert (eureqa.learner.mini_batch, eureqa.learner.micro_batch) == (32, 2)
    assert (eureqa.prompt_tokens, eureqa.sampling.max_tokens) == (1024, 2048)
    assert [evaluation_top_p(env) for env in ("vpo/EUREQA-v0", "m:vpo/ToolRL-v0", "vpo/Maze-v0", "my/Own-v0")] == [
        *(0.95, 0.95, 1.0, 1.0)
    ]


def test_a_configuration_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_config(UNUSUAL, tmp_path)

    def fail_halfway(path: Path, text: str) -> None:
        with path.open("w") as file:
            file.write(text[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fail_halfway)
    with pytest.raises(Fault, match=r"the configuration could not be written .*No space left on device"):
        save_config(replace(UNUSUAL, steps=31), tmp_path)
    monkeypatch.undo()
    assert load_config(tmp_path) == UNUSUAL
    assert [path.name for path in tmp_path.iterdir()] == ["config.json"]
