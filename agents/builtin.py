"""The built-in policy: a tokenizer made from an environment's own text, and a transformer of about a million weights.

Both are ordinary transformers objects on disk. The tokenizer is lossless: every frequent word of the environment is one
token, a line that is the same in all prompts is one token as a whole, and anything else falls back to bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from random import Random
from typing import Any, Literal

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from agents.demonstrations import examples
from vpo_envs.task import Task

PAD, END, ROLES = "<|pad|>", "<|end|>", ("<|system|>", "<|user|>", "<|assistant|>")
CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}"
    "{% if message['role'] == 'assistant' %}<|end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
Positions = Literal["learned", "rotary"]

MIN_PHRASE = 16  # characters; a shorter line is better spelled by its words


def build_tokenizer(
    task: Task[Any],
    answer_counts: tuple[int, ...] = (1, 3),
    samples: int = 3000,
    vocab_size: int = 4096,
    weighted: float = 0.0,
) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer whose tokens are the words, tags and constant prompt lines of a task's own text.

    `weighted`: the share of the prompts that ask for weights (`agents.demonstrations.examples`).
    """
    each = samples // len(answer_counts)
    pairs = [pair for m in answer_counts for pair in islice(examples(task, Random(m), m, weighted=weighted), each)]
    prompts = ["\n".join(message["content"] for message in messages) for messages, _ in pairs]
    lines = Counter(line for prompt in prompts for line in set(prompt.splitlines()))
    phrases = sorted(line for line, n in lines.items() if n > each / 2 and len(line) >= MIN_PHRASE)
    tags = sorted({tag for _, response in pairs for tag in re.findall(r"</?\w+>", response)})

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r" ?[^\s<>]+|\s|[<>]"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=2,
        special_tokens=[PAD, END, *ROLES],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    known = re.compile("|".join(map(re.escape, [*phrases, *tags])))  # those never reach the word model
    corpus = [part for text in [*prompts, *(r for _, r in pairs)] for part in known.split(text) if part]
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in [*phrases, *tags]])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=PAD, eos_token=END)
    fast.chat_template = CHAT_TEMPLATE
    return fast


def start_with_previous_token_heads(model: LlamaForCausalLM, count: int, strength: float = 6.0) -> None:
    """Set the first `count` heads of the first layer such that they look 1, 2 ... tokens back.

    To find a name again and say what stands after it takes two steps: a head that tells each token what stands before
    it, and a later one that looks for the token at hand among those (an induction head, Olsson et al. 2022, arXiv
    2209.11895). The second is learned quickly once the first is there. Where names share a word, what stands two tokens
    back is needed as well. Here the queries and keys of a head are constants, which rotary positions turn into a score
    of the distance alone: strength^2 sum_i cos((distance - back) f_i), with the rotary frequencies f_i, is largest at
    distance `back`. The weights stay free to move from there.
    """
    attention = model.model.layers[0].self_attn
    half = attention.head_dim // 2
    frequencies = model.model.rotary_emb.inv_freq[:half]
    with torch.no_grad():
        for head in range(count):
            rows, turned = slice(head * 2 * half, (head + 1) * 2 * half), frequencies * (head + 1)
            for projection in (attention.q_proj, attention.k_proj):
                projection.weight[rows] = 0
            attention.k_proj.bias[rows] = torch.cat([torch.ones(half), torch.zeros(half)]) * strength
            attention.q_proj.bias[rows] = torch.cat([torch.cos(turned), -torch.sin(turned)]) * strength


def build_model(
    tokenizer: PreTrainedTokenizerFast,
    *,
    layers: int = 4,
    width: int = 128,
    heads: int = 4,
    context: int = 384,
    positions: Positions = "learned",
    previous_token_heads: int = 0,
) -> PreTrainedModel:
    """An untrained policy: a GPT-2 with learned absolute positions, or a Llama with rotary ones.

    Learned positions suit prompts in which the same thing always stands at the same place, such as the cells of a grid.
    Rotary ones suit texts in which a name must be found again wherever it stands, all the more with
    `previous_token_heads` (`start_with_previous_token_heads`).
    """
    ids = {
        "bos_token_id": tokenizer.eos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    if positions == "rotary":
        llama = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=len(tokenizer),
                max_position_embeddings=context,
                hidden_size=width,
                intermediate_size=width * 5 // 2,  # three matrices of this size cost as much as two of 4 * width
                num_hidden_layers=layers,
                num_attention_heads=heads,
                attention_bias=previous_token_heads > 0,
                tie_word_embeddings=True,
                **ids,
            )
        )
        start_with_previous_token_heads(llama, previous_token_heads)
        return llama
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer),
            n_positions=context,
            n_embd=width,
            n_layer=layers,
            n_head=heads,
            activation_function="gelu",  # GPT-2's own variant takes a third more time on a CPU
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            **ids,
        )
    )
