"""Generated problems: a chain of facts about invented entities, hidden among documents that look like its own."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from vpo_envs.musique.names import Names
from vpo_envs.musique.problems import Hop, Problem
from vpo_envs.musique.relations import ONE_SUBJECT, RELATIONS, Reading, Relation, fill
from vpo_envs.problem_lists import split_of
from vpo_envs.task import Split

SHAPES: dict[int, tuple[tuple[tuple[int, ...], ...], ...]] = {
    2: (((), (1,)),),
    3: (((), (1,), (2,)), ((), (), (1, 2))),
    4: (((), (1,), (2,), (3,)), ((), (1,), (), (2, 3)), ((), (), (1, 2), (3,))),
}
"""Number of hops -> graph shapes. A shape says for each hop which earlier hops' answers it asks about; () begins at a
named entity. They are the six shapes of the data set (Trivedi et al. 2022, arXiv 2108.00573)."""


def generated_problem(
    split: Split, hops: Sequence[int], num_paragraphs: int, sentences: int, wordings: int, names: int, index: int
) -> Problem:
    """Problem `index` of a split, a pure function of the arguments. The numbers in `hops` take turns.

    A question belongs to one split only, so no problem is in both.
    """
    rng = Random(f"MuSiQue {split} {sorted(hops)} {num_paragraphs} {sentences} {index}")
    while True:  # one question in eight is a test question
        documents = _Documents(Names(rng, names), rng, sentences, wordings)
        question, hop_questions, facts = _chain(rng, documents, sorted(hops)[index % len(hops)])
        if split_of(question) == split:
            break
    for fact in facts:
        documents.write(fact)
    while len(documents) < num_paragraphs:
        _distract(rng, documents, facts, num_paragraphs)
    order, titles, texts = documents.shuffled()
    answer = facts[-1].object
    return Problem(
        question=question,
        titles=titles,
        texts=texts,
        hops=tuple(
            Hop(hop_question, fact.object, order.index(i))
            for i, (hop_question, fact) in enumerate(zip(hop_questions, facts, strict=True))
        ),
        answers=(answer, *documents.names.aliases(answer)),
    )


class _Documents:
    """The paragraphs of a problem. A relation has one object at most for its subjects, in all of them together.

    Facts never form a circle, in which somebody might be born in a town that they founded: each one brings a new name,
    and nothing is known yet about a new object, or leads to a new subject.
    """

    def __init__(self, names: Names, rng: Random, sentences: int, wordings: int) -> None:
        self.names = names
        self._rng, self._sentences, self._wordings = rng, sentences, wordings
        self._known: set[tuple[str, tuple[str, ...]]] = set()
        self._paragraphs: list[tuple[str, str]] = []  # title, text

    def __len__(self) -> int:
        return len(self._paragraphs)

    def fact(self, relation: Relation, subjects: tuple[str, ...], found: str) -> Reading:
        """A new fact, which is known from now on."""
        self._known.add((relation.label, subjects))
        return Reading(relation, subjects, found)

    def open_relations(self, subject: str) -> list[Relation]:
        """What is not known yet about an entity."""
        kind = self.names.kind(subject)
        return [r for r in ONE_SUBJECT if r.subjects == (kind,) and (r.label, (subject,)) not in self._known]

    def write(self, fact: Reading) -> None:
        """A paragraph about the fact's first subject, with other facts about it if there are to be more sentences."""
        title = fact.subjects[0]
        facts = [fact]
        more = self.open_relations(title)
        for relation in self._rng.sample(more, min(len(more), self._sentences - 1)):
            facts.append(self.fact(relation, (title,), self.names.fresh(relation.object)))
        self._rng.shuffle(facts)
        stated = [fill(self._rng.choice(f.relation.statements[: self._wordings]), f.subjects, f.object) for f in facts]
        self._paragraphs.append((title, " ".join(stated)))

    def shuffled(self) -> tuple[list[int], tuple[str, ...], tuple[str, ...]]:
        """Which paragraph is where now, and the titles and texts in that order."""
        order = self._rng.sample(range(len(self)), len(self))
        return order, tuple(self._paragraphs[i][0] for i in order), tuple(self._paragraphs[i][1] for i in order)


def _chain(rng: Random, documents: _Documents, hops: int) -> tuple[str, list[str], list[Reading]]:
    """The question, the question of each hop, and the facts that answer them."""
    shape = None
    while shape is None:
        shape = _related(rng, rng.choice(SHAPES[hops]))
    facts: list[Reading] = []
    hop_questions: list[str] = []
    phrases: list[str] = []  # each hop's object, described without its name
    question = ""
    for needs, relation in shape:
        if needs:
            subjects = tuple(facts[i - 1].object for i in needs)
            described = [phrases[i - 1] for i in needs]
            asked = [f"#{i}" for i in needs]
        else:
            subjects = (documents.names.fresh(relation.subjects[0]),)
            described = asked = list(subjects)
        facts.append(documents.fact(relation, subjects, documents.names.fresh(relation.object)))
        phrases.append(fill(relation.noun, described))
        hop_questions.append(fill(relation.question, asked))
        question = fill(relation.question, described)
    return question, hop_questions, facts


def _related(rng: Random, shape: tuple[tuple[int, ...], ...]) -> list[tuple[tuple[int, ...], Relation]] | None:
    """A relation for each hop, with the hops it asks about in its order; None if two answers have no relation."""
    related: list[tuple[tuple[int, ...], Relation]] = []
    for needs in shape:
        options = [
            (order, relation)
            for order in sorted({needs, needs[::-1]})
            for relation in (RELATIONS if needs else ONE_SUBJECT)
            if not needs or relation.subjects == tuple(related[i - 1][1].object for i in order)
            if relation not in [related[i - 1][1] for i in needs]  # no capitals of capitals
        ]
        if not options:
            return None
        related.append(rng.choice(options))
    return related


def _distract(rng: Random, documents: _Documents, chain: list[Reading], num_paragraphs: int) -> None:
    """Add a paragraph, or two, that shares something with a step of the chain but says something else."""
    names = documents.names
    step = rng.randrange(len(chain))
    relation, subjects, found = chain[step]
    kind = rng.choice(("subject", "relation", "relation", "object"))
    if kind == "subject":  # the same entity, something else about it
        subject = rng.choice(subjects)
        if others := documents.open_relations(subject):
            other = rng.choice(others)
            documents.write(documents.fact(other, (subject,), names.fresh(other.object)))
        return
    replaced = rng.randrange(len(subjects))
    elsewhere = list(subjects)
    elsewhere[replaced] = names.fresh(relation.subjects[replaced], like=subjects[replaced])
    if kind == "object":  # the same thing found, but for somebody else
        documents.write(documents.fact(relation, tuple(elsewhere), found))
        return
    # The same thing asked about a namesake; now and then the next step goes on from there.
    wrong = names.fresh(relation.object, like=rng.choice(("", found)))
    documents.write(documents.fact(relation, tuple(elsewhere), wrong))
    if step + 1 < len(chain) and len(documents) < num_paragraphs and rng.random() < 1 / 2:
        following, needed, _ = chain[step + 1]
        if found in needed:
            astray = tuple(wrong if name == found else name for name in needed)
            documents.write(documents.fact(following, astray, names.fresh(following.object)))
