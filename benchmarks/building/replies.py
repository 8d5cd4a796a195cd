"""What a recorded model says of composed documents: all that they state, and now and then something else.

A share of the documents gets one wrong statement, as models make them: the ends changed about, a near
relation, a name or a value from nowhere.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.building.composing import IS_A, Document, Fact

__all__ = ["Reply", "replies", "write_replies"]

_NEAR: Final[Mapping[str, str]] = {
    "designed by": "built by", "built by": "designed by", "owned by": "operated by",
    "operated by": "owned by",
    "named after": "founded by", "founded by": "named after", "opened": "closed", "completed": "opened",
    "located on": "adjacent to", "height": "length", "renovated": "demolished", "born in": "died in",
    "construction started": "established", "population": "capacity", "student count": "capacity",
}  # fmt: skip


@dataclass(frozen=True)
class Reply:
    """What is said of a document; `wrong` is the statement among it that the document does not make."""

    text: str
    said: tuple[Fact, ...]
    wrong: Fact | None = None


def replies(documents: Sequence[Document], *, errors: float, seed: int = 5) -> Iterator[Reply]:
    """The replies to the documents, with a wrong statement in that share of them."""
    chance = random.Random(seed)
    names = list({subject for document in documents for subject, _, _ in document.facts})
    for document in documents:
        if chance.random() < errors:
            wrong = _wrong(chance, chance.choice(document.facts), names)
            yield Reply(document.text, (*document.facts, wrong), wrong)
        else:
            yield Reply(document.text, document.facts)


def _wrong(chance: random.Random, fact: Fact, names: Sequence[str]) -> Fact:
    subject, relation, object_ = fact
    ways = [(subject, relation, chance.choice(names))]
    if relation != IS_A and object_[0].isalpha():
        ways.append((object_, relation, subject))
    if relation in _NEAR:
        ways.append((subject, _NEAR[relation], object_))
    if object_.isdecimal():
        ways = [*ways[1:], (subject, relation, str(int(object_) + chance.randrange(1, 9)))]
    return chance.choice(ways)


def write_replies(found: Iterable[Reply], file: Path) -> None:
    """Write them as the recorded server reads them."""
    with file.open("w", encoding="utf-8") as stream:
        for one in found:
            triples = [{"subject": s, "relation": r, "object": o} for s, r, o in one.said]
            stream.write(json.dumps({"text": one.text, "reply": json.dumps({"triples": triples})}) + "\n")
