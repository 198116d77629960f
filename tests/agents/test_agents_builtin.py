"""The built-in policy: a lossless tokenizer whose tokens are the task's words, and its warm start."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from docs_helpers import program
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import LlamaForCausalLM, PreTrainedModel, PreTrainedTokenizerFast

from agents.builtin import END, MIN_PHRASE, build_model, build_tokenizer
from agents.demonstrations import demonstration_facts, examples
from agents.policy import Policy, load_policy
from agents.warm_start import EPOCHLESS, WarmStartConfig, encode, learn_to_copy, warm_start
from vpo_envs.answers import split_response
from vpo_envs.maze import MazeTask
from vpo_envs.registration import make_task

SIZE = 5
PIECES = [
    "<answer>",
    "</answer>",
    "<route_1>",
    "</route_3>",
    " UP",
    "LEFT",
    " (0,1)",
    "\n",
    " ",
    "<",
    "Ġ",
    END,
    "<|pad|>",
]


def pairs_of(task: Any, num_answers: int, count: int, start: int = 0) -> list[tuple[Any, str]]:
    return list(islice(examples(task, Random(9), num_answers, start), count))


def tokens_of(tokenizer: PreTrainedTokenizerFast, text: str) -> list[int]:
    return list(tokenizer(text)["input_ids"])


def test_a_share_of_the_prompts_asks_for_weights() -> None:
    task = make_task("vpo/Code-v0", problems="rules", num_problems=10**6)
    pairs = list(islice(examples(task, Random(0), 1, weighted=0.25), 400))
    asked = [re.findall(r"(test_\d+) (\d+)%", m[-1]["content"]) for m, _ in pairs if "What counts" in m[-1]["content"]]
    assert len(asked) / len(pairs) == pytest.approx(0.25, abs=0.07)
    real = [[f"test_{i + 1}" for i in range(int(task.objective_mask(task[p]).sum()))] for p in range(400)]
    assert all([name for name, _ in line] in real for line in asked)
    assert all(sum(int(percent) for _, percent in line) == pytest.approx(100, abs=8) for line in asked)
    tokenizer = build_tokenizer(task, (1,), samples=400, weighted=0.25)
    assert len(tokens_of(tokenizer, pairs[0][0][-1]["content"])) < 80


def test_examples_hold_distinct_answers_to_their_problems(maze_task: Any) -> None:
    for index, (messages, response) in enumerate(pairs_of(maze_task, 3, 20)):
        answers = split_response(maze_task, response, 3)
        assert None not in answers  # a repeated answer would be None
        assert messages == maze_task.messages(maze_task[index], 3)
        assert all(maze_task.score(maze_task[index], answer)[0] == 1 for answer in answers)


def test_prompts_and_demonstrations_survive_the_tokenizer(maze_task: Any, tokenizer: PreTrainedTokenizerFast) -> None:
    for num_answers in (1, 2, 3):
        for messages, response in pairs_of(maze_task, num_answers, 30, start=5000):
            for text in (messages[0]["content"], response):
                assert tokenizer.decode(tokens_of(tokenizer, text)) == text


@settings(max_examples=200, deadline=None)
@given(text=st.lists(st.text() | st.sampled_from(PIECES)).map("".join))
def test_any_text_survives_the_tokenizer(tokenizer: PreTrainedTokenizerFast, text: str) -> None:
    assert tokenizer.decode(tokens_of(tokenizer, text)) == text


def test_every_cell_and_every_move_is_one_token(tokenizer: PreTrainedTokenizerFast) -> None:
    for move in ("UP", "DOWN", "LEFT", "RIGHT"):
        assert len(tokens_of(tokenizer, move)) == 1
        assert len(tokens_of(tokenizer, f" {move}")) == 1
    for row in range(SIZE):
        for column in range(SIZE):
            assert len(tokens_of(tokenizer, f" ({row},{column})")) == 1


def test_constant_lines_and_tags_are_one_token(maze_task: Any, tokenizer: PreTrainedTokenizerFast) -> None:
    for num_answers in (1, 3):
        prompts = [messages[0]["content"].splitlines() for messages, _ in pairs_of(maze_task, num_answers, 40)]
        constant = [line for line in set.intersection(*map(set, prompts)) if len(line) >= MIN_PHRASE]
        assert len(constant) >= 5
        assert [len(tokens_of(tokenizer, line)) for line in constant] == [1] * len(constant)
    for tag in ("<answer>", "</answer>", "<route_1>", "</route_3>"):
        assert len(tokens_of(tokenizer, tag)) == 1


def test_a_tile_stands_at_the_same_place_in_every_prompt(maze_task: Any, policy: Policy) -> None:
    """That is what lets a tiny model with absolute positions read the grid."""
    places = set()
    for messages, _ in pairs_of(maze_task, 3, 40):
        ids = policy.prompt_ids(messages)
        grid = "\n".join(messages[0]["content"].splitlines()[2 : 2 + SIZE])
        pieces = [policy.tokenizer.decode([i]) for i in ids]
        starts = [i for i in range(len(pieces)) if "".join(pieces[i : i + SIZE * (SIZE + 1) - 1]) == grid]
        places.add((len(ids), *starts))
    assert len(places) == 1
    assert len(places.pop()) == 2


def test_encoded_examples_are_labelled_on_the_response_only(maze_task: Any, policy: Policy) -> None:
    pairs = pairs_of(maze_task, 1, 3) + pairs_of(maze_task, 3, 2)
    ids, mask, labels = encode(policy.tokenizer, pairs)
    lengths = []
    for i, (messages, response) in enumerate(pairs):
        prompt = policy.prompt_ids(messages)  # what the trained policy will be asked with
        answer = tokens_of(policy.tokenizer, response + END)
        pad = ids.shape[1] - len(prompt) - len(answer)
        assert ids[i].tolist() == prompt + answer + [policy.tokenizer.pad_token_id] * pad
        assert mask[i].tolist() == [1] * (len(prompt) + len(answer)) + [0] * pad
        assert labels[i].tolist() == [-100] * len(prompt) + answer + [-100] * pad
        lengths.append(len(prompt) + len(answer))
    assert ids.shape == (5, max(lengths))
    assert min(lengths) < max(lengths)


@torch.no_grad()
def loss_of(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, pairs: list[tuple[Any, str]]) -> float:
    ids, mask, labels = encode(tokenizer, pairs)
    return float(model(input_ids=ids, attention_mask=mask, labels=labels).loss)


SHORT = WarmStartConfig(env_args=("size=5", "slack=4"), steps=40, batch=16, lr=3e-2, layers=2, width=32, context=300)


@pytest.fixture(autouse=True)
def _global_generator() -> Iterator[None]:
    """A warm start seeds torch's global generator; other tests shall not notice."""
    with torch.random.fork_rng(devices=[]):
        yield


