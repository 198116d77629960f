"""The built-in policy: a tokenizer made from an environment's own text, and a transformer of about a million weights.

Both are ordinary transformers objects on disk. The tokenizer is lossless: every frequent word of the environment is one
token, a line that is the same in all prompts is one token as a whole, and anything else falls back to bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator
from itertools import count, islice
from random import Random
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from vpo_envs.answers import join_answers
from vpo_envs.task import Message, Task

PAD, END, ROLES = "<|pad|>", "<|end|>", ("<|system|>", "<|user|>", "<|assistant|>")
CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}"
    "{% if message['role'] == 'assistant' %}<|end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
CANDIDATES = 2  # demonstrations drawn for each answer of a set
PATIENCE = 1000  # problems in a row without such a set, after which a task is given up
MIN_PHRASE = 16  # characters; a shorter line is better spelled by its words


def examples(task: Task[Any], rng: Random, num_answers: int, start: int = 0) -> Iterator[tuple[list[Message], str]]:
    """Endless (messages, response) pairs: problem start, start + 1 ... answered with demonstrations that differ.

    Raises:
        ValueError: the demonstrations of all of the task's problems (of 1000, if it has more) are too much alike.
    """
    patience, in_vain = min(len(task), PATIENCE), 0
    for index in count(start):
        if in_vain == patience:
            raise ValueError(
                f"{type(task).__name__}: of {CANDIDATES * num_answers} demonstrations of a problem never {num_answers} "
                f"differed, in {patience} problems; make them more varied, or ask for fewer answers"
            )
        problem = task[index % len(task)]
        drawn: dict[Hashable, str] = {}
        for _ in range(num_answers if num_answers == 1 else CANDIDATES * num_answers):
            answer = task.demonstration(problem, rng)
            drawn.setdefault(task.normalise(answer), answer)
        in_vain += 1
        if len(drawn) >= num_answers:
            in_vain = 0
            answers = spread(list(drawn.values()), num_answers)
            yield task.messages(problem, num_answers), join_answers(task, answers)


def spread(texts: list[str], number: int) -> list[str]:
    """Texts that differ: the first one, then always the one whose words are farthest from all that were chosen.

    Distance is Jaccard's, 1 - |common words| / |all words|, to the nearest chosen text. A policy that imitates such
    sets learns that an answer depends on those before it, which independent draws would not teach.
    """
    words = [frozenset(text.split()) for text in texts]
    chosen = [0]
    while len(chosen) < number:
        rest = [i for i in range(len(texts)) if i not in chosen]
        chosen.append(max(rest, key=lambda i: min(_distance(words[i], words[j]) for j in chosen)))
    return [texts[i] for i in chosen]


def _distance(a: frozenset[str], b: frozenset[str]) -> float:
    return 1 - len(a & b) / max(1, len(a | b))


def build_tokenizer(
    task: Task[Any], answer_counts: tuple[int, ...] = (1, 3), samples: int = 3000, vocab_size: int = 4096
) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer whose tokens are the words, tags and constant prompt lines of a task's own text."""
    each = samples // len(answer_counts)
    pairs = [pair for m in answer_counts for pair in islice(examples(task, Random(m), m), each)]
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


def build_model(
    tokenizer: PreTrainedTokenizerFast, *, layers: int = 4, width: int = 128, heads: int = 4, context: int = 384
) -> GPT2LMHeadModel:
    """An untrained policy, with learned absolute positions: a grid cell always stands at the same place in a prompt."""
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
            bos_token_id=tokenizer.eos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
