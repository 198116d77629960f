"""The words that name methods, the configurations that follow from them, and the order of the runs."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from agents.compare import main
from agents.config import Preset, parse_pairs
from agents.policy import builtin_folder
from agents.presets import preset_defaults
from agents.study.config import STUDIES, CompareConfig, compare_defaults, study_defaults
from agents.study.methods import Method, parse_method, parse_methods, training_config
from agents.study.plan import plan

CONFIG = CompareConfig(name="test", steps=5)


@pytest.mark.parametrize(
    ("word", "method"),
    [
        ("vpo", Method("vpo", "vpo")),
        ("vpo:num_weights=1", Method("vpo:num_weights=1", "vpo", ("num_weights=1",))),
        (
            "steep=vpo:alpha=0.3,num_answers=6,learner.lr=1e-4",
            Method("steep", "vpo", ("alpha=0.3",), ("num_answers=6", "learner.lr=1e-4")),
        ),
        (
            "grpo:learner.betas=(0.8, 0.9),learner.lr=1e-4",
            Method("grpo:learner.betas=(0.8, 0.9),learner.lr=1e-4", "grpo", (), ("learner.betas=(0.8, 0.9)",
                                                                                "learner.lr=1e-4")),
        ),
        ("sets before=warm_start:num_answers=3", Method("sets before", "warm_start", (), ("num_answers=3",))),
    ],
)  # fmt: skip
def test_words(word: str, method: Method) -> None:
    assert parse_method(word) == method


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["vop"], r"no estimator 'vop'.*did you mean 'vpo'"),
        (["grpo:alpha=1"], r"grpo:alpha=1: alpha cannot be set for grpo alone"),
        (["vpo:prompts=3"], "prompts cannot be set for vpo alone"),
        (["warm_start:prompt_alpha=3"], "prompt_alpha cannot be set for warm_start alone"),
        (["vpo:learner.mini_batch=3"], "learner.mini_batch cannot be set for vpo alone"),
        (["vpo:sampling.max_tokens=3"], "sampling.max_tokens cannot be set for vpo alone"),
        (["vpo:learner.momentum=3"], "learner.momentum cannot be set for vpo alone"),
        (["warm_start:learner.lr=3"], "learner.lr cannot be set for warm_start alone"),
        (["=vpo"], "the label is empty"),
        ([], "at least one method"),
        (["vpo", "vpo"], "vpo twice; give each a label of its own"),
        (["a b=vpo", "a-b=grpo"], "a-b twice"),
    ],
)
def test_words_that_are_refused(words: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_methods(words)


def test_a_method_changes_its_own_options_only() -> None:
    method = parse_method("vpo:num_weights=4,learner.lr=1e-4,learner.tis_cap=None,num_answers=6")
    run = training_config(CONFIG, method, seed=7)
    assert (run.method, run.method_args, run.num_answers, run.seed) == ("vpo", ("num_weights=4",), 6, 7)
    assert (run.learner.lr, run.learner.tis_cap) == (1e-4, None)
    plain = training_config(CONFIG, parse_method("vpo"), seed=7)
    assert replace(run, method_args=(), num_answers=3, learner=plain.learner) == plain
    assert plain.learner == CONFIG.learner


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("vpo:learner.lr=fast", "learner.lr must be a number, not 'fast'"),
        ("vpo:learner.lr=None", "learner.lr cannot be None"),
        ("low=vpo:learner.lr=-1", "low: --learner.lr must be above 0, not -1"),
        ("vpo:alpha=0", "vpo:alpha=0: --method-args: alpha must be a positive"),
        ("vpo:prompt_alpha=3", "--prompt-alpha 3: --method vpo writes no weights into its prompts"),
        ("grpo:num_answers=3", "trains on single answers"),
        ("vpo:num_answers=4", "30 answers cannot be sampled as responses of 4 answers"),
    ],
)
def test_values_that_are_refused(word: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        training_config(CONFIG, parse_method(word), seed=0)


def test_seed_by_seed_and_the_same_budget_for_all() -> None:
    words = ("warm_start", "warm_start:num_answers=3", "grpo", "vpo", "best_of_set")
    runs = plan(replace(CONFIG, methods=words, seeds=(3, 1)))
    assert [(r.method.name, r.seed, r.num_answers) for r in runs] == [
        ("warm_start", None, 1),
        ("warm_start", None, 3),
        *(("grpo", 3, 1), ("vpo", 3, 3), ("best_of_set", 3, 3)),
        *(("grpo", 1, 1), ("vpo", 1, 3), ("best_of_set", 1, 3)),
    ]
    assert len({run.folder for run in runs}) == len(runs)
    budgets = {
        (r.config.steps, r.config.prompts, r.config.answers_per_prompt, r.config.learner.mini_batch) for r in runs
    }
    assert len(budgets) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": ()}, "--seeds must be different numbers of at least 0"),
        ({"seeds": (1, 1)}, "--seeds must be different numbers"),
        ({"steps": None}, "a comparison needs --steps"),
        ({"name": "a/b"}, "--name must be the name of a folder"),
        ({"baseline": "gdpo"}, "--baseline gdpo is not the label of a method: warm_start, grpo, vpo"),
        ({"candidate": "gdpo"}, "--candidate gdpo is not the label of a method"),
        ({"seed": 3}, "a comparison has --methods and --seeds"),
        ({"method": "grpo"}, "a comparison has --methods and --seeds"),
    ],
)
def test_options_that_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan(replace(CONFIG, **changes))


@pytest.mark.parametrize(("place", "study"), [(place, name) for place, names in STUDIES.items() for name in names])
def test_the_studies(place: tuple[Preset, str], study: str) -> None:
    preset, env = place
    config = compare_defaults(["--preset", preset, "--env", env, "--study", study])
    assert config == study_defaults(preset_defaults(preset, env), study)
    assert (config.name, config.final_evaluation) == (preset if study == "main" else study, False)
    methods = parse_methods(config.methods)
    assert {"vpo", "warm_start"} <= {method.name for method in methods}
    assert {config.baseline, config.candidate} <= {None, *(method.label for method in methods)}
    trained = [run for run in plan(config) if run.method.trains]
    assert len(trained) == len(config.seeds) * sum(method.trains for method in methods)
    assert builtin_folder(env, parse_pairs(config.env_args, "--env-args")).is_dir()


def test_studies_that_share_runs_agree_about_them() -> None:
    """What one has run, the other takes: the same folder for a label and seed only with the same options."""
    for (preset, env), studies in STUDIES.items():
        seen: dict[str, object] = {}
        for study in studies:
            for run in plan(study_defaults(preset_defaults(preset, env), study)):  # type: ignore[arg-type]
                assert seen.setdefault(str(run.folder), (run.config, run.evaluation)) == (run.config, run.evaluation)


def test_runs_of_another_comparison() -> None:
    own = plan(replace(CONFIG, methods=("vpo",), seeds=(3,)))
    assert [str(run.folder) for run in own] == ["runs/Maze-v0/test/vpo-seed3"]
    shared = plan(replace(CONFIG, methods=("vpo",), seeds=(3,), name="other", runs_of="test"))
    assert [run.folder for run in shared] == [run.folder for run in own]
    with pytest.raises(ValueError, match="--runs-of must be the name of a folder, not 'a/b'"):
        plan(replace(CONFIG, runs_of="a/b"))


def test_environments_without_a_study_compare_the_usual_methods() -> None:
    config = compare_defaults(["--preset", "laptop", "--env", "vpo/MuSiQue-v0"])
    assert config.methods == CompareConfig().methods
    assert config.learner == preset_defaults("laptop", "vpo/MuSiQue-v0").learner
    with pytest.raises(ValueError, match="repeat the command without --resume"):
        compare_defaults(["--resume", "runs/x"])
    with pytest.raises(ValueError, match="--study sweeps: vpo/ToolRL-v0 has no such study with --preset laptop"):
        compare_defaults(["--preset", "laptop", "--env", "vpo/ToolRL-v0", "--study", "sweeps"])


def test_the_plan_on_the_command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--preset", "laptop", "--methods", "warm_start", "vpo", "--seeds", "4", "--name", "never-run", "--dry-run"]
    monkeypatch.setattr(sys, "argv", ["compare.py", *words])
    main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:5] == ["2", "vpo,", "seed", "4", "m=3"]
    assert lines[-1] == "left: unknown, for nothing like it has been run yet"
    monkeypatch.setattr(sys, "argv", ["compare.py", "--method", "vpo"])
    with pytest.raises(SystemExit):
        main()
