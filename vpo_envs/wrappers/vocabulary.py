"""Vocabulary: the pieces of text that TokenActions writes with, and how prompts and answers become token ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

from vpo_envs.answers import prompt_text
from vpo_envs.problem_lists import check_whole
from vpo_envs.task import Task

PADDING, BEGIN, UNKNOWN, FIRST_ACTION = 0, 1, 2, 3
"""Token ids: no token, the end of the prompt, a word that has no id, and action 0. Action a is id 3 + a."""
END = 0
"""The action that ends the answer."""

CHUNK = re.compile(r"\s?\S+|\s")
PART = re.compile(r"\s?</?\w+>|\w+|\s|[^\w\s]")  # of a chunk that is too rare to be a piece as a whole
WORD = re.compile(r"</?\w+>|\w+|[^\w\s]")  # of a prompt
PRINTABLE = tuple(map(chr, (10, *range(32, 127))))


@dataclass(frozen=True)
class Vocabulary:
    """What can be written and what can be seen. Nothing in it depends on one problem.

    Actions are numbered: 0 ends the answer, then come `pieces`, then `copies` slots. Slot j of a problem holds the j-th
    distinct word of its prompt that has no id of its own, so names that no vocabulary knows can be written all the
    same. In observations ids are those of the actions (plus 3), then of `prompt_words` and `constant_lines`, which are
    seen but not written.
    """

    pieces: tuple[str, ...]
    """Texts that an action appends to the answer."""
    prompt_words: tuple[str, ...] = ()
    """Frequent words of the prompts that are no pieces."""
    constant_lines: tuple[str, ...] = ()
    """Lines that every prompt has. Each is one token, which keeps the place of the lines between them."""
    copies: int = 0
    """Number of slots."""
    longest_prompt: int = 0
    """Tokens in the longest prompt that was looked at."""
    longest_answer: int = 0
    """Tokens in the longest demonstration that was looked at; 0 where none was."""

    @property
    def num_actions(self) -> int:
        return 1 + len(self.pieces) + self.copies

    @property
    def num_ids(self) -> int:
        return FIRST_ACTION + self.num_actions + len(self.prompt_words) + len(self.constant_lines)

    @cached_property
    def _actions(self) -> dict[str, int]:
        return {piece: 1 + i for i, piece in enumerate(self.pieces)}

    @cached_property
    def _word_ids(self) -> dict[str, int]:
        """Word of a prompt -> id. A piece with a space before it stands for its word where the bare word is none."""
        first = FIRST_ACTION + self.num_actions
        ids = {word: first + i for i, word in enumerate((*self.prompt_words, *self.constant_lines))}
        ids |= {p.strip(): FIRST_ACTION + a for p, a in self._actions.items() if p.strip()}
        return ids | {p: FIRST_ACTION + a for p, a in self._actions.items()}

    def prompt_tokens(self, prompt: str) -> tuple[list[int], tuple[str, ...]]:
        """The ids of a prompt's words, and the words in its copy slots (at most `copies`)."""
        words = _words(prompt, self.constant_lines)
        known = self._word_ids
        rare = tuple(dict.fromkeys(w for w in words if w not in known and w[0].isalnum()))[: self.copies]
        slots = {w: FIRST_ACTION + 1 + len(self.pieces) + j for j, w in enumerate(rare)}
        return [known.get(w) or slots.get(w, UNKNOWN) for w in words], rare

    def encode(self, text: str, slots: Sequence[str] = ()) -> list[int]:
        """The fewest actions that write `text` (without the end action), the longer piece first where that is a choice.

        Raises:
            ValueError: no sequence of pieces and `slots` writes it; the message shows where it stops.
        """
        table = {word: 1 + len(self.pieces) + j for j, word in enumerate(slots) if word} | self._actions
        longest = max(map(len, table), default=0)
        never = len(text) + 1
        cost = [never] * len(text) + [0]  # fewest actions that write text[i:]
        choice = [0] * len(text)
        for i in reversed(range(len(text))):
            for j in range(min(len(text), i + longest), i, -1):
                if cost[j] + 1 < cost[i] and text[i:j] in table:
                    cost[i], choice[i] = cost[j] + 1, j
        if text and cost[0] >= never:
            raise ValueError(self._cannot_write(text, table, longest))
        actions, i = [], 0
        while i < len(text):
            actions.append(table[text[i : choice[i]]])
            i = choice[i]
        return actions

    def _cannot_write(self, text: str, table: dict[str, int], longest: int) -> str:
        reached = [0]
        seen = set(reached)
        for i in reached:
            ends = {j for j in range(i + 1, min(len(text), i + longest) + 1) if text[i:j] in table} - seen
            seen |= ends
            reached += sorted(ends)
        at = max(seen)
        return (
            f"no piece of the vocabulary goes on with {text[at : at + 20]!r} at character {at} of {text[:60]!r}; add "
            "the pieces it needs, or derive the vocabulary with spell=True, or allow more copies"
        )


