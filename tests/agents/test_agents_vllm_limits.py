"""What a real vLLM engine does not bear: too little memory, options that do not fit, and its own failures."""

from __future__ import annotations

import pytest
from vllm_helpers import GREEDY, build_engine, load_model, prompts_for

from agents.config import EngineConfig
from agents.generation import EngineError, Sampling
from agents.schedule import seeds_of

pytestmark = [pytest.mark.usefixtures("needs_vllm"), pytest.mark.slow]


def test_more_than_the_engine_reads_at_a_time_and_than_its_cache_holds() -> None:
    """120 prompts of 50 to 100 tokens exceed what one pass reads; a cache of 20 blocks turns running responses out."""
    model = load_model("Maze-v0")
    prompts, seeds = prompts_for(model, tuple(50 + i % 50 for i in range(120))), seeds_of([2], 120)
    results = []
    for cache_gib in (0.25, 0.01):
        generator = build_engine(model, EngineConfig(cache_gib=cache_gib))
        with pytest.raises(ValueError, match="another vLLM engine runs in this process"):
            build_engine(model)
        done = generator.generate(prompts, 1, Sampling(60, 2.0), seeds)
        results.append([group[0].token_ids for group in done])
        generator.close()
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (EngineConfig(memory_share=0.5, cache_gib=1), "memory-share and --engine.cache-gib both set the cache"),
        (EngineConfig(sleep=True), "--engine.sleep works with CUDA only"),
        (EngineConfig(cache_gib=0.25, max_model_len=10**6), "vLLM cannot run GPT2LMHeadModel with these options"),
    ],
)
def test_options_that_do_not_fit_are_refused(needs_vllm: None, config: EngineConfig, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build_engine(load_model("Maze-v0"), config)


def test_a_failure_of_the_engine_is_one_clear_error() -> None:
    """A token that the model does not have makes the engine raise; it is not used again."""
    model = load_model("Maze-v0")
    generator = build_engine(model)
    with pytest.raises(EngineError, match="the vLLM engine failed while generating: IndexError"):
        generator.generate([[10**6]], 1, GREEDY, [0])
    with pytest.raises(EngineError, match="cannot be used any more: it failed while generating"):
        generator.generate([[5]], 1, GREEDY, [0])
    generator.close()
    generator = build_engine(model)
    with pytest.raises(EngineError, match="the vLLM engine failed while taking new weights"):
        generator.sync(load_model("ToolRL-v0"))
    generator.close()
