"""Real data: official files, folders and the hub; bad rows are refused with file, row and field."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from toolrl_helpers import HOTEL, PLAN, TRAIN, WORDS, section

import vpo_envs  # noqa: F401
from vpo_envs.toolrl import ToolRLTask
from vpo_envs.toolrl.problems import HUB_NAME, official_row


def row(truth: str = PLAN + section(HOTEL), user: str = "A room, please.") -> dict[str, Any]:
    return {
        "data_source": "rlla",
        "prompt": [{"role": "system", "content": "Tools: book_hotel"}, {"role": "user", "content": user}],
        "reward_model": {"ground_truth": truth, "style": "rule"},
    }


GOOD = row()


def write(path: Path, *rows: object, end: str = "\n") -> str:
    lines = [r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in rows]
    path.write_bytes(end.join(lines).encode("utf-8", "surrogatepass"))
    return str(path)


def parquet(path: Path, *rows: dict[str, Any]) -> str:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as pq

    pq.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    return str(path)


def all_problems(task: ToolRLTask) -> list[Any]:
    return [task[i] for i in range(len(task))]


def test_a_file_of_either_kind_is_used_whole_for_either_split(tmp_path):
    generated = all_problems(ToolRLTask(num_problems=20))
    rows = [official_row(p) for p in generated]
    files = [
        write(tmp_path / "a.jsonl", *rows),
        write(tmp_path / "b.json", json.dumps(rows)),
        parquet(tmp_path / "c.parquet", *rows),
    ]
    for path in files:
        for split in ("train", "test"):
            assert all_problems(ToolRLTask(split, data=path)) == generated
    assert all_problems(ToolRLTask(data=files[0], num_problems=3)) == generated[:3]
    with pytest.raises(IndexError):
        ToolRLTask(data=files[0])[20]


def test_a_folder_gives_the_split_that_is_asked_for(tmp_path):
    parquet(tmp_path / "train.parquet", row(user="first"), row(user="second"))
    write(tmp_path / "test.jsonl", row(user="third"))
    assert len(ToolRLTask("train", data=str(tmp_path))) == 2
    assert ToolRLTask("test", data=str(tmp_path))[0].prompt[1][1] == "third"
    (tmp_path / "test.jsonl").unlink()
    with pytest.raises(FileNotFoundError, match=r"none of test.parquet, test.jsonl, .* in the folder"):
        ToolRLTask("test", data=str(tmp_path))


def test_a_loaded_problem_is_asked_in_its_own_words(tmp_path):
    path = write(tmp_path / "one.jsonl", GOOD)
    env = gym.make("vpo/ToolRL-v0", data=path)
    _, info = env.reset(seed=0)
    assert info["messages"] == GOOD["prompt"]
    assert env.step(GOOD["reward_model"]["ground_truth"])[1].tolist() == [1, 1, 1, 1]
    _, info = gym.make("vpo/ToolRL-v0", data=path, num_answers=2).reset(options={"weights": [1, 0, 0, 0]})
    system, user = info["messages"]
    assert system == GOOD["prompt"][0]
    assert user["content"].splitlines()[0] == "A room, please."
    assert "<response_2>" in user["content"]
    assert user["content"].endswith("format 100%, tool_name 0%, arg_key 0%, arg_value 0%.")


def test_what_is_added_goes_to_the_last_message_of_the_user(tmp_path):
    talk = [("system", ""), ("user", "one"), ("assistant", "two"), ("user", "three"), ("assistant", "four")]
    long = GOOD | {"prompt": [{"role": r, "content": c} for r, c in talk]}
    task = ToolRLTask(data=write(tmp_path / "long.jsonl", long))
    messages = task.messages(task[0], 2)
    assert [m["content"] for m in messages[:3]] == ["", "one", "two"]
    assert messages[3]["content"].startswith("three\n")
    assert messages[4]["content"] == "four"


def test_raw_rows_are_read_too(tmp_path):
    raw = {"instruction": "Tools: book_hotel", "input": "A room, please.", "output": PLAN + section(HOTEL)}
    [problem] = all_problems(ToolRLTask(data=write(tmp_path / "raw.json", json.dumps([raw]))))
    assert problem == ToolRLTask(data=write(tmp_path / "processed.jsonl", GOOD))[0]
    with pytest.raises(ValueError, match=r"row 1: field 'output' has calls that do not parse"):
        ToolRLTask(data=write(tmp_path / "bad.jsonl", raw | {"output": PLAN + section("{")}))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_endings_byte_order_marks_and_compression_are_no_fault(tmp_path, end):
    path = Path(write(tmp_path / "rows.jsonl", GOOD, "", row(user="two"), end=end))
    content = b"\xef\xbb\xbf" + path.read_bytes() + b"\n" + json.dumps(GOOD).encode()
    path.write_bytes(content)
    assert [p.prompt[1][1] for p in all_problems(ToolRLTask(data=str(path)))] == [
        "A room, please.",
        "two",
        "A room, please.",
    ]
    packed = tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(content))
    assert all_problems(ToolRLTask(data=str(packed))) == all_problems(ToolRLTask(data=str(path)))


@pytest.mark.parametrize(
    "text",
    [
        "naïve café",
        "cafe\u0301",
        "a\u2028b\u2029c\x85d",
        "👍🏽 👨‍👩‍👧",
        "שלום",
        "\u202eabc",
        "ﬁ １２",
        "\x00\x1f",
        "日本語",
    ],
)
def test_text_is_kept_as_it_is(tmp_path, text):
    gold = {"name": text, "parameters": {text: text, "b": [text]}}
    for writing in (json.dumps(gold), json.dumps(gold, ensure_ascii=False)):
        if text == "\x00\x1f" and "\\" not in writing:
            continue
        for path in (
            write(tmp_path / "u.jsonl", row(PLAN + section(writing), text)),
            parquet(tmp_path / "u.parquet", row(PLAN + section(writing), text)),
        ):
            task = ToolRLTask(data=path)
            assert task[0].prompt[1][1] == text
            assert task[0].gold[0].parameters == gold["parameters"]
            assert task.score(task[0], task.gold(task[0])).tolist() == [1, 1, 1, 1]


def broken(path: str, value: Any = None, remove: bool = False) -> dict[str, Any]:
    """GOOD with the value at a path replaced, or removed."""
    bad = copy.deepcopy(GOOD)
    *way, last = path.split("/")
    place: Any = bad
    for step in way:
        place = place[int(step) if step.isdecimal() else step]
    if remove:
        del place[last]
    else:
        place[int(last) if last.isdecimal() else last] = value
    return bad


TRUTH = "field 'reward_model.ground_truth'"


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        (broken("prompt", remove=True), "field 'prompt' is missing"),
        (broken("prompt", "Hello"), "field 'prompt' must be a list, got a string"),
        (broken("prompt", []), "field 'prompt' has no message of the user"),
        (broken("prompt", GOOD["prompt"][:1]), "field 'prompt' has no message of the user"),
        (broken("prompt/1", "Hello"), "field 'prompt[1]' must be an object, got a string"),
        (broken("prompt/1/role", remove=True), "field 'prompt[1].role' is missing"),
        (broken("prompt/1/role", "robot"), "field 'prompt[1].role' must be one of system, user, assistant, tool"),
        (broken("prompt/1/content", None), "field 'prompt[1].content' must be a string, got null"),
        (broken("prompt/1/content", 3), "field 'prompt[1].content' must be a string, got 3"),
        (broken("prompt/1/content", "a\ud800"), "field 'prompt[1].content' is no valid Unicode"),
        (broken("reward_model", remove=True), "field 'reward_model' is missing"),
        (broken("reward_model", "x"), "field 'reward_model' must be an object, got a string"),
        (broken("reward_model/ground_truth", remove=True), f"{TRUTH} is missing"),
        (broken("reward_model/ground_truth", 5), f"{TRUTH} must be a string, got 5"),
        (broken("reward_model/ground_truth", " "), f"{TRUTH} is empty"),
        (broken("reward_model/ground_truth", "\udfff"), f"{TRUTH} is no valid Unicode"),
        (row(PLAN + section('{"name": "a", "parameters": {')), f"{TRUTH} has calls that do not parse"),
        (row(PLAN + section('{"name": "a", "parameters": NaN}')), f"{TRUTH} has calls that do not parse"),
        (row(PLAN + "<tool_call>" + json.dumps(HOTEL)), f"{TRUTH} has calls that do not parse"),
        (row(section(HOTEL)), f"{TRUTH} has no <think> element with text in it"),
        (row(PLAN + section()), f"{TRUTH} has a <tool_call> element without a call"),
        (row(PLAN), f"{TRUTH} has neither a <tool_call> nor a <response> element"),
        (row("just words"), f"{TRUTH} has no <think> element with text in it"),
        ({"grid": "S . E", "max_steps": 5}, "field 'prompt' is missing"),
        ({"id": "2hop__1_2", "question": "Who?", "paragraphs": []}, "field 'prompt' is missing"),
        ([1], "a row must be an object, got a list"),
        ('{"prompt": ', "not a line of JSON in UTF-8"),
    ],
)
def test_a_bad_row_is_named_with_file_row_and_field(tmp_path, bad, complaint):
    if isinstance(bad, dict):
        bad = json.dumps(bad)  # half a surrogate pair as an escape, which is valid JSON
    path = write(tmp_path / "bad.jsonl", GOOD, bad, GOOD, bad)
    with pytest.raises(ValueError, match=r"2 bad row\(s\) of 4") as error:
        ToolRLTask(data=path)
    assert path in str(error.value)
    assert f"row 2: {complaint}" in str(error.value)
    assert f"row 4: {complaint}" in str(error.value)
    with pytest.warns(UserWarning, match=r"skipped 2 bad row\(s\) of 4[\s\S]*row 2: "):
        assert len(ToolRLTask(data=path, skip_bad_rows=True)) == 2


def test_bad_rows_of_a_parquet_file_are_named_too(tmp_path):
    path = parquet(tmp_path / "bad.parquet", GOOD, row("words"), broken("prompt", None))
    with pytest.raises(ValueError, match=r"bad.parquet: 2 bad row\(s\) of 3") as error:
        ToolRLTask(data=path)
    assert f"row 2: {TRUTH} has no <think>" in str(error.value)
    assert "row 3: field 'prompt' must be a list, got null" in str(error.value)


def test_a_file_without_any_good_row_says_what_one_looks_like(tmp_path):
    with pytest.raises(ValueError, match=r'empty.jsonl: no rows; a row is {"prompt"'):
        ToolRLTask(data=write(tmp_path / "empty.jsonl"))
    other = write(tmp_path / "mazes.jsonl", {"grid": "S E", "max_steps": 2})
    with pytest.raises(ValueError, match=r'1 bad row\(s\) of 1[\s\S]*a row is {"prompt"'):
        ToolRLTask(data=other)
    with pytest.raises(ValueError, match=r"mazes.jsonl: all 1 rows are bad"):
        ToolRLTask(data=other, skip_bad_rows=True)
    with pytest.raises(ValueError, match="not a parquet file"):
        ToolRLTask(data=write(tmp_path / "text.parquet", GOOD))
    with pytest.raises(FileNotFoundError, match=r"nowhere.parquet does not exist"):
        ToolRLTask(data=str(tmp_path / "nowhere.parquet"))


def test_the_hub_gives_the_split_of_the_authors_copy(monkeypatch):
    datasets = pytest.importorskip("datasets")
    asked = []

    def load(name: str, config: Any, split: str) -> Any:
        asked.append((name, config, split))
        return datasets.Dataset.from_list([row(user=split), row(PLAN + WORDS)])

    monkeypatch.setattr(datasets, "load_dataset", load)
    task = ToolRLTask("test", data="hub")
    assert asked == [(HUB_NAME, None, "test")]
    assert [p.prompt[1][1] for p in all_problems(task)] == ["test", "A room, please."]
    assert [len(p.gold) for p in all_problems(task)] == [1, 0]

    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: datasets.Dataset.from_list([row("x"), row()]))
    with pytest.raises(ValueError, match=rf"{HUB_NAME} \(train\): 1 bad row\(s\) of 2[\s\S]*row 1: {TRUTH}"):
        ToolRLTask(data="hub")


def test_a_hub_out_of_reach_is_one_error_that_says_what_to_do(monkeypatch):
    datasets = pytest.importorskip("datasets")

    def fail(*_: Any, **__: Any) -> Any:
        raise ConnectionError("no route to huggingface.co\nmany more lines")

    monkeypatch.setattr(datasets, "load_dataset", fail)
    with pytest.raises(ValueError, match=rf"cannot load {HUB_NAME} \(train\) from the hub: no route .*data=PATH$"):
        ToolRLTask(data="hub")


# ---- the real sample ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(real_data: Path) -> ToolRLTask:
    return ToolRLTask("test", data=str(real_data / "toolrl" / "rlla_sample.parquet"))


def text_of(calls: list[dict[str, Any]]) -> str:
    return PLAN + section(*calls)


def test_every_real_gold_answer_scores_all_ones(real):
    problems = all_problems(real)
    assert len(problems) == 40
    assert real.score_batch(problems, [real.gold(p) for p in problems]).min() == 1
    assert {len(p.gold) for p in problems} >= {0, 1, 2, 3, 4, 5}


BREAKS = {
    "a tool renamed": {"tool_name"},
    "a parameter added": {"arg_key"},
    "a value replaced": {"arg_value"},
    "a parameter left out": {"arg_key", "arg_value"},
    "no thought": {"format"},
    "a call left out": {"tool_name", "arg_key", "arg_value"},
    "a call made twice": {"tool_name", "arg_key", "arg_value"},
    "a bracket lost": {"format", "tool_name", "arg_key", "arg_value"},
}


@pytest.mark.parametrize("fault", BREAKS)
def test_a_real_gold_answer_with_one_thing_broken_loses_exactly_that(real, fault):
    tested = 0
    names = np.array([o.name for o in real.objectives])
    for problem in all_problems(real):
        calls = [{"name": c.name, "parameters": dict(c.parameters)} for c in problem.gold]
        if not calls or (fault == "a call left out" and len(calls) == 1):
            continue
        first = calls[0]
        key = next(iter(first["parameters"]))
        if fault == "a tool renamed":
            first["name"] = "another tool"
        elif fault == "a parameter added":
            first["parameters"]["one more"] = 1
        elif fault == "a value replaced":
            first["parameters"][key] = {"no": "such value"}
        elif fault == "a parameter left out":
            del first["parameters"][key]
        elif fault == "a call left out":
            calls.pop()
        elif fault == "a call made twice":
            calls.append(calls[0])
        answer = text_of(calls)
        if fault == "no thought":
            answer = answer.removeprefix(PLAN)
        elif fault == "a bracket lost":
            answer = answer.replace("}\n</tool_call>", "\n</tool_call>")
        reward = real.score(problem, answer)
        assert set(names[reward < 1]) == BREAKS[fault], (answer, reward)
        tested += 1
    assert tested > (10 if fault == "a call left out" else 30)


def test_real_gold_calls_may_come_in_any_order_and_spelling(real):
    rng = Random(0)
    for problem in all_problems(real):
        calls = [{"parameters": dict(reversed(c.parameters.items())), "name": c.name} for c in problem.gold]
        rng.shuffle(calls)
        if calls:
            assert real.score(problem, PLAN + section(json.dumps(calls, indent=1))).tolist() == [1, 1, 1, 1]


def test_real_problems_where_no_call_is_expected(real):
    silent = [p for p in all_problems(real) if not p.gold]
    assert len(silent) == 4
    for problem in silent:
        assert real.score(problem, PLAN + section(TRAIN)).tolist() == [0, 0, 0, 0]
        assert real.score(problem, "Sure.").tolist() == [0, 1, 1, 1]


def test_demonstrations_for_real_problems_are_answers(real):
    rng = Random(0)
    rewards = [real.score(p, real.demonstration(p, rng)) for p in all_problems(real) for _ in range(20)]
    assert (np.mean(rewards, axis=0) > 0.7).all()
    assert 0.2 < np.mean(np.min(rewards, axis=1) == 1) < 0.6
