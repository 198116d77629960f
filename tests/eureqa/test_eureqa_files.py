"""Rows of the published data set: read as written, split as the paper does, refused with file, row and field."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path

import gymnasium as gym
import pytest
from eureqa_helpers import GOLD, ROW, row, write

import vpo_envs  # noqa: F401
from vpo_envs.eureqa import EureqaTask
from vpo_envs.eureqa.problems import official_row, parse_row


def rows_of(number: int, first: int = 0) -> list[dict]:
    """Different generated chains as rows."""
    task = EureqaTask(num_problems=first + number)
    return [official_row(task[i], i) for i in range(first, first + number)]


def leaves(task: EureqaTask) -> list[tuple[str, ...]]:
    return [task[i].entities for i in range(len(task))]


def test_a_file_is_used_whole_for_either_split(tmp_path):
    rows = rows_of(5)
    path = write(tmp_path / "chains.jsonl", *rows)
    for split in ("train", "test"):
        task = EureqaTask(split, data=path)
        assert [task[i] for i in range(len(task))] == [parse_row(r) for r in rows]
    assert len(EureqaTask(data=path, num_problems=2)) == 2
    with pytest.raises(IndexError, match="chain 5 of 5"):
        EureqaTask(data=path)[5]


def test_a_file_is_asked_and_scored_like_generated_chains(tmp_path):
    env = gym.make("vpo/EUREQA-v0", data=write(tmp_path / "one.jsonl", ROW))
    prompt, _ = env.reset(seed=1)
    assert "\n".join(ROW["question"]) in prompt
    assert "Ann" not in prompt
    _, reward, *_ = env.step("<entity_B>Long Tide</entity_B> <entity_E>ördög 1599</entity_E>")
    assert reward.tolist() == [0, 1, 0, 0, 1]


def test_every_format_gives_the_same_chains(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = [ROW, *rows_of(3)]
    lines = "\n".join(json.dumps(r, ensure_ascii=False) for r in rows).encode()
    (tmp_path / "a.jsonl").write_bytes(lines)
    (tmp_path / "b.json").write_bytes(json.dumps(rows).encode())
    (tmp_path / "c.jsonl").write_bytes(b"\xef\xbb\xbf" + lines)
    (tmp_path / "d.jsonl.gz").write_bytes(gzip.compress(lines))
    (tmp_path / "e.jsonl").write_bytes(lines.replace(b"\n", b"\r\n", 1).replace(b"}\n", b"}\r", 1) + b"\r\n\r\n")
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "f.parquet")
    for path in sorted(tmp_path.iterdir()):
        task = EureqaTask(data=str(path))
        assert [task[i] for i in range(len(task))] == [parse_row(r) for r in rows], path.name


def folder(path: Path, hard: int = 5, normal: int = 3) -> str:
    write(path / "questions_hard_5.jsonl", *rows_of(hard))
    write(path / "questions_normal_5.json", json.dumps(rows_of(normal, first=hard)))
    write(path / "questions_hard_4.jsonl", "not looked at")
    return str(path)


def check_paper_split(train: EureqaTask, test: EureqaTask) -> None:
    """Five hard chains and three normal ones, as in `folder`."""
    hard, normal = ([tuple(r["entities"]) for r in rows_of(n, first)] for n, first in ((5, 0), (3, 5)))
    shuffled = [hard[i] for i in (2, 1, 0, 4, 3)]  # random.Random(0).shuffle of five
    assert leaves(train) == [*normal, *shuffled[:2]]
    assert leaves(test) == shuffled[2:]


def test_a_folder_gives_the_papers_split(tmp_path):
    path = folder(tmp_path)
    check_paper_split(EureqaTask("train", data=path), EureqaTask("test", data=path))
    assert len(EureqaTask("train", data=path, num_problems=1)) == 1


def test_a_folder_needs_one_file_of_each(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"one file whose name contains 'hard_5' .*; found none"):
        EureqaTask(data=str(tmp_path))
    folder(tmp_path)
    write(tmp_path / "copy_of_hard_5.jsonl", ROW)
    with pytest.raises(FileNotFoundError, match=r"found copy_of_hard_5.jsonl, questions_hard_5.jsonl"):
        EureqaTask(data=str(tmp_path))


def test_the_hub_gives_the_papers_split(monkeypatch):
    datasets = pytest.importorskip("datasets")
    rows = {"questions_hard_5": rows_of(5), "questions_normal_5": rows_of(3, first=5)}
    asked = []

    def load_dataset(name, config=None, *, split):
        asked.append((name, config, split))
        return datasets.Dataset.from_list(rows[split])

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    check_paper_split(EureqaTask("train", data="hub"), EureqaTask("test", data="hub"))
    name = "vincentleebang/EUREQA"
    hard, normal = (name, None, "questions_hard_5"), (name, None, "questions_normal_5")
    assert asked == [hard, normal, hard]  # the test set needs no more


def test_an_unreachable_hub_is_one_clear_error(monkeypatch):
    datasets = pytest.importorskip("datasets")

    def load_dataset(*_args, **_kwargs):
        raise ConnectionError("no route to host\nand much more")

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    with pytest.raises(
        ValueError, match=r"cannot load vincentleebang/EUREQA \(questions_hard_5\).*route to host; .*data=PATH"
    ):
        EureqaTask(data="hub")


SIX = ROW["entities"]
BAD = {
    "no question": (row(question=...), "field 'question' is missing"),
    "no masks": (row(entity_masks=...), "field 'entity_masks' is missing"),
    "no entities": (row(entities=...), "field 'entities' is missing"),
    "null": (row(entities=None), "field 'entities' must be a list, got null"),
    "one text": (row(question="Person 1 wrote."), "field 'question' must be a list, got a string"),
    "no sentence": (row(question=[]), "field 'question' is empty"),
    "a blank sentence": (row(question=[*ROW["question"], " "]), "field 'question[5]' is empty"),
    "a number": (row(entities=[*SIX[:5], 6]), "field 'entities[5]' must be a string, got 6"),
    "five entities": (row(entities=SIX[:5]), "field 'entities' must have 6 entries, as entity_masks has, got 5"),
    "seven masks": (row(entity_masks=[*ROW["entity_masks"], "x"]), "field 'entity_masks' must have 6 entries, got 7"),
    "a mask twice": (
        row(entity_masks=["Person 1", "novel 2", "Person 1", *ROW["entity_masks"][3:]]),
        "field 'entity_masks[2]' repeats entity_masks[0]",
    ),
    "an entity twice": (
        row(entities=[*SIX[:5], "mist_island"]),
        "field 'entities[5]' is the same name as entities[2]",
    ),
    "a mask that is not there": (
        row(entity_masks=["Person 1", "novel 22", *ROW["entity_masks"][2:]]),
        "field 'entity_masks[1]' never occurs in 'question'",
    ),
    "a mask inside a word": (
        row(question=[s.replace("ship 5", "ship 55") for s in ROW["question"]]),
        "field 'entity_masks[4]' never occurs in 'question'",
    ),
    "no word": (row(entities=["The -", *SIX[1:]]), "field 'entities[0]' has no word that counts"),
    "endless": (row(entities=["x" * 1001, *SIX[1:]]), "field 'entities[0]' is longer than 1000 characters"),
    "half a surrogate": (
        json.dumps(row(entities=["\ud800", *SIX[1:]])),
        "field 'entities[0]' is no valid Unicode: half a surrogate pair at 0",
    ),
    "a list": ("[1]", "a row must be an object, got a list"),
    "cut off": ('{"idx": 1, "question": ["a', "not a line of JSON in UTF-8"),
    "a maze": ({"grid": "S E", "max_steps": 3}, "field 'question' is missing"),
    "MuSiQue": (
        {"id": "2hop__1", "paragraphs": [], "question": "Who?", "answer": "x"},
        "field 'question' must be a list, got a string",
    ),
}


@pytest.mark.parametrize(("bad", "complaint"), BAD.values(), ids=BAD)
def test_a_bad_row_is_named_with_file_row_and_field(tmp_path, bad, complaint):
    path = write(tmp_path / "bad.jsonl", ROW, bad, ROW)
    with pytest.raises(ValueError, match="1 bad row") as error:
        EureqaTask(data=path)
    assert f"{path}: 1 bad row(s) of 3, nothing was loaded" in str(error.value)
    assert f"row 2: {complaint}" in str(error.value)
    with pytest.warns(UserWarning, match=r"skipped 1 bad row\(s\) of 3"):
        assert leaves(EureqaTask(data=path, skip_bad_rows=True)) == [tuple(SIX)] * 2


def test_all_bad_rows_are_counted_and_what_a_row_is_is_said(tmp_path):
    path = write(tmp_path / "maze.jsonl", *[{"grid": "S E", "max_steps": 3}] * 12)
    with pytest.raises(ValueError, match=r'12 bad row\(s\) of 12.*a row is {"idx": 0, "question"') as error:
        EureqaTask(data=path)
    assert str(error.value).count("field 'question' is missing") == 10
    with pytest.raises(ValueError, match="all 12 rows are bad"):
        EureqaTask(data=path, skip_bad_rows=True)


def test_empty_and_missing_files(tmp_path):
    for content in (b"", b"\n\n", b"[]", b"\xef\xbb\xbf"):
        (tmp_path / "empty.jsonl").write_bytes(content)
        with pytest.raises(ValueError, match=r"empty.jsonl: no rows; a row is"):
            EureqaTask(data=str(tmp_path / "empty.jsonl"))
    with pytest.raises(FileNotFoundError, match=r"nowhere.jsonl does not exist"):
        EureqaTask(data=str(tmp_path / "nowhere.jsonl"))
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(ValueError, match=r"x.parquet: cannot be read"):
        EureqaTask(data=str(tmp_path / "x.parquet"))


@pytest.mark.parametrize(
    "name",
    [
        "Zoë Zürich",
        "O\u0308zil",
        "北京",
        "القاهرة",
        "🙂 Band",
        "a\u2028b",
        "\u202eleft\u202c",
        "ﬁn",
        "İzmir",
        "x\ty",
        "ß",
    ],
)
def test_names_of_every_kind_are_kept_and_can_be_answered(tmp_path, name):
    path = write(tmp_path / "one.jsonl", row(entities=[name, *SIX[1:]], question=[*ROW["question"], f"({name}\u2028)"]))
    task = EureqaTask(data=path)
    assert len(task) == 1
    assert task[0].entities[0] == name
    assert task[0].sentences[-1] == f"({name}\u2028)"
    assert (task.score(task[0], task.gold(task[0])) == 1).all()
    assert task.score(task[0], f"<entity_A>{GOLD[1]}</entity_A>").sum() == 0


@pytest.mark.parametrize("form", ["[X{}]", "<m{}>", "$e_{}$", "the {}th thing", "({})", "Ω{}", "m.{}*", "entity{}"])
def test_masks_may_have_any_form(form):
    masks = [form.format(i) for i in range(6)]
    chain = parse_row(row(entity_masks=masks, question=[f"It is {a} near {b}." for a, b in pairwise(masks)]))
    [message] = EureqaTask().messages(chain)
    assert all(f"entity_{x} is {mask}" in message["content"] for x, mask in zip("ABCDE", masks, strict=False))
    assert f"{masks[5]} is Oak Company" in message["content"]
