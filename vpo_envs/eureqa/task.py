"""The EUREQA task: how a chain of masked entities is asked, how an answer is read, and what it earns."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from vpo_envs.answers import ask_for_answers, describe_weights, without_reasoning
from vpo_envs.eureqa.atlas import atlas, read_facts
from vpo_envs.eureqa.chain import NAMES, Chain, entity_elements, named_entities, stands_in
from vpo_envs.eureqa.demonstrations import careless_names
from vpo_envs.eureqa.generator import MIN_COUNTRIES, generated_chain
from vpo_envs.eureqa.problems import load_chains
from vpo_envs.problem_lists import GeneratedProblems, check_index, check_whole
from vpo_envs.task import Message, Objective, Split, Task


class EureqaTask(Task[Chain]):
    """Find the five masked entities of a chain, each described by the next one.

    ## Description
    A narrative describes entity_A by entity_B, entity_B by entity_C and so on; entity_E is described by a leaf that is
    shown by name. Whoever solves the layers from the leaf upwards needs one fact at a time; whoever guesses entity_A
    from what it sounds like is usually wrong. The task is that of EUREQA (Li et al., arXiv 2311.09702), the reward that
    of Bahlous-Boldi et al. (arXiv 2605.22817).

    ## Answer
    The five names, each in its own element `<entity_A>...</entity_A>` to `<entity_E>...</entity_E>`, in any order. With
    one answer they stand anywhere outside `<think>`; for several answers, inside `<solution_1>`, `<solution_2>` ...

    ## Rewards
    | objective               | value                                                                  |
    |-------------------------|------------------------------------------------------------------------|
    | `entity_A` ... `entity_E` | 1 if the name in the element of that letter is the masked entity's, else 0 |

    Names are compared as a whole after normalisation: underscores are spaces, case, articles, ASCII punctuation and
    Unicode's compatibility forms do not matter. Spelling does. Nothing resolved is the zero vector.

    Against gaming: an element holds one name, so listing candidates earns nothing; of several elements of a letter only
    the last complete one counts, right or wrong; an unclosed tag, an element that swallows another's tag, an empty one,
    and a name in the reasoning earn nothing; a response without any complete element is no answer at all.

    ## Arguments
    * `split`: "train" or "test"; no chain of entities is in both.
    * `data`: a file of rows `{"idx", "question", "entity_masks", "entities"}`, used whole for either split; a folder
      with a file named `...hard_5...` and one named `...normal_5...`, or "hub" (`vincentleebang/EUREQA`), of which the
      paper's split is taken; default generated.
    * `skip_bad_rows`: leave bad rows out with a warning instead of refusing the file.
    * `num_problems`: generated chains in the split, default 1000 for training and 100 for testing; of loaded ones at
      most so many.
    * `countries`: generated chains are about the first so many countries of the table, 10 to 123 (default all).

    ## Version History
    v0: first version.
    """

    objectives = tuple(
        Objective(name, f"the right name for {name}, which follows from {by}")
        for name, by in zip(NAMES, (*NAMES[1:], "the leaf"), strict=True)
    )
    answer_tag = "solution"

    def __init__(
        self,
        split: Split = "train",
        data: str | None = None,
        skip_bad_rows: bool = False,
        num_problems: int | None = None,
        countries: int | None = None,
    ) -> None:
        super().__init__(split, data)
        if num_problems is not None:
            check_whole("EUREQA: num_problems", num_problems, 1)
        if countries is not None:
            check_whole("EUREQA: countries", countries, MIN_COUNTRIES, len(read_facts()))
        self.countries = countries or len(read_facts())
        self._problems: Sequence[Chain]
        if data is None:
            self._problems = GeneratedProblems(num_problems or (1000 if split == "train" else 100), self._generate)
        else:
            self._problems = load_chains(data, split, skip_bad_rows)[:num_problems]

    def _generate(self, index: int) -> Chain:
        return generated_chain(self.split, index, self.countries)

    def __len__(self) -> int:
        return len(self._problems)

    def __getitem__(self, index: int) -> Chain:
        return self._problems[check_index(index, len(self), "chain")]

    def messages(self, problem: Chain, num_answers: int = 1, weights: Sequence[float] | None = None) -> list[Message]:
        # The narrative comes early and what depends on the number of answers comes last: prompts share a prefix.
        lines = [
            "Who or what are entity_A, entity_B, entity_C, entity_D and entity_E?",
            *(" ".join(sentence.split()) for sentence in problem.sentences),  # no sentence imitates another line
            *_legend(problem),
            "Each of them is described by another one, and one by a name that is given: begin there.",
            "Write every name as it is usual in English, in its own tags, as in <entity_E>name</entity_E>.",
        ]
        if num_answers > 1:
            lines.append(ask_for_answers(self.answer_tag, num_answers))
        if weights is not None:
            lines.append(describe_weights(NAMES, weights))
        return [{"role": "user", "content": "\n".join(lines)}]

    def extract(self, response: str) -> str | None:
        answer = without_reasoning(response)
        return answer if any(True for _ in entity_elements(answer)) else None

    def wrap(self, answer: str) -> str:
        return answer

    def is_answer(self, answer: str) -> bool:
        return self.extract(answer) is not None

    def normalise(self, answer: str) -> tuple[str, ...]:
        return named_entities(answer)

    def score(self, problem: Chain, answer: str) -> NDArray[np.float32]:
        return np.array(self._score(problem, answer), np.float32)

    def score_batch(self, problems: Sequence[Chain], answers: Sequence[str]) -> NDArray[np.float32]:
        scores = [self._score(p, a) for p, a in zip(problems, answers, strict=True)]
        return np.array(scores, np.float32).reshape(len(scores), 5)

    def _score(self, chain: Chain, answer: str) -> list[bool]:
        # No gold form is empty (`parse_row` sees to it), so an absent name matches nothing.
        return [name == gold for name, gold in zip(named_entities(answer), chain.forms, strict=True)]

    def gold(self, problem: Chain) -> str:
        """An answer that earns all ones. For tests; no policy sees it."""
        return " ".join(f"<{tag}>{name}</{tag}>" for tag, name in zip(NAMES, problem.entities, strict=False))

    def demonstration(self, problem: Chain, rng: Random) -> str:
        return careless_names(problem, rng, atlas(self.countries))


def _legend(chain: Chain) -> list[str]:
    """A line that says which mask is which entity, where the narrative does not use our names or hides the leaf's."""
    parts = [
        f"{name} is {mask}"
        for name, mask in zip(NAMES, chain.masks, strict=False)
        if mask.strip(" []()<>{}").replace(" ", "_").lower() != name.lower()
    ]
    leaf, narrative = chain.entities[5].replace("_", " "), " ".join(chain.sentences).replace("_", " ")
    if leaf.lower() not in narrative.lower():
        shown = chain.masks[5] if stands_in(chain.masks[5], chain.sentences) else "the name that is given"
        parts.append(f"{shown} is {leaf}")
    return [f"Here {'; '.join(parts)}."] if parts else []
