"""Vocabulary: pieces of text, and the fewest of them that write an answer."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from adapter_helpers import TASKS, text_env, training_vocabulary

from vpo_envs.wrappers.vocabulary import FIRST_ACTION, UNKNOWN, Vocabulary, derive_vocabulary, given_vocabulary


def texts(vocabulary: Vocabulary, slots: tuple[str, ...] = ()) -> list[str]:
    return ["", *vocabulary.pieces, *slots]


def test_encoding_takes_the_fewest_pieces() -> None:
    vocabulary = Vocabulary(("a", "b", "ab", "aba", "bb"), copies=1)
    slots = ("baa",)
    table = texts(vocabulary, slots)
    rng = Random(0)
    for _ in range(200):
        text = "".join(rng.choices("ab", k=rng.randint(0, 7)))
        actions = vocabulary.encode(text, slots)
        assert "".join(table[a] for a in actions) == text
        shorter = (p for n in range(len(actions)) for p in product(table[1:], repeat=n))
        assert not any("".join(pieces) == text for pieces in shorter)


def test_what_cannot_be_written_is_named() -> None:
    vocabulary = Vocabulary(("UP", " "))
    with pytest.raises(ValueError, match=r"goes on with 'LEFT' at character 3 of 'UP LEFT'"):
        vocabulary.encode("UP LEFT")
    assert vocabulary.encode("") == []


def test_rare_words_of_a_prompt_get_the_slots_in_order() -> None:
    vocabulary = Vocabulary(("go", " Mei"), prompt_words=("to", ".", "\n"), constant_lines=("The rules .",), copies=2)
    ids, slots = vocabulary.prompt_tokens("go\nThe rules .\nto Prague . Mei Oslo Prague Rome")
    first_slot = FIRST_ACTION + 3
    assert slots == ("Prague", "Oslo")
    assert ids == [
        FIRST_ACTION + 1,  # the piece "go"
        FIRST_ACTION + 7,  # the line's end
        FIRST_ACTION + 8,  # the constant line
        FIRST_ACTION + 7,
        FIRST_ACTION + 5,
        first_slot,
        FIRST_ACTION + 6,
        FIRST_ACTION + 2,  # the piece " Mei" stands for its word
        first_slot + 1,
        first_slot,
        UNKNOWN,  # no slot is left
    ]
    assert vocabulary.num_ids == FIRST_ACTION + 1 + 2 + 2 + 3 + 1


@pytest.mark.parametrize("env_id", TASKS)
def test_ids_are_inside_their_range_and_pieces_differ(env_id: str) -> None:
    vocabulary, task = training_vocabulary(env_id), text_env(env_id, split="test").unwrapped.task
    assert len(set(vocabulary.pieces)) == len(vocabulary.pieces)
    assert all(vocabulary.pieces)
    for i in range(min(20, len(task))):
        ids, slots = vocabulary.prompt_tokens("\n\n".join(m["content"] for m in task.messages(task[i])))
        assert 0 < min(ids) <= max(ids) < vocabulary.num_ids
        assert len(slots) <= vocabulary.copies


def test_letters_are_added_where_the_words_are_open() -> None:
    maze = training_vocabulary("vpo/Maze-v0")
    assert maze.pieces[0] == " (0,0)"
    assert len(maze.pieces) == 89  # 81 cells, four moves, and four moves after a space
    eureqa = training_vocabulary("vpo/EUREQA-v0")
    assert "".join(eureqa.pieces[a - 1] for a in eureqa.encode("Zzyzx ~!")) == "Zzyzx ~!"
    task = text_env("vpo/EUREQA-v0").unwrapped.task
    closed = derive_vocabulary(task, samples=50, spell=False)
    with pytest.raises(ValueError, match="spell=True"):
        closed.encode("Zzyzx")


def test_given_pieces_keep_their_order() -> None:
    task = text_env("vpo/Maze-v0").unwrapped.task
    vocabulary = given_vocabulary(["b", "a"], task, samples=20)
    assert vocabulary.pieces == ("b", "a")
    assert vocabulary.copies == 0
    lines = 9 * 9 + 9, 4, 5 * 2 - 1  # nine rows of cells, "Steps: 27", five constant lines; with their ends
    assert len(vocabulary.constant_lines) == 5
    assert vocabulary.longest_prompt == sum(lines)


def test_too_few_copies_are_an_error() -> None:
    task = text_env("vpo/ToolRL-v0").unwrapped.task
    with pytest.raises(ValueError, match="or allow more copies"):
        derive_vocabulary(task, samples=50, copies=0, spell=False)
