"""Questions from files and from the hub: good rows are read as written, bad ones refused with file, row and field."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import gymnasium as gym
import pytest
from musique_helpers import paragraph, row, steps, write_rows

import vpo_envs  # noqa: F401
from vpo_envs.musique import Hop, MuSiQueTask
from vpo_envs.musique.problems import FILES, problem_of, row_of, stratified


def test_a_row_becomes_a_problem_and_back():
    problem = problem_of(row())
    assert problem.question == "Where was the author of Tin Moon born?"
    assert problem.titles == ("Ada Roe", "Bo Roe", "Tin Moon")
    assert problem.texts[2] == "Tin Moon is a play by Ada Roe."
    assert problem.hops == (Hop("Who wrote Tin Moon?", "Ada Roe", 2), Hop("Where was #1 born?", "Low Town", 0))
    assert problem.answers == ("Low Town", "Lowton")
    assert problem_of(row_of(problem)) == problem


def test_paragraphs_stand_in_the_order_of_idx():
    assert problem_of(row(paragraphs=row()["paragraphs"][::-1])) == problem_of(row())


def test_a_step_may_name_the_copy_of_a_supporting_paragraph():
    twins = row(paragraphs=[paragraph(0, "A", "Same.", True), paragraph(1, "A", "Same."), paragraph(2, "B", "Other.")])
    assert [h.paragraph for h in problem_of(twins | {"question_decomposition": steps(0, 1)}).hops] == [0, 1]
    with pytest.raises(ValueError, match="is_supporting is false"):
        problem_of(twins | {"question_decomposition": steps(0, 2)})


def test_blank_and_repeated_aliases_do_not_count():
    assert problem_of(row(answer_aliases=["Low Town", "", " ", "Lowton", "Lowton"])).answers == ("Low Town", "Lowton")


def test_a_row_that_does_not_say_whether_it_is_answerable_is():
    told = row()
    del told["answerable"]
    assert problem_of(told) == problem_of(row(answerable=None)) == problem_of(row())


def without(field: str) -> dict:
    return {name: value for name, value in row().items() if name != field}


BAD_ROWS = [
    *[(without(f), f"field '{f}' is missing") for f in ("question", "answer", "paragraphs", "answer_aliases")],
    (without("question_decomposition"), "field 'question_decomposition' is missing"),
    (row(question=7), "field 'question' must be a string, got 7"),
    (row(question=" "), "field 'question' is empty"),
    (row(answer=None), "field 'answer' must be a string, got null"),
    (row(answer="\ud800"), "field 'answer' is no valid Unicode: half a surrogate pair at 0"),
    (row(answer="x</answer >"), "field 'answer' has a tag of the answer format in it"),
    (row(answer_aliases="Lowton"), "field 'answer_aliases' must be a list, got a string"),
    (row(answer_aliases=["x", 3]), "field 'answer_aliases[1]' must be a string, got 3"),
    (row(answerable=False), "field 'answerable' is false: an unanswerable question has no reward"),
    (row(answerable="yes"), "field 'answerable' must be true or false, got a string"),
    (row(paragraphs={}), "field 'paragraphs' must be a list, got an object"),
    (row(paragraphs=["x"]), "field 'paragraphs[0]' must be an object, got a string"),
    (row(paragraphs=[]), "field 'paragraphs' is empty"),
    (row(paragraphs=[paragraph(0), {"idx": 1}]), "field 'paragraphs[1].title' is missing"),
    (row(paragraphs=[paragraph(0), paragraph(2)]), "field 'paragraphs[1].idx' must be from 0 to 1, got 2"),
    (row(paragraphs=[paragraph(0), paragraph(-1)]), "field 'paragraphs[1].idx' must be from 0 to 1, got -1"),
    (row(paragraphs=[paragraph(1), paragraph(1)]), "field 'paragraphs[1].idx' is 1, like that of another paragraph"),
    (row(paragraphs=[paragraph(True)]), "field 'paragraphs[0].idx' must be a whole number, got true"),
    (row(paragraphs=[paragraph("0")]), "field 'paragraphs[0].idx' must be a whole number, got a string"),
    (row(paragraphs=[paragraph(0, title=None)]), "field 'paragraphs[0].title' must be a string, got null"),
    (row(paragraphs=[paragraph(0, text=["x"])]), "field 'paragraphs[0].paragraph_text' must be a string, got a list"),
    (row(paragraphs=[paragraph(0, text="\udfff")]), "field 'paragraphs[0].paragraph_text' is no valid Unicode"),
    (row(paragraphs=[paragraph(0, supporting=1)]), "field 'paragraphs[0].is_supporting' must be true or false, got 1"),
    (row(question_decomposition=[]), "field 'question_decomposition' must have 2 to 4 steps, has 0"),
    (row(question_decomposition=steps(0)), "field 'question_decomposition' must have 2 to 4 steps, has 1"),
    (row(question_decomposition=steps(*[0] * 5)), "field 'question_decomposition' must have 2 to 4 steps, has 5"),
    (
        row(question_decomposition=steps(0, 3)),
        "field 'question_decomposition[1].paragraph_support_idx' must be from 0 to 2, got 3",
    ),
    (
        row(question_decomposition=steps(0, -1)),
        "field 'question_decomposition[1].paragraph_support_idx' must be from 0 to 2, got -1",
    ),
    (
        row(question_decomposition=steps(0, None)),
        "field 'question_decomposition[1].paragraph_support_idx' must be a whole number, got null",
    ),
    (
        row(question_decomposition=steps(0, 1)),
        "field 'question_decomposition[1].paragraph_support_idx' is 1, and that paragraph's is_supporting is false",
    ),
    ([1, 2], "a row must be an object, got a list"),
    ('{"question": "cut o', "not a line of JSON in UTF-8"),
    ({"grid": "S E", "max_steps": 3}, "field 'question' is missing"),  # a maze
]


@pytest.mark.parametrize(("bad", "complaint"), BAD_ROWS)
def test_a_bad_row_is_named_with_file_row_and_field(tmp_path, bad, complaint):
    text = bad if isinstance(bad, str) else json.dumps(bad)  # escapes half surrogates, as files do
    path = write_rows(tmp_path / "bad.jsonl", row(), text, row())
    with pytest.raises(ValueError, match="bad row") as error:
        MuSiQueTask(data=path)
    assert f"{path}: 1 bad row(s) of 3, nothing was loaded" in str(error.value)
    assert f"row 2: {complaint}" in str(error.value)
    with pytest.warns(UserWarning, match=r"skipped 1 bad row\(s\) of 3\n  row 2: "):
        task = MuSiQueTask(data=path, skip_bad_rows=True)
    assert list(task) == [problem_of(row())] * 2


def test_all_bad_rows_are_counted(tmp_path):
    path = write_rows(tmp_path / "bad.jsonl", *[row(), row(answerable=False)] * 12)
    with pytest.raises(ValueError, match=r"12 bad row\(s\) of 24") as error:
        MuSiQueTask(data=path)
    assert str(error.value).count("field 'answerable'") == 10


def test_a_file_of_another_task_says_what_a_row_is(tmp_path):
    path = write_rows(tmp_path / "mazes.jsonl", *[{"grid": "S E", "max_steps": 3}] * 3)
    for skip in (False, True):
        with pytest.raises(ValueError, match=r"a row is \{\"question\": .*paragraph_support_idx"):
            MuSiQueTask(data=path, skip_bad_rows=skip)


def test_empty_and_missing_files(tmp_path):
    with pytest.raises(ValueError, match=r"empty.jsonl: no rows; a row is"):
        MuSiQueTask(data=write_rows(tmp_path / "empty.jsonl"))
    with pytest.raises(FileNotFoundError, match=r"nowhere.jsonl does not exist"):
        gym.make("vpo/MuSiQue-v0", data=str(tmp_path / "nowhere.jsonl"))
    with pytest.raises(FileNotFoundError, match=FILES["test"]):  # a folder without the official file
        MuSiQueTask("test", data=str(tmp_path))


def test_line_endings_byte_order_mark_and_compression_are_no_fault(tmp_path):
    one, other = row(), row(question="Who?")
    lines = [json.dumps(r).encode() for r in (one, other, one)]
    content = b"\xef\xbb\xbf" + lines[0] + b"\r\n\r\n" + lines[1] + b"\r" + lines[2] + b"\n\n"
    (tmp_path / "mixed.jsonl").write_bytes(content)
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress(content))
    (tmp_path / "array.json").write_text(json.dumps([one, other, one]))
    for path in tmp_path.iterdir():
        assert list(MuSiQueTask(data=str(path))) == [problem_of(r) for r in (one, other, one)], path


UNICODE = "e\u0301 \u00e9 \u2028 \u2029 \x85 \U0001f989 \u05e9\u05dc\u05d5\u05dd \u202e \u6771\u4eac \x00 \ufffd"


@pytest.mark.parametrize("ascii_only", [True, False])
def test_unicode_is_kept_as_it_is(tmp_path, ascii_only):
    strange = row(answer=UNICODE, paragraphs=[paragraph(i, UNICODE, UNICODE, True) for i in range(3)])
    (tmp_path / "strange.jsonl").write_text(json.dumps(strange, ensure_ascii=ascii_only), encoding="utf-8", newline="")
    [problem] = list(MuSiQueTask(data=str(tmp_path / "strange.jsonl")))
    assert problem.titles == problem.texts == (UNICODE,) * 3
    assert problem.answers[0] == UNICODE
    task = MuSiQueTask(num_problems=1)
    assert UNICODE in task.messages(problem)[0]["content"]
    assert task.score(problem, task.gold(problem)).tolist() == [1] * 5


def test_a_line_break_in_a_paragraph_cannot_start_another_one(tmp_path):
    forged = row(paragraphs=[paragraph(0, supporting=True), paragraph(1), paragraph(2, "T\r", "x\n[0] forged", True)])
    [problem] = list(MuSiQueTask(data=write_rows(tmp_path / "forged.jsonl", forged)))
    assert "- T  [2] - x [0] forged" in MuSiQueTask(num_problems=1).messages(problem)[0]["content"].split("\n")


def rows_by_hops(**numbers: int) -> list[dict]:
    """Rows with different questions; `hops_2=5` of them with two hops ..."""
    paragraphs = [paragraph(i, supporting=True) for i in range(4)]
    return [
        row(question=f"{hops} {i}", paragraphs=paragraphs, question_decomposition=steps(*range(int(hops[-1]))))
        for hops, number in numbers.items()
        for i in range(number)
    ]


def test_a_folder_gives_the_papers_split_and_a_file_is_both(tmp_path):
    for split, name in FILES.items():
        write_rows(tmp_path / name, row(question=split))
    assert {s: MuSiQueTask(s, data=str(tmp_path))[0].question for s in FILES} == {"train": "train", "test": "test"}
    for split in FILES:
        assert MuSiQueTask(split, data=str(tmp_path / FILES["test"]))[0].question == "test"


@pytest.mark.parametrize(
    ("size", "shares"),
    [(3, [1, 1, 1]), (12, [4, 4, 4]), (13, [4, 4, 5]), (30, [14, 12, 4]), (31, [15, 12, 4]), (99, [20, 12, 4])],
)
def test_a_sample_takes_equal_shares_of_each_number_of_hops_as_far_as_they_last(tmp_path, size, shares):
    path = write_rows(tmp_path / "many.jsonl", *rows_by_hops(hops_2=20, hops_3=12, hops_4=4))
    task = MuSiQueTask("test", data=path, num_problems=size)
    drawn = [len(problem.hops) for problem in task]
    found = [drawn.count(hops) for hops in (2, 3, 4)]
    assert len(task) == sum(shares)
    assert max(found) - min(found) <= 1 if size <= 12 else sorted(found) == sorted(shares)
    assert list(task) == list(MuSiQueTask("test", data=path, num_problems=size))
    everything = list(MuSiQueTask("test", data=path))
    positions = [everything.index(problem) for problem in task]
    assert positions == sorted(set(positions)), "not in the file's order, or some twice"


def test_a_sample_is_not_the_beginning_of_the_file():
    problems = [problem_of(r) for r in rows_by_hops(hops_2=50)]
    assert stratified(problems, 10) != problems[:10]


@pytest.mark.parametrize(("split", "hub_split"), [("train", "train"), ("test", "validation")])
def test_the_hub(monkeypatch, split, hub_split):
    datasets = pytest.importorskip("datasets")
    asked = []

    def load_dataset(name, config=None, *, split):
        asked.append((name, config, split))
        return datasets.Dataset.from_list([row(), row(question="Who?")])

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    task = MuSiQueTask(split, data="hub")
    assert asked == [("dgslibisey/MuSiQue", None, hub_split)]
    assert list(task) == [problem_of(row()), problem_of(row(question="Who?"))]


def test_a_bad_row_of_the_hub_is_named_too(monkeypatch):
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_list([row(), row(answerable=False)])
    monkeypatch.setattr(datasets, "load_dataset", lambda *args, **kwargs: rows)
    with pytest.raises(ValueError, match=r"dgslibisey/MuSiQue \(train\): 1 bad row[\s\S]*row 2: field 'answerable'"):
        MuSiQueTask(data="hub")


def test_a_hub_out_of_reach_is_one_clear_error(monkeypatch):
    datasets = pytest.importorskip("datasets")

    def load_dataset(*args, **kwargs):
        raise ConnectionError("Couldn't reach the Hub\nmany more lines")

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    with pytest.raises(ValueError, match=r"cannot load dgslibisey/MuSiQue \(validation\) from the hub: .*data=PATH$"):
        gym.make("vpo/MuSiQue-v0", split="test", data="hub")


def test_a_loaded_environment_plays(tmp_path: Path):
    env = gym.make("vpo/MuSiQue-v0", data=write_rows(tmp_path / "one.jsonl", row()))
    prompt, _ = env.reset(seed=1)
    assert "- Tin Moon [2] - Tin Moon is a play by Ada Roe." in prompt
    _, reward, *_ = env.step("<support>2, 0</support><answer>Low Town</answer>")
    assert reward.tolist() == [1] * 5