def test_a_short_warm_start_learns(maze_task: Any) -> None:
    made = warm_start(SHORT)
    model, tokenizer = made.model, made.tokenizer
    assert (model.config.n_layer, model.config.n_embd, model.config.n_positions) == (2, 32, 300)
    assert len(made.losses) == 1  # one mean per 50 steps
    untrained = build_model(tokenizer, layers=2, width=32, context=300)
    for num_answers in (1, 3):
        unseen = pairs_of(maze_task, num_answers, 20, start=900_000)
        assert loss_of(model, tokenizer, unseen) < 0.7 * loss_of(untrained, tokenizer, unseen)


def test_a_warm_start_repeats_itself() -> None:
    a, b, other = (warm_start(replace(SHORT, seed=seed), stop_after=2) for seed in (0, 0, 1))
    assert a.losses == b.losses != other.losses
    for p, q in zip(a.model.parameters(), b.model.parameters(), strict=True):
        assert torch.equal(p, q)


class Stubborn(MazeTask):
    """Always demonstrates the same, up to a problem."""

    def demonstration(self, problem: Any, rng: Random) -> str:
        return "UP"


def test_demonstrations_that_never_differ_are_an_error_and_no_endless_loop() -> None:
    task = Stubborn(size=5, slack=4, num_problems=7)
    assert len(pairs_of(task, 1, 10)) == 10
    with pytest.raises(ValueError, match="Stubborn: of 6 demonstrations of a problem never 3 differed, in 7 problems"):
        pairs_of(task, 3, 1)
    with pytest.raises(ValueError, match="never 3 differed, in 1000 problems"):
        build_tokenizer(Stubborn(size=5, slack=4, num_problems=10**9))


