"""The standard-input problems of the bank, three a topic: an easy, a medium and a hard one."""

from vpo_envs.code.bank.entry import Entry
from vpo_envs.code.bank.programs import (
    arithmetic,
    choices,
    clocks,
    digits,
    grids,
    intervals,
    lists,
    machines,
    networks,
    parsing,
    ranking,
    words,
)

TOPICS = (arithmetic, digits, words, parsing, lists, ranking, intervals, grids, networks, choices, machines, clocks)
ENTRIES: tuple[Entry, ...] = tuple(entry for topic in TOPICS for entry in topic.ENTRIES)
