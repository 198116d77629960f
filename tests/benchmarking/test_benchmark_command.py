"""From options to files: results, going on, failures that leave the others alone, and mistakes that stop everything."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from benchmark_helpers import MAZE, Fixed, Walker, config

from agents.benchmark import benchmark, main
from agents.benchmarking import registry
from agents.benchmarking.config import STUDIES, arena_of, benchmark_defaults, study_config
from agents.benchmarking.contract import Unsuitable
from agents.benchmarking.registry import ALGORITHMS, check_names

ROUTES = [Fixed([3, 1]), Fixed([1, 3])]


class Broken:
    OBSERVATION = "any"

    def __init__(self, error):
        self.error = error

    def train(self, setting):
        raise self.error


def test_files(tmp_path):
    mine = Walker(ROUTES, steps=50)
    result = benchmark(config(tmp_path, algos=("random,random-search", "mine"), seeds=(0, 1)), {"mine": mine})
    folder = tmp_path / "results/MazeGrid-v0/benchmark"
    assert (folder / "table.md").read_text() == result.document
    assert (folder / "front.png").stat().st_size > 5000
    saved = json.loads((folder / "benchmark.json").read_text())
    assert list(saved["algorithms"]) == ["random", "random-search", "mine"]
    assert [run["steps"] for run in saved["algorithms"]["mine"]["seeds"]] == [50, 50]
    assert [run["steps"] for run in saved["algorithms"]["random-search"]["seeds"]] == [200, 200]
    assert saved["exact_front"]["front_found"] == 1.0
    assert saved["exact_front"]["cardinality"] == len(result.arena.fronts[0])
    rows = list(csv.DictReader((folder / "per_problem.csv").open()))
    assert len(rows) == 3 * 2 * 1
    for name in ("hypervolume", "eum"):
        of_mine = [float(row[name]) for row in rows if row["algorithm"] == "mine"]
        assert np.mean(of_mine) == pytest.approx(saved["algorithms"]["mine"]["indicators"][name]["value"], abs=1e-6)
    assert "| mine |" in result.table
    assert "| exact front |" in result.table


def test_it_goes_on_where_it_was_stopped(tmp_path):
    mine = Walker(ROUTES, steps=5)
    first = benchmark(config(tmp_path, algos=("mine",)), {"mine": mine})
    again = benchmark(config(tmp_path, algos=("mine",), seeds=(0, 1)), {"mine": mine})
    assert mine.trained == 2  # seed 0 once, seed 1 once
    assert np.array_equal(again.outcomes["mine"][0].vectors, first.outcomes["mine"][0].vectors)
    with pytest.raises(ValueError, match=r"mine-seed0.json was made with other options \(steps: 200 -> 300\)"):
        benchmark(config(tmp_path, algos=("mine",), steps=300), {"mine": mine})
    assert mine.trained == 2
    (tmp_path / "runs/MazeGrid-v0/benchmark/mine-seed0.json").write_text("{")
    with pytest.raises(ValueError, match="is no result of a benchmark"):
        benchmark(config(tmp_path, algos=("mine",)), {"mine": mine})


def test_a_failure_leaves_the_others_alone(tmp_path):
    own = {
        "broken": Broken(RuntimeError("out of luck")),
        "unsuitable": Broken(Unsuitable("wants colours")),
        "greedy": Walker(ROUTES, steps=1000),
        "empty": Walker([]),
        "many": Walker(ROUTES * 3),
        "table": Walker(ROUTES, observation="table"),
    }
    result = benchmark(config(tmp_path, algos=(*own, "random"), problem=None, eval_problems=2), own)
    assert list(result.outcomes) == ["random"]
    notes = result.notes
    assert notes["broken"] == "failed with seed 0: RuntimeError: out of luck"
    assert notes["unsuitable"] == "cannot run here: wants colours"
    assert "took more than its 200 steps" in notes["greedy"]
    assert "returned 0 policies, not 1 to 4" in notes["empty"]
    assert "returned 6 policies" in notes["many"]
    assert "fix one with --problem 0" in notes["table"]
    assert "* broken: failed with seed 0" in result.document
    log = tmp_path / "runs/MazeGrid-v0/benchmark/broken-seed0.error.txt"
    assert "out of luck" in log.read_text()


def test_training_sees_the_training_split_only(tmp_path):
    mine = Walker(ROUTES, steps=150)
    result = benchmark(config(tmp_path, algos=("mine",), problem=None, eval_problems=3), {"mine": mine})
    assert len({problem for _, problem in mine.seen}) > 5
    assert result.arena.split == "test"
    assert result.outcomes["mine"][0].vectors.shape == (3, 2, 4)


def test_seed_and_weights(tmp_path):
    settings = []

    class Asking(Walker):
        def train(self, setting):
            settings.append(setting)
            return super().train(setting)

    asking = Asking(ROUTES)
    asking.DEFAULTS = {"lr": 1.0, "layers": 2}
    options = {"algos": ("asking",), "seeds": (5, 6), "gamma": 0.9, "algo_args": ("asking.lr=0.5",)}
    benchmark(config(tmp_path, **options), {"asking": asking})
    assert [(s.seed, s.steps, s.gamma, dict(s.options)) for s in settings] == [
        (5, 200, 0.9, {"lr": 0.5, "layers": 2}), (6, 200, 0.9, {"lr": 0.5, "layers": 2})
    ]  # fmt: skip
    weights = settings[0].weights
    assert weights.shape == (4, 4)
    assert np.allclose(weights.sum(axis=1), 1)
    assert np.allclose(weights[0], 0.25)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"algos": ()}, "name at least one"),
        ({"algos": ("random", "random")}, "random is named twice"),
        ({"algos": ("enveloppe",)}, "no algorithm 'enveloppe'; did you mean 'envelope'"),
        ({"algos": ("llm:",)}, "no algorithm 'llm:'"),
        ({"algo_args": ("random.lr=3",)}, "random has no option lr; it has none"),
        ({"algo_args": ("pcn.lr=3",)}, "ALGORITHM.name=value of an algorithm in --algos, not 'pcn.lr=3'"),
        ({"steps": 0}, "--steps must be at least 1"),
        ({"gamma": 1.5}, "--gamma must be above 0"),
        ({"seeds": (1, 1)}, "--seeds must be different"),
        ({"name": "a/b"}, "--name must be the name of a folder"),
        ({"env_args": (*MAZE, "maze=3")}, "--problem 0 and maze=3 in --env-args differ"),
        ({"problem": None, "env_args": (*MAZE, "maze=x")}, "maze must be the number of a maze, not 'x'"),
    ],
)
def test_mistakes_stop_before_anything_runs(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        benchmark(config(tmp_path, **changes))
    assert not list(tmp_path.iterdir())


def test_what_to_install_is_said_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    message = r'pql, pcn need morl_baselines; sb3-dqn need stable_.*pip install -e "\.\[morl\]"'
    with pytest.raises(ValueError, match=message):
        benchmark(config(tmp_path, algos=("random", "pql", "pcn", "sb3-dqn")))
    assert not list(tmp_path.iterdir())
    check_names(["random", "random-search", "llm:runs/x", "own"], {"own": Walker(ROUTES)})


def test_the_command_line(tmp_path, monkeypatch, capsys):
    words = ["--study", "maze", "--name", "small", "--algos", "random,random-search", "--seeds", "0", "--steps", "300"]
    folders = ["--output", str(tmp_path / "runs"), "--results", str(tmp_path / "results")]
    monkeypatch.setattr(sys, "argv", ["benchmark.py", *words, *folders])
    main()
    assert "| random-search |" in capsys.readouterr().out
    assert (tmp_path / "results/MazeGrid-v0/small/table.md").is_file()
    monkeypatch.setattr(sys, "argv", ["benchmark.py", "--algos", "dreamer", *folders])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert "no algorithm 'dreamer'" in capsys.readouterr().err


@pytest.mark.parametrize("name", list(STUDIES))
def test_the_studies(name):
    study = benchmark_defaults(["--study", name])
    assert study == study_config(name)
    assert {name for name in study.algos if not name.startswith("llm:")} <= set(ALGORITHMS)
    arena = arena_of(study)
    assert arena.fronts is not None
    if name == "tokens":  # every route can be written
        assert arena.judged.get_wrapper_attr("length") > arena.task[arena.problem].max_steps


def test_unknown_studies_are_refused():
    with pytest.raises(ValueError, match="--study mace: there are maze, maze-long, mazes"):
        benchmark_defaults(["--study=mace"])


def test_a_changed_study_needs_a_name_of_its_own():
    with pytest.raises(ValueError, match=r"--study maze with another --steps is .* give it a --name"):
        benchmark(replace(study_config("maze"), steps=100))


@pytest.mark.parametrize("option", ["output", "results"])
def test_folders_that_cannot_be_made_are_refused_before_anything_runs(option, tmp_path):
    (tmp_path / "file").write_text("")
    mine = Walker(ROUTES, steps=5)
    with pytest.raises(ValueError, match=rf"--{option}: .* cannot be made"):
        benchmark(replace(config(tmp_path, algos=("mine",)), **{option: str(tmp_path / "file")}), {"mine": mine})
    assert mine.trained == 0


def test_nothing_is_written_over_by_a_benchmark_without_results(tmp_path):
    with pytest.raises(ValueError, match="no algorithm came to a result, so none was written: mine failed with seed 0"):
        benchmark(config(tmp_path, algos=("mine",)), {"mine": Broken(RuntimeError("out of luck"))})
    assert not list(tmp_path.rglob("table.md"))


@pytest.mark.parametrize(
    "damage",
    [
        {"vectors": [[[None] * 4]]},
        {"vectors": [1.0, 2.0]},
        {"seed": 7},
        {"algorithm": "other"},
        {"steps": "abc"},
        {"seconds": None},
        {"options": None},
        {"made_with": []},
    ],
)
def test_a_damaged_outcome_is_refused(damage, tmp_path):
    mine = Walker(ROUTES, steps=5)
    benchmark(config(tmp_path, algos=("mine",)), {"mine": mine})
    path = tmp_path / "runs/MazeGrid-v0/benchmark/mine-seed0.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | damage))
    with pytest.raises(ValueError, match=r"mine-seed0.json is no result of a benchmark .* remove it to run this again"):
        benchmark(config(tmp_path, algos=("mine",)), {"mine": mine})


def test_names_that_look_alike_have_files_of_their_own(tmp_path):
    own = {"llm:a/b": Walker(ROUTES, steps=5), "llm:a_b": Walker(ROUTES[:1], steps=5)}
    result = benchmark(config(tmp_path, algos=tuple(own)), own)
    assert [result.outcomes[name][0].vectors.shape[1] for name in own] == [2, 1]
    again = benchmark(config(tmp_path, algos=tuple(own)), own)
    assert [again.outcomes[name][0].vectors.shape[1] for name in own] == [2, 1]