def test_a_few_problems_without_such_demonstrations_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    task = MazeTask(size=5, slack=4, num_problems=4)
    hard, careless = task[2], MazeTask.demonstration
    monkeypatch.setattr(MazeTask, "demonstration", lambda self, p, rng: "UP" if p == hard else careless(self, p, rng))
    asked = [messages for messages, _ in pairs_of(task, 3, 6)]
    assert asked == [task.messages(task[i], 3) for i in (0, 1, 3, 0, 1, 3)]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"steps": 0}, "--steps must be at least 1, not 0"),
        ({"batch": 0}, "--batch must be at least 1, not 0"),
        ({"answers": ()}, "--answers takes one or more whole numbers of at least 1"),
        ({"answers": (3, 0)}, "--answers takes one or more whole numbers of at least 1"),
        ({"context": 60}, r"an example, prompt and answers, has \d+ tokens, the context 60; raise --context"),
        ({"width": 30}, "--width must be a multiple of --heads"),
        ({"previous_token_heads": 1}, "--previous-token-heads needs --positions rotary"),
        ({"previous_token_heads": 5, "positions": "rotary"}, "--previous-token-heads must be from 0 to --heads, not 5"),
        ({"copy_steps": -1}, "--copy-steps must be at least 0, not -1"),
        ({"copy_repeats": True}, "--copy-repeats needs --copy-steps"),
        ({"weighted": 1.5}, "--weighted must be from 0 to 1, not 1.5"),
        ({"prompt_weight": -1.0}, "--prompt-weight must be from 0 to 10, not -1.0"),
        ({"env_args": ("colour=5",)}, "vpo/Maze-v0 cannot be made: .*'colour'"),
        ({"env_args": ("size=5", "slack=8")}, "with size 5 and slack 8 both"),
    ],
)
def test_bad_options_are_refused_before_training(
    options: dict[str, Any], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.optim, "AdamW", None)  # whoever trains needs it
    with pytest.raises(ValueError, match=complaint):
        warm_start(replace(SHORT, **options))


def test_a_longer_example_during_training_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.warm_start.PROBED", 1)
    lengths = [encode_length(SHORT, m) for m in (1, 3)]
    with pytest.raises(ValueError, match=f"tokens, the context {max(lengths)}; raise --context"):
        warm_start(replace(SHORT, context=max(lengths)))


def encode_length(config: WarmStartConfig, num_answers: int) -> int:
    """Tokens of the first example that a warm start looks at."""
    task = MazeTask(size=5, slack=4, num_problems=EPOCHLESS)
    first = list(islice(examples(task, Random(num_answers), num_answers), 1))
    return encode(build_tokenizer(task, config.answers), first)[0].shape[1]


def test_the_users_number_of_problems_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[int] = set()
    original = MazeTask.__getitem__

    def noted(self: MazeTask, index: int) -> Any:
        asked.add(index)
        return original(self, index)

    monkeypatch.setattr(MazeTask, "__getitem__", noted)
    warm_start(replace(SHORT, env_args=(*SHORT.env_args, "num_problems=5")), stop_after=1)
    assert asked == set(range(5))
    warm_start(SHORT, stop_after=2)
    assert max(asked) > 10**6


