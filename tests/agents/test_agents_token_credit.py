"""Which answer a token belongs to, for tokenizers that cut texts in different ways."""

from __future__ import annotations

from itertools import islice, pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from agents.builtin import END
from agents.config import parse_pairs
from agents.demonstrations import examples
from agents.environment import Environment
from agents.generation import Sampling, TransformersGenerator
from agents.policy import builtin_folder, load_policy
from agents.presets import LAPTOP
from agents.rollout import collect, together
from agents.token_credit import AnswerTokens
from vpo_envs.answers import answer_spans
from vpo_envs.registration import make_task

REMARKS = "Zwölf Züge – 走迷宫 🧭🧭 <route_1>⬆️ UP</route_1> 🏁\n\n<route_2>é</route_2><route_3>DOWN🏳️‍🌈</route_3>ﬁn."


def decoder(tokenizer: Any) -> Any:
    return lambda ids: tokenizer.decode(list(ids), skip_special_tokens=True)


def reference(tokenizer: Any, ids: list[int], text: str, spans: list[tuple[int, int] | None]) -> list[int]:
    """Every prefix decoded: a token belongs where its last character stands, without any where the next one does."""
    decode = decoder(tokenizer)

    def common(prefix: str) -> int:
        shorter = min(len(prefix), len(text))
        return next((i for i in range(shorter) if prefix[i] != text[i]), shorter)

    read = [common(decode(ids[:i])) for i in range(len(ids) + 1)]
    places = [end - 1 if end > start else start for start, end in pairwise(read)]
    return [
        next((j for j, span in enumerate(spans, start=1) if span is not None and span[0] <= place < span[1]), 0)
        for place in places
    ]


def assert_credited(tokenizer: Any, task: Any, text: str, num_answers: int, end: str) -> list[int]:
    """The tokens of every answer spell the answer's element, and agree with the reference."""
    # Elements with white space between them: "><" may be one token.
    ids = list(tokenizer(text + end)["input_ids"])
    assert decoder(tokenizer)(ids) == text
    spans = answer_spans(task, text, num_answers)
    parts = AnswerTokens(decoder(tokenizer)).parts(ids, text, spans)
    assert parts == reference(tokenizer, ids, text, spans)
    for j, span in enumerate(spans, start=1):
        own = decoder(tokenizer)([token for token, part in zip(ids, parts, strict=True) if part == j])
        assert own.strip() == ("" if span is None else text[slice(*span)])
    assert parts[-1] == 0  # the end token
    return parts


@pytest.mark.parametrize("env", ["vpo/Maze-v0", "vpo/ToolRL-v0", "vpo/Code-v0"])
def test_a_built_in_policy_on_demonstrations(env: str) -> None:
    args = parse_pairs(LAPTOP[env].env_args, "env_args")
    tokenizer = AutoTokenizer.from_pretrained(builtin_folder(env, args))
    task = make_task(env, **args)
    for _, response in islice(examples(task, Random(0), 3), 5):
        assert set(assert_credited(tokenizer, task, response, 3, END)) >= {1, 2, 3}


