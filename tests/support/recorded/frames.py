"""Short texts of an invented country, and the replies that a perfect model would give to them.

A place occurs in several texts, and what kind of thing it is in one of them only. So what a text may add
to the graph depends on those before it: another order gives another graph.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator

_SYLLABLES = ("Arden", "Brin", "Cald", "Dorn", "Ely", "Farr", "Gres", "Holm", "Iver", "Kest", "Larn", "Morr")
_ENDINGS = ("field", "ford", "wick", "combe", "stead", "mere", "thorpe", "bury", "dale", "ness")
_KINDS = ("museum", "theatre", "park", "library", "university", "bridge")
_NAME = r"[A-Z][a-z]+(?: [A-Z][a-z]+)*"
_FRAMES = (
    (re.compile(rf"\b({_NAME}) is a ({'|'.join(_KINDS)}) in ({_NAME})\."), ("is a", "located in")),
    (re.compile(rf"\b({_NAME}) is a (city)\."), ("is a",)),
    (re.compile(rf"\b({_NAME}) was established in (\d{{4}})\."), ("established",)),
    (re.compile(rf"\b({_NAME}) was opened in (\d{{4}})\."), ("opened",)),
    (re.compile(rf"\b({_NAME}) was closed in (\d{{4}})\."), ("closed",)),
    (re.compile(rf"\b({_NAME}) is also called ({_NAME})\."), ("also called",)),
)


def texts(count: int, seed: int = 7) -> list[str]:
    """So many texts, no two alike, of one to three sentences; the same ones for the same seed."""
    chance = random.Random(seed)
    made: dict[str, None] = {}
    sentences = _sentences(chance)
    while len(made) < count:
        made[" ".join(next(sentences) for _ in range(chance.choice((1, 2, 2, 3))))] = None
    return list(made)


def text_about(chance: random.Random, sentences: int = 2) -> str:
    """A text of so many sentences, for loads that go on without end."""
    made = _sentences(chance)
    return " ".join(next(made) for _ in range(sentences))


def reply_to(text: str) -> str:
    """What the model says of a text, as JSON triples."""
    said = []
    for pattern, relations in _FRAMES:
        for match in pattern.finditer(text):
            subject, *objects = match.groups()
            said += [
                {"subject": subject, "relation": relation, "object": object_}
                for relation, object_ in zip(relations, objects, strict=True)
            ]
    return json.dumps({"triples": said})


def _sentences(chance: random.Random) -> Iterator[str]:
    towns = [first + last for first in _SYLLABLES for last in _ENDINGS]
    known: list[str] = []
    while True:
        town = chance.choice(towns)
        kind = chance.choice(_KINDS)
        if not known or chance.random() < 0.35:
            # Named before it is said what it is, now and then.
            known.append(f"{chance.choice(towns)} {kind.capitalize()}")
        place = known[-1] if chance.random() < 0.5 else chance.choice(known)
        kind = place.rpartition(" ")[2].lower()
        year = chance.randrange(1850, 2000)
        yield chance.choice(
            (
                f"{place} is a {kind} in {town}.",
                f"{place} is a {kind} in {town}.",
                f"{town} is a city.",
                f"{place} was established in {year}.",
                f"{place} was opened in {year}.",
                f"{place} was closed in {year}.",
            )
        )