def given_vocabulary(
    pieces: Iterable[str], task: Task[Any], *, copies: int = 0, common: float = 0.05, samples: int = 1000
) -> Vocabulary:
    """A vocabulary of these pieces, with the ids that the prompts of `task` need besides.

    The other arguments are those of `derive_vocabulary`; without `copies` nothing is copied.

    Raises:
        ValueError: no pieces, an empty one, one that is not a text, or one twice.
    """
    listed = tuple(pieces) if not isinstance(pieces, str) else ()
    if not listed or not all(isinstance(p, str) and p for p in listed) or len(set(listed)) < len(listed):
        raise ValueError(f"vocabulary: needs a list of different, non-empty texts, not {pieces!r:.200}")
    prompts = [prompt_text(task.messages(task[i])) for i in range(min(len(task), samples))]
    return _with_prompts(listed, prompts, copies, common)


def derive_vocabulary(
    task: Task[Any], *, copies: int | None = None, common: float = 0.05, samples: int = 1000, spell: bool | None = None
) -> Vocabulary:
    """The vocabulary that writes the demonstrations of a task's problems. The same arguments give the same one.

    A chunk (a word with the space before it) that occurs in the demonstrations of a share `common` of the problems is a
    piece. Of a rarer one the parts are (tags, words, single signs), unless the part is a rare word of the problem's
    prompt: that is copied. So every demonstration that was looked at can be written.

    Args:
        task: problems to look at; those of the training split.
        copies: number of slots for rare words of a prompt; default as many as the richest of the prompts needs.
        common: share of the problems, in (0, 1].
        samples: how many demonstrations to look at, in turn from each of the (at most so many first) problems.
        spell: add every printable ASCII character and the new line as pieces, so that any ASCII text can be written.
            Default: if a part was needed in one problem only. Then more will be that were not looked at: their expected
            share is that of the parts seen once (Good 1953, "The population frequencies of species").

    Raises:
        NotImplementedError: the task has no demonstrations.
        ValueError: an argument out of its range; or so few `copies` that a demonstration cannot be written.
    """
    check_whole("samples", samples, 1)
    if not 0 < common <= 1:
        raise ValueError(f"common must be a share in (0, 1], not {common!r}")
    problems = min(len(task), samples)
    prompts = [prompt_text(task.messages(task[i])) for i in range(problems)]
    # A string seeds Random through SHA-512: the same draws in every process.
    draws = [range(i, samples, problems) for i in range(problems)]
    texts = [[task.demonstration(task[i], Random(f"vocabulary {j}")) for j in js] for i, js in enumerate(draws)]
    least = common * problems

    pieces = _frequent(({c for t in ts for c in CHUNK.findall(t)} for ts in texts), least)
    rare_parts = [{p for t in ts for c in CHUNK.findall(t) if c not in pieces for p in PART.findall(c)} for ts in texts]
    pieces |= _frequent(rare_parts, least)
    in_prompts = [set(_words(prompt)) for prompt in prompts]
    spelled = {piece.strip() for piece in pieces} | _frequent(in_prompts, least)
    needed = [
        {p for p in parts - pieces if p not in words or p in spelled or not p[0].isalnum()}
        for parts, words in zip(rare_parts, in_prompts, strict=True)
    ]
    if spell or (spell is None and 1 in Counter(p for parts in needed for p in parts).values()):
        pieces |= set(PRINTABLE)
    pieces = pieces.union(*needed)
    vocabulary = _with_prompts(tuple(sorted(pieces)), prompts, copies, common)
    slots = [vocabulary.prompt_tokens(prompt)[1] for prompt in prompts]
    longest = max(len(vocabulary.encode(t, words)) for words, ts in zip(slots, texts, strict=True) for t in ts)
    return _replaced(vocabulary, longest_answer=longest)


def _with_prompts(pieces: tuple[str, ...], prompts: list[str], copies: int | None, common: float) -> Vocabulary:
    """Adds what the prompts need: constant lines, frequent words, and as many slots as the richest prompt fills."""
    if copies is not None:
        check_whole("copies", copies, 0)
    lines = [set(prompt.splitlines()) for prompt in prompts]
    constant = tuple(sorted(set.intersection(*lines) - {""}))
    words = [set(_words(prompt, constant)).difference(constant) for prompt in prompts]
    known = {piece.strip() for piece in pieces}
    signs = {w for ws in words for w in ws if not w[0].isalnum()}  # never copied, so that each has an id
    frequent = (_frequent(words, common * len(prompts)) | signs) - known - set(pieces)
    every = Vocabulary(pieces, tuple(sorted(frequent)), constant, copies=max(map(len, words)))
    tokens = [every.prompt_tokens(prompt) for prompt in prompts]
    longest = max(len(ids) for ids, _ in tokens)
    needed = max(len(slots) for _, slots in tokens)
    return _replaced(every, copies=needed if copies is None else copies, longest_prompt=longest)


def _replaced(vocabulary: Vocabulary, **changes: Any) -> Vocabulary:
    facts = {name: getattr(vocabulary, name) for name in Vocabulary.__dataclass_fields__}  # not the cached properties
    return Vocabulary(**facts | changes)


def _words(prompt: str, constant_lines: Sequence[str] = ()) -> list[str]:
    """The words, tags, signs and line ends of a prompt; a constant line as a whole."""
    words: list[str] = []
    for line in prompt.splitlines():
        words += [line] if line in constant_lines else WORD.findall(line)
        words.append("\n")
    return words[:-1]


def _frequent(sets: Iterable[set[str]], least: float) -> set[str]:
    counts = Counter(item for items in sets for item in items)
    return {item for item, n in counts.items() if n >= least}
