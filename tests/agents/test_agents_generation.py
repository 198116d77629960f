"""Sampling: the reported log-probabilities, independence from batching, ends, seeds."""

from __future__ import annotations

import math
import random
from dataclasses import astuple

import numpy as np
import pytest
import torch
from agents_helpers import end_ids, full_logits, random_prompts, reference_distribution, sample
from scipy.stats import chisquare
from transformers import DynamicCache, PreTrainedModel

from agents.generation import Completion, Sampling, TransformersGenerator, transformers_backend
from agents.generation.cache import ROOM, GrowingLayer, growing_cache
from agents.generation.transformers_backend import draw
from agents.schedule import seeds_of

SAMPLINGS = [
    Sampling(12),
    Sampling(12, temperature=0.7),
    Sampling(12, top_p=0.8),
    Sampling(12, temperature=1.5, top_p=0.5),
    Sampling(12, temperature=0),
]


def flat(groups: list[list[Completion]]) -> list[Completion]:
    return [completion for group in groups for completion in group]


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=lambda s: str(astuple(s)))
def test_logprobs_are_those_of_the_distribution_that_was_sampled(model: PreTrainedModel, sampling: Sampling) -> None:
    """Prompts of different lengths, so that most are padded; checked one by one, without padding or cache."""
    prompts = random_prompts(model.config.vocab_size)
    groups = sample(model, prompts, 3, sampling)
    for prompt, group in zip(prompts, groups, strict=True):
        for completion in group:
            with torch.no_grad():
                rows = full_logits(model, prompt, completion.token_ids).tolist()
            for token, logprob, row in zip(completion.token_ids, completion.logprobs, rows, strict=True):
                expected = reference_distribution(row, sampling.temperature, sampling.top_p)
                assert expected[token] > 0
                assert logprob == pytest.approx(math.log(expected[token]), abs=1e-4)
                if sampling.temperature == 0:
                    assert token == max(range(len(row)), key=row.__getitem__)


def test_greedy_agrees_with_transformers_own_greedy(model: PreTrainedModel) -> None:
    prompts = random_prompts(model.config.vocab_size)
    groups = sample(model, prompts, 1, Sampling(10, temperature=0))
    for prompt, (completion,) in zip(prompts, groups, strict=True):
        ids = torch.tensor([prompt])
        expected = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            max_new_tokens=10,
            eos_token_id=list(end_ids(model)),
            pad_token_id=0,
        )
        assert completion.token_ids == expected[0, len(prompt) :].tolist()


def assert_same(got: list[list[Completion]], expected: list[list[Completion]]) -> None:
    for a, b in zip(flat(got), flat(expected), strict=True):
        assert (a.token_ids, a.finish_reason) == (b.token_ids, b.finish_reason)
        assert a.logprobs == pytest.approx(b.logprobs, abs=1e-4)


@pytest.mark.parametrize("rows", [1, 4, 7])
def test_results_do_not_depend_on_how_the_work_is_cut(model: PreTrainedModel, rows: int) -> None:
    prompts = random_prompts(model.config.vocab_size, (5, 23, 1, 11, 5))
    at_once = sample(model, prompts, 3, Sampling(16))
    assert_same(sample(model, prompts, 3, Sampling(16), rows=rows), at_once)


