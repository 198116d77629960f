"""A real vLLM engine samples as it says: log-probabilities, seeds, ends, and nothing else is disturbed."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest
import torch
from agents_helpers import end_ids, full_logits
from scipy.stats import chisquare
from transformers import PreTrainedModel
from vllm_helpers import CLOSE, CONTEXT, build_engine, largest_error, load_model, prompts_for

from agents.generation import Generator, Sampling
from agents.schedule import seeds_of

pytestmark = [pytest.mark.usefixtures("needs_vllm"), pytest.mark.slow]


def program_state() -> tuple[object, ...]:
    """Everything of the program that an engine could disturb."""
    (_, numpy_state, *place) = np.random.get_state()  # noqa: NPY002
    threads = torch.get_num_threads(), torch.set_num_threads
    return torch.get_rng_state().tolist(), numpy_state.tolist(), place, random.getstate(), threads, dict(os.environ)


@pytest.fixture(scope="module")
def maze(needs_vllm: None) -> Iterator[tuple[PreTrainedModel, Generator]]:
    """The shipped policy of the maze and an engine that serves it. Its weights stay."""
    model = load_model("Maze-v0")
    before = program_state()
    generator = build_engine(model)
    assert program_state() == before
    yield model, generator
    generator.close()


@pytest.mark.parametrize("sampling", [Sampling(10, 0.6), Sampling(10, 1.0), Sampling(10, 1.7), Sampling(10, 0.9, 0.6)])
def test_log_probabilities_are_those_of_the_distribution_sampled_from(
    maze: tuple[PreTrainedModel, Generator], sampling: Sampling
) -> None:
    model, generator = maze
    prompts = prompts_for(model)
    done = generator.generate(prompts, 5, sampling, seeds_of([1], 4))
    assert [len(group) for group in done] == [5] * 4
    assert largest_error(model, prompts, done, sampling) < CLOSE


def test_frequencies_of_first_tokens_are_the_models_probabilities(maze: tuple[PreTrainedModel, Generator]) -> None:
    """The n responses to a prompt are seeded one after the other; that leaves no trace."""
    model, generator = maze
    (prompt,) = prompts_for(model, (7,))
    draws = 3000
    (group,) = generator.generate([prompt], draws, Sampling(1, 2.0), seeds_of([0], 1))
    with torch.no_grad():
        p = (full_logits(model, prompt, [0])[0].double() / 2).softmax(-1).numpy()
    counts = np.bincount([c.token_ids[0] for c in group], minlength=len(p))
    rare = p * draws < 5  # pooled, as the test's approximation demands
    assert (~rare).sum() > 10
    observed, expected = [*counts[~rare], counts[rare].sum()], [*(p[~rare] * draws), p[rare].sum() * draws]
    assert chisquare(observed, expected).pvalue > 1e-4


def test_a_prompt_samples_the_same_in_any_company(maze: tuple[PreTrainedModel, Generator]) -> None:
    model, generator = maze
    prompts, seeds = prompts_for(model), seeds_of([3], 4)
    together = generator.generate(prompts, 3, Sampling(20), seeds)
    assert generator.generate(prompts, 3, Sampling(20), seeds) == together  # again, out of the cache
    tokens = [[c.token_ids for c in group] for group in together]
    backwards = generator.generate(prompts[::-1], 3, Sampling(20), seeds[::-1])
    assert [[c.token_ids for c in group] for group in backwards[::-1]] == tokens
    for prompt, seed, expected in zip(prompts, seeds, tokens, strict=True):
        (alone,) = generator.generate([prompt], 3, Sampling(20), [seed])
        assert [c.token_ids for c in alone] == expected


def test_equal_prompts_and_their_responses_have_noise_of_their_own(maze: tuple[PreTrainedModel, Generator]) -> None:
    model, generator = maze
    (prompt,) = prompts_for(model, (9,))
    done = generator.generate([prompt] * 4, 3, Sampling(12, 2.0), seeds_of([5], 4))
    assert len({tuple(c.token_ids) for group in done for c in group}) == 12


def test_responses_end_at_an_end_token_or_at_the_limit(maze: tuple[PreTrainedModel, Generator]) -> None:
    model, generator = maze
    ends = set(end_ids(model))
    done = generator.generate(prompts_for(model), 16, Sampling(15, 2.0), seeds_of([4], 4))
    completions = [c for group in done for c in group]
    assert {c.finish_reason for c in completions} == {"stop", "length"}
    for c in completions:
        assert not ends & set(c.token_ids[:-1])
        assert (c.token_ids[-1] in ends) == (c.finish_reason == "stop")
        assert c.finish_reason == "stop" or len(c.token_ids) == 15
        assert len(c.logprobs) == len(c.token_ids)


def test_prompts_are_handed_over_as_they_get_done(maze: tuple[PreTrainedModel, Generator]) -> None:
    """Reading only the first few leaves an engine that works as before."""
    model, generator = maze
    prompts, seeds = prompts_for(model, (9,) * 200), seeds_of([6], 200)  # more than 64 responses side by side
    expected = generator.generate(prompts, 1, Sampling(20), seeds)
    stream = generator.stream(prompts, 1, Sampling(20), seeds)
    for place, group in islice(stream, 3):
        assert group == expected[place]
        assert place < 64
    stream.close()
    assert generator.generate(prompts, 1, Sampling(20), seeds) == expected


def test_the_programs_random_numbers_and_threads_are_left_alone(maze: tuple[PreTrainedModel, Generator]) -> None:
    """That building leaves them alone as well is asserted by the fixture."""
    model, generator = maze
    before = program_state()
    for _ in generator.stream(prompts_for(model), 2, Sampling(5), seeds_of([0], 4)):
        assert program_state() == before
    generator.sync(model)
    assert program_state() == before


def test_what_the_engine_cannot_do_is_refused_and_it_works_on(maze: tuple[PreTrainedModel, Generator]) -> None:
    model, generator = maze
    prompts = prompts_for(model, (5, CONTEXT - 9))
    with pytest.raises(ValueError, match=r"prompt 1 has 247 tokens and responses up to 10, .* built for 256 together"):
        generator.generate(prompts, 1, Sampling(10), [0, 0])
    with pytest.raises(ValueError, match=r"temperatures up to 2, not 2\.5"):
        generator.generate(prompts, 1, Sampling(9, 2.5), [0, 0])
    assert len(generator.generate(prompts, 1, Sampling(9), [0, 0])) == 2
