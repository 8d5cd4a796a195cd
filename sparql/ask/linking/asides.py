"""Sentences around a question in which nothing can be looked up: "I am on foot."

A word that no plan uses is a reason not to answer, since the answer would be to another question ("but only
cheerful ones"). That does not hold for a whole sentence that says something of the person who asks, asks for
nothing, and names nothing that the graph or the ontology has: it is left out, and the answer says so.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from sparql.ask.linking.linker import LinkedQuestion
from sparql.ask.linking.readings import ClassName, DateValue, EntityName, PropertyName, TextValue
from sparql.ask.linking.words import english, tokens_of

__all__ = ["Asides", "without_asides"]

_CONTENT = (EntityName, ClassName, PropertyName, TextValue, DateValue)
_BREAK = re.compile(r"(?<=[.!?;])\s+")


@dataclass(frozen=True)
class Asides:
    """A question without the sentences of it and of its context that were `left_out`."""

    asked: str
    left_out: tuple[str, ...]

    @property
    def note(self) -> str:
        """What the answer says of them."""
        quoted = ", ".join(f"“{one}”" for one in self.left_out)
        return f"Not used, since nothing in it can be looked up: {quoted}."


async def without_asides(
    question: str, context: str, link: Callable[[str], Awaitable[LinkedQuestion]]
) -> Asides | None:
    """Leave out such sentences; None where there are none, or nothing else."""
    kept: list[str] = []
    left_out: list[str] = []
    for sentence in (*_sentences(question), *_sentences(context)):
        is_aside = _is_of_the_asker(sentence) and not _names_something(await link(sentence))
        (left_out if is_aside else kept).append(sentence.rstrip(" ?.!;"))
    return Asides(" ".join(kept), tuple(left_out)) if kept and left_out else None


def _sentences(text: str) -> Sequence[str]:
    return [part for part in _BREAK.split(text.strip()) if part]


def _is_of_the_asker(sentence: str) -> bool:
    words = [token.text for token in tokens_of(sentence)]
    asides = english()["asides"]
    begins = any(words[: len(opening)] == opening for opening in map(str.split, asides["openings"]))
    return begins and not sentence.endswith("?") and not set(words) & set(asides["demands"])


def _names_something(linked: LinkedQuestion) -> bool:
    return any(isinstance(reading.meaning, _CONTENT) for reading in linked.readings)