def test_results_do_not_depend_on_when_finished_rows_leave(
    model: PreTrainedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = random_prompts(model.config.vocab_size)
    results = []
    for share in (0.0, 1.0):  # never; as soon as one has finished
        monkeypatch.setattr(transformers_backend, "COMPACT_BELOW", share)
        results.append(sample(model, prompts, 4, Sampling(16)))
    assert len({len(c.token_ids) for c in flat(results[0])}) > 3, "the completions must end at different times"
    assert_same(*results)


def test_seeds(families: dict[str, PreTrainedModel]) -> None:
    model = families["gpt2"]
    prompts = random_prompts(model.config.vocab_size)
    first, again, other = (sample(model, prompts, 3, Sampling(8), seed) for seed in (1, 1, 2))
    assert first == again
    assert all(a != b for a, b in zip(first, other, strict=True))
    assert all(len({tuple(c.token_ids) for c in group}) == 3 for group in first), "rollouts of a group must differ"


def test_global_random_state_and_training_mode_are_left_alone(families: dict[str, PreTrainedModel]) -> None:
    model = families["gpt2"]
    before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002
    model.train()
    try:
        completions = sample(model, random_prompts(model.config.vocab_size), 2, Sampling(4))
        assert model.training
    finally:
        model.eval()
    assert completions == sample(model, random_prompts(model.config.vocab_size), 2, Sampling(4))
    assert torch.equal(torch.get_rng_state(), before[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
    assert random.getstate() == before[2]


@pytest.mark.parametrize("max_tokens", [1, 2, 9])
def test_a_response_ends_with_an_end_token_or_at_the_limit(model: PreTrainedModel, max_tokens: int) -> None:
    ends = set(end_ids(model))
    completions = flat(sample(model, random_prompts(model.config.vocab_size), 8, Sampling(max_tokens)))
    for completion in completions:
        *inside, last = completion.token_ids
        assert len(completion.token_ids) == len(completion.logprobs) <= max_tokens
        assert not ends & set(inside)
        assert completion.finish_reason == ("stop" if last in ends else "length")
        assert completion.finish_reason == "stop" or len(completion.token_ids) == max_tokens
    if max_tokens == 9:
        assert {c.finish_reason for c in completions} == {"stop", "length"}


def test_what_a_prompt_samples_depends_on_its_own_seed_only(families: dict[str, PreTrainedModel]) -> None:
    model = families["llama"]
    prompts, seeds = random_prompts(model.config.vocab_size), [11, 22, 33, 44]
    generator = TransformersGenerator(model, end_ids(model), pad_id=0)
    together = generator.generate(prompts, 3, Sampling(8), seeds)
    backwards = generator.generate(prompts[::-1], 3, Sampling(8), seeds[::-1])
    alone = [generator.generate([p], 3, Sampling(8), [seed])[0] for p, seed in zip(prompts, seeds, strict=True)]
    assert_same(backwards[::-1], together)
    assert_same(alone, together)


def test_new_weights_are_used_after_sync(families: dict[str, PreTrainedModel]) -> None:
    model, other = families["llama"], families["qwen3"]
    generator = TransformersGenerator(model, end_ids(model), pad_id=0)
    prompts = random_prompts(model.config.vocab_size)
    generator.sync(other)
    seeds = seeds_of([0], len(prompts))
    assert generator.generate(prompts, 2, Sampling(6), seeds) == sample(other, prompts, 2, Sampling(6))


def test_frequencies_of_first_tokens_are_the_models_probabilities(families: dict[str, PreTrainedModel]) -> None:
    model = families["llama"]
    (prompt,) = random_prompts(model.config.vocab_size, (7,))
    draws = 5000
    tokens = [c.token_ids[0] for c in flat(sample(model, [prompt], draws, Sampling(1), rows=draws))]
    with torch.no_grad():
        p = full_logits(model, prompt, [0])[0].double().softmax(-1).numpy()
    counts = np.bincount(tokens, minlength=len(p))
    rare = p * draws < 5  # pooled, as the test's approximation demands
    observed = [*counts[~rare], counts[rare].sum()]
    expected = [*(p[~rare] * draws), p[rare].sum() * draws]
    assert len(observed) > 10
    assert chisquare(observed, expected).pvalue > 1e-4


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("top_p", [1.0, 0.9, 0.6, 0.05])
def test_draw_inverts_the_distribution(temperature: float, top_p: float) -> None:
    """At n equally spaced uniforms each token comes up n times its probability, rounded up or down."""
    logits = torch.tensor([0.3, -1.2, 2.0, 1.1, -torch.inf, 0.9, -4.0])
    n = 10_000
    uniform = (torch.arange(n, dtype=torch.float64) + 0.5) / n
    tokens, logprobs = draw(logits.expand(n, -1), Sampling(1, temperature, top_p), uniform)
    expected = reference_distribution(logits.tolist(), temperature, top_p)
    counts = torch.bincount(tokens, minlength=len(logits))
    for token, p in enumerate(expected):
        assert abs(int(counts[token]) - n * p) <= 1
        if p > 0:
            assert logprobs[tokens == token].tolist() == pytest.approx([math.log(p)] * int(counts[token]), abs=1e-6)


@pytest.mark.parametrize("top_p", [1.0, 0.7])
def test_draw_at_the_ends_of_the_unit_interval_stays_in_the_support(top_p: float) -> None:
    logits = torch.tensor([[-torch.inf, 1.0, 0.0, 2.0, -torch.inf]]).expand(2, -1)
    uniform = torch.tensor([0.0, 1 - 2**-53], dtype=torch.float64)
    tokens, logprobs = draw(logits, Sampling(1, top_p=top_p), uniform)
    assert tokens.tolist() == [1, 3]
    assert logprobs.isfinite().all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_tokens": 0}, "max_tokens must be at least 1, not 0"),
        ({"max_tokens": 1, "temperature": -0.1}, "temperature must be at least 0 and finite, not -0.1"),
        ({"max_tokens": 1, "temperature": math.nan}, "temperature must be at least 0 and finite, not nan"),
        ({"max_tokens": 1, "top_p": 0.0}, r"top_p must be in \(0, 1\], not 0.0"),
        ({"max_tokens": 1, "top_p": 1.1}, r"top_p must be in \(0, 1\], not 1.1"),
    ],
)
def test_impossible_sampling_is_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sampling(**options)


@torch.no_grad()
def test_growing_cache_gives_what_the_stock_cache_gives(model: PreTrainedModel) -> None:
    """Through a prompt, repeated rows, more tokens than one buffer holds, and rows that leave."""
    caches = growing_cache(model.config), DynamicCache(config=model.config)
    generator = torch.Generator().manual_seed(0)

    def step(rows: int, tokens: int) -> None:
        ids = torch.randint(5, model.config.vocab_size, (rows, tokens), generator=generator)
        a, b = (model(input_ids=ids, past_key_values=cache, use_cache=True).logits for cache in caches)
        torch.testing.assert_close(a, b, rtol=0, atol=1e-5)

    step(2, 9)
    for cache in caches:
        cache.batch_repeat_interleave(3)
    for _ in range(ROOM + 5):
        step(6, 1)
    for cache in caches:
        cache.batch_select_indices(torch.tensor([0, 2, 5]))
    for _ in range(3):
        step(3, 1)
    assert caches[0].get_seq_length() == caches[1].get_seq_length() == 9 + ROOM + 5 + 3
    for grown, stock in zip(caches[0].layers, caches[1].layers, strict=True):
        torch.testing.assert_close(grown.keys, stock.keys, rtol=0, atol=1e-5)
        torch.testing.assert_close(grown.values, stock.values, rtol=0, atol=1e-5)


def test_growing_layer_survives_everything_a_stock_layer_offers() -> None:
    """Reordering, cropping and resetting change the tensors that the buffers stood behind."""
    grown, stock = GrowingLayer(), DynamicCache().layer_class_to_replicate()
    generator = torch.Generator().manual_seed(0)

    def append(rows: int, tokens: int) -> None:
        keys, values = torch.rand((2, rows, 2, tokens, 4), generator=generator)
        for a, b in zip(grown.update(keys, values), stock.update(keys, values), strict=True):
            assert torch.equal(a, b)

    append(3, 5)
    for layer in (grown, stock):
        layer.reorder_cache(torch.tensor([2, 2, 0]))
    append(3, 1)
    for layer in (grown, stock):
        layer.crop(-2)
    append(3, 1)
    for layer in (grown, stock):
        layer.reset()
    append(1, 4)
