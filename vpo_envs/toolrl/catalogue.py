"""The invented tools of generated problems: what can be asked for, and with which details."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_SMALL = ("two", "three", "four", "five", "six", "seven", "eight", "nine")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_CITIES = (
    *("Oslo", "Bergen", "Lisbon", "Porto", "Madrid", "Paris", "Lyon", "Rome", "Milan", "Vienna", "Prague", "Berlin"),
    *("Hamburg", "Dublin", "Athens", "Helsinki", "Warsaw", "Geneva", "Zurich", "Ghent", "Riga", "Turin"),
)
_NAMES = (
    *("Anna", "Ben", "Carla", "David", "Emma", "Felix", "Greta", "Hugo", "Ines", "Jonas", "Karim", "Laura"),
    *("Mei", "Nils", "Olga", "Pedro"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class Detail:
    """One detail of a request, and the parameter of a tool that takes it."""

    kind: str
    """Type of the value, as a tool's specification names it."""
    keys: tuple[str, ...]
    """What a tool may call the parameter. No two details share a name."""
    phrase: str
    """How a request words it; {} stands for the words of the value."""
    values: tuple[tuple[str, Any], ...]
    """(words, value) of each value."""


def _texts(keys: str, phrase: str, words: tuple[str, ...]) -> Detail:
    return Detail("string", tuple(keys.split()), phrase, tuple((word, word) for word in words))


def _counts(keys: str, phrase: str, words: tuple[str, ...] = _SMALL, first: int = 2, step: int = 1) -> Detail:
    return Detail("integer", tuple(keys.split()), phrase, tuple((w, first + step * i) for i, w in enumerate(words)))


def _flag(keys: str, yes: str, no: str) -> Detail:
    return Detail("boolean", tuple(keys.split()), "{}", ((yes, True), (no, False)))


_HALVES = tuple((f"{word} and a half", i + 0.5) for i, word in enumerate(("one", *_SMALL), start=1))
_GROUPS = tuple(
    (f"{a} and {b}", [a, b]) for i, a in enumerate(_NAMES) for j, b in enumerate(_NAMES) if (j - i) % 16 in (1, 5)
)

DETAILS: dict[str, Detail] = {
    "city": _texts("city town", "in {}", _CITIES),
    "from": _texts("origin departure", "from {}", _CITIES),
    "to": _texts("destination arrival", "to {}", _CITIES),
    "person": _texts("person contact", "for {}", _NAMES),
    "topic": _texts("topic subject", "about {}", ("rent", "taxes", "holidays", "school", "music", "sailing", "chess")),
    "language": _texts("language tongue", "in {}", ("English", "French", "German", "Greek", "Polish", "Spanish")),
    "day": Detail(
        "string", ("day", "date"), "{}", (*((f"on {d}", d) for d in _DAYS), ("today", "today"), ("tomorrow",) * 2)
    ),
    "time": _texts("time hour", "at {}", ("noon", "midnight", "sunrise", "7:15", "8:30", "9:45", "18:20", "20:00")),
    "guests": _counts("guests people", "for {} people"),
    "nights": _counts("nights stay", "for {} nights"),
    "hours": _counts("hours duration", "for {} hours"),
    "pieces": _counts("count quantity", "with {} pieces"),
    "budget": _counts("budget max_price", "below {} euros", _TENS, 20, 10),
    "weight": Detail("number", ("weight", "kilos"), "of {} kilos", _HALVES),
    "amount": Detail("number", ("amount", "sum"), "of {} euros", _HALVES),
    "group": Detail("array of strings", ("names", "members"), "with {}", _GROUPS),
    "breakfast": _flag("breakfast meals", "with breakfast", "without breakfast"),
    "luggage": _flag("luggage bags", "with luggage", "without luggage"),
    "helmet": _flag("helmet safety", "with a helmet", "without a helmet"),
    "insured": _flag("insured insurance", "with insurance", "without insurance"),
    "outside": _flag("outside terrace", "outside", "inside"),
    "online": _flag("online remote", "online", "on site"),
    "daily": _flag("daily repeat", "every day", "only once"),
    "urgent": _flag("urgent express", "by express", "by ordinary mail"),
}
KEY_DETAIL: dict[str, Detail] = {key: detail for detail in DETAILS.values() for key in detail.keys}


@dataclass(frozen=True)
class Action:
    """What can be done with a thing."""

    verbs: tuple[str, ...]
    """First part of a tool's name."""
    openings: tuple[str, ...]
    """First words of a request."""


_BOOK = Action(("book", "reserve"), ("book a", "please reserve a", "get me a"))
_FIND = Action(("find", "search"), ("find a", "look for a", "show me a"))
_CANCEL = Action(("cancel", "drop"), ("cancel my", "please call off my", "drop my"))
_PRICE = Action(("price", "quote"), ("tell me the price of a", "what would it cost to get a", "give me a quote for a"))
_CREATE = Action(("create", "add"), ("create a", "please set up a", "add a"))
_SEND = Action(("send", "ship"), ("send a", "please ship a", "send off a"))


@dataclass(frozen=True)
class Thing:
    """What tools deal with."""

    nouns: tuple[str, ...]
    """Second part of a tool's name."""
    words: str
    """What a request calls it."""
    actions: tuple[Action, ...]
    details: tuple[str, ...]
    """Names in `DETAILS`."""


def _thing(nouns: str, words: str, actions: tuple[Action, ...], details: str) -> Thing:
    return Thing(tuple(nouns.split()), words, actions, tuple(details.split()))


_BOOKED = (_BOOK, _FIND, _CANCEL, _PRICE)
_MADE = (_CREATE, _FIND, _CANCEL)
_SENT = (_SEND, _FIND, _CANCEL)
THINGS: tuple[Thing, ...] = (
    _thing("hotel room", "hotel room", _BOOKED, "city nights guests breakfast day budget"),
    _thing("train rail", "train ticket", _BOOKED, "from to day time guests luggage"),
    _thing("flight plane", "flight", _BOOKED, "from to day budget luggage insured"),
    _thing("table restaurant", "table", _BOOKED, "city guests time day outside"),
    _thing("taxi cab", "taxi", _BOOKED, "from to time guests luggage"),
    _thing("bike bicycle", "bike", _BOOKED, "city hours day helmet insured"),
    _thing("boat ferry", "boat", _BOOKED, "from to guests day insured"),
    _thing("tour guide", "guided tour", _BOOKED, "city guests language hours day"),
    _thing("concert show", "concert ticket", _BOOKED, "city budget day person outside"),
    _thing("meeting call", "meeting", _MADE, "group day time topic online"),
    _thing("alarm alert", "loud alarm", _MADE, "time day daily person"),
    _thing("reminder note", "reminder", _MADE, "topic day time person daily"),
    _thing("lesson class", "lesson", _MADE, "language person day hours online"),
    _thing("party event", "party", _MADE, "city group day budget outside"),
    _thing("parcel package", "parcel", _SENT, "to weight person insured urgent"),
    _thing("letter mail", "letter", _SENT, "person topic to urgent"),
    _thing("flowers bouquet", "bouquet", _SENT, "person pieces to day urgent"),
    _thing("payment transfer", "payment", _SENT, "person amount topic day urgent"),
)