def test_byte_level_bpe(smollm2: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(smollm2)
    task = make_task("vpo/Maze-v0", size=5, slack=4, num_problems=10)
    for _, response in islice(examples(task, Random(0), 3), 5):
        assert_credited(tokenizer, task, response, 3, "<|im_end|>")
        assert_credited(tokenizer, task, f"I go. {response}\n\nThat is all.", 3, "<|im_end|>")


def test_characters_of_several_tokens_and_tokens_of_two_parts(smollm2: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(smollm2)
    ids = tokenizer(REMARKS)["input_ids"]
    spans = answer_spans(make_task("vpo/Maze-v0", size=5, slack=4, num_problems=10), REMARKS, 3)
    parts = AnswerTokens(decoder(tokenizer)).parts(ids, REMARKS, spans)
    assert parts == reference(tokenizer, ids, REMARKS, spans)
    own = [decoder(tokenizer)([token for token, part in zip(ids, parts, strict=True) if part == j]) for j in (1, 2, 3)]
    # A space before a tag goes with the tag, and of "><" the later answer gets both.
    assert own == [" <route_1>⬆️ UP</route_1>", "<route_2>é</route_2", "><route_3>DOWN🏳️‍🌈</route_3>"]


def test_any_tokens_of_a_byte_level_bpe(smollm2: Path) -> None:
    """Halves of characters, special tokens in the middle, tags among them."""
    tokenizer = AutoTokenizer.from_pretrained(smollm2)
    task = make_task("vpo/Maze-v0", size=5, slack=4, num_problems=10)
    rng = Random(0)
    pieces = [
        tokenizer(piece)["input_ids"] for piece in ("<route_1>", "</route_1>", " <route_2>", "</route_2>\n", "🧭")
    ]
    found = 0
    for _ in range(60):
        ids = [
            token
            for _ in range(12)
            for token in (rng.choice(pieces) if rng.random() < 0.6 else [rng.randrange(len(tokenizer))])
        ]
        ids = [token for token in ids if rng.random() < 0.97]
        text = decoder(tokenizer)(ids)
        spans = answer_spans(task, text, 2)
        found += sum(span is not None for span in spans)
        assert AnswerTokens(decoder(tokenizer)).parts(ids, text, spans) == reference(tokenizer, ids, text, spans)
    assert found > 5


def test_a_tokenizer_of_words() -> None:
    """Its decoder puts spaces between the words, which are no token's own text."""
    words = ["[UNK]", "[END]", "<route_1>", "</route_1>", "<route_2>", "</route_2>", "I", "go", "UP", "DOWN", "."]
    model = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    model.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=model, unk_token="[UNK]", eos_token="[END]")
    task = make_task("vpo/Maze-v0", size=5, slack=4, num_problems=10)
    text = "I go <route_1> UP UP </route_1> <route_2> DOWN </route_2> . I go ."
    parts = assert_credited(tokenizer, task, text, 2, " [END]")
    assert parts == [0, 0, 1, 1, 1, 1, 2, 2, 2, 0, 0, 0, 0, 0]


def test_no_answers_and_single_answers() -> None:
    texts = {1: "a", 2: "b", 3: ""}
    tokens = AnswerTokens(lambda ids: "".join(texts[i] for i in ids))
    assert tokens.parts([1, 2, 3], "ab", [None, None]) == [0, 0, 0]
    assert tokens.parts([], "", [None]) == []
    assert tokens.parts([1, 2, 3], "ab", [(0, 2)]) == [1, 1, 0]
    assert tokens.parts([1, 3, 2], "ab", [(0, 1), (1, 2)]) == [1, 2, 2]  # without text: where the next one stands


def test_rollouts_tell_the_parts_and_keep_them_when_they_are_joined() -> None:
    args = parse_pairs(LAPTOP["vpo/Maze-v0"].env_args, "env_args")
    policy = load_policy(str(builtin_folder("vpo/Maze-v0", args)), torch.device("cpu"), torch.float32)
    generator = TransformersGenerator(policy.model, policy.end_ids, policy.tokenizer.pad_token_id)

    def ask(places: list[int]) -> Any:
        environment = Environment("vpo/Maze-v0", args, 3)
        problems, seeds = [5, 2, 9], [0, 100, 200]
        chosen = [problems[i] for i in places], 2, Sampling(96), [seeds[i] for i in places]
        return collect(policy, generator, environment, *chosen, 256, parts=True), environment

    whole, environment = ask([0, 1, 2])
    for group, parts in zip(whole.completions, whole.parts, strict=True):
        for completion, own in zip(group, parts, strict=True):
            text = policy.decode(completion.token_ids)
            spans = environment.answer_spans(text)
            assert own == reference(policy.tokenizer, completion.token_ids, text, spans)
            assert {j for j, span in enumerate(spans, start=1) if span is not None} == set(own) - {0}
    assert sum(1 in own for group in whole.parts for own in group) >= 4
    joined = together([([2, 0], ask([2, 0])[0]), ([1], ask([1])[0])])
    assert joined.parts == whole.parts