def test_the_example_task_of_the_documentation_can_be_warm_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sentence.py").write_text(program("new_task.md", "sentence.py"))
    monkeypatch.syspath_prepend(tmp_path)
    try:
        made = warm_start(WarmStartConfig(env="sentence:my/Sentence-v0", steps=3, batch=8, layers=1, width=32))
        assert len(made.losses) == 1
        assert made.tokenizer.decode(tokens_of(made.tokenizer, "Near the stone")) == "Near the stone"
    finally:
        gym.registry.pop("my/Sentence-v0", None)
        sys.modules.pop("sentence", None)


def test_the_facts_about_demonstrations_are_those_of_their_rewards() -> None:
    task = MazeTask(size=5, slack=4)
    facts = demonstration_facts(task, problems=20, draws=4)
    rng = Random(0)
    rewards = np.array(
        [[task.score(task[i], task.demonstration(task[i], rng)) for _ in range(4)] for i in range(20)]
    )  # (P, draws, k)
    assert list(facts["mean"].values()) == pytest.approx(rewards.mean((0, 1)), abs=1e-3)
    assert facts["perfect"] == pytest.approx((rewards == 1).all(-1).mean(), abs=1e-3)
    assert facts["no_perfect"] == 1  # not one route has both treasures
    assert facts["correlation"][1][2] < 0  # gold or diamonds
    assert json.loads(json.dumps(facts)) == facts


def test_the_prompt_is_learned_beside_the_response_and_not_reported() -> None:
    plain, both = (warm_start(replace(SHORT, prompt_weight=weight), stop_after=1) for weight in (0.0, 1.0))
    assert both.losses == plain.losses  # the first step's loss is of the same weights, and of responses only
    changed = [not torch.equal(p, q) for p, q in zip(plain.model.parameters(), both.model.parameters(), strict=True)]
    assert any(changed)


def test_a_policy_with_rotary_positions_learns_and_loads(tmp_path: Path) -> None:
    made = warm_start(replace(SHORT, positions="rotary", steps=60), stop_after=60)
    assert type(made.model) is LlamaForCausalLM
    assert made.losses[-1] < 0.8 * made.losses[0]
    made.model.save_pretrained(tmp_path)
    made.tokenizer.save_pretrained(tmp_path)
    loaded = load_policy(str(tmp_path), torch.device("cpu"), torch.float32)
    ids = torch.tensor([loaded.prompt_ids([{"role": "user", "content": "Plan a route from S to E."}])])
    with torch.inference_mode():
        assert torch.equal(loaded.model(ids).logits, made.model(ids).logits)


def test_heads_of_a_rotary_policy_start_by_looking_one_and_two_tokens_back(maze_task: Any) -> None:
    model = build_model(
        build_tokenizer(maze_task, samples=40), context=64, positions="rotary", previous_token_heads=2
    ).eval()
    model.set_attn_implementation("eager")
    ids = torch.randint(200, (3, 40), generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        attention = model(ids, output_attentions=True).attentions[0]  # (batch, heads, query, key)
    assert attention[:, 0].diagonal(offset=-1, dim1=-2, dim2=-1).min() > 0.9
    assert attention[:, 1].diagonal(offset=-2, dim1=-2, dim2=-1).min() > 0.9
    assert attention[:, 2:].diagonal(offset=-1, dim1=-2, dim2=-1).mean() < 0.3


def test_a_policy_learns_to_copy_what_it_never_saw() -> None:
    """In a few hundred steps, from the head that looks at the previous token: who does not copy has log 64 at best."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        tokenizer = build_tokenizer(MazeTask(size=5, slack=4, num_problems=100), samples=60)
        model = build_model(tokenizer, width=64, heads=2, layers=2, context=96, positions="rotary",
                            previous_token_heads=1)  # fmt: skip
        losses = learn_to_copy(model, 64, WarmStartConfig(copy_steps=250, context=96))
    assert sum(losses[-20:]) / 20 < 0.92 * math.log(64)
