"""Statements that compete for the same words: of "closed in 2000", either "closed" or "opened" is right.

A reader that asks for each relation by itself may find the same words under several of them. A mention of a
value or a name carries one relation to a subject, unless the words say more ("designed and built by"). So
of the relations that a text's mention is claimed for, the one stays whose label the words support best, then
the surest; another is kept with it where the text mentions the value again, or has its label too. Of a
statement and its inverse one stays. The rest wait for review. Labels are those of the ontology, so this knows
of no domain.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ontology.labels import stem, words
from ontology.schema import Schema
from ontology.terms import OntologyProperty

__all__ = ["Claim", "overruled"]


Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Claim(Generic[Key]):
    """A statement that competes with others.

    `ends` is the same for statements about the same subject and the same value or name, `mentions` how often
    the text mentions that, `quote` the words that the statement rests on. `score` is 0 to 1.
    """

    key: Key
    ends: Hashable
    property: OntologyProperty
    quote: str
    mentions: int
    score: float


def overruled(claims: Iterable[Claim[Key]], schema: Schema) -> Mapping[Key, OntologyProperty]:
    """Return the keys of the claims that lose, each with the property that its words support better."""
    claims = list(claims)
    found = _converses(claims)
    groups: dict[Hashable, list[Claim[Key]]] = {}
    for claim in claims:
        if claim.key not in found:
            groups.setdefault(claim.ends, []).append(claim)
    for group in groups.values():
        found.update(_overruled(group, schema))
    return found


def _converses(claims: Iterable[Claim[Key]]) -> dict[Key, OntologyProperty]:
    """Of a statement and its inverse, which say the same, the one that the words support less."""
    known = {(claim.ends, claim.property.iri): claim for claim in claims}
    found: dict[Key, OntologyProperty] = {}
    for (ends, _), claim in known.items():
        turned = ends[::-1] if isinstance(ends, tuple) else ends
        other = known.get((turned, claim.property.inverse)) if claim.property.inverse else None
        if other is not None and other is not claim:
            mine, theirs = ((_support(one), one.score, one.property.iri.value) for one in (claim, other))
            if mine < theirs:
                found[claim.key] = other.property
    return found


def _overruled(group: Sequence[Claim[Key]], schema: Schema) -> Mapping[Key, OntologyProperty]:
    support = {claim.key: _support(claim) for claim in group}
    ranked = sorted(group, key=lambda claim: (support[claim.key], claim.score), reverse=True)
    standing: list[Claim[Key]] = []
    found: dict[Key, OntologyProperty] = {}
    for claim in ranked:
        against = next((one for one in standing if _contradict(one.property, claim.property)), None)
        same = any(_related(one.property, claim.property, schema) for one in standing)
        room = len(standing) < claim.mentions
        if against is None and (same or room or support[claim.key]):
            standing.append(claim)
        else:
            found[claim.key] = (against or standing[0]).property
    return found


def _support(claim: Claim[Key]) -> int:
    """How many words of one of the relation's labels the quote has, 0 where one of them is missing."""
    said = {stem(word) for word in words(claim.quote)}
    term = claim.property
    labels = ([stem(word) for word in words(label)] for label in (term.label, *term.alternative_labels))
    return max((len(label) for label in labels if label and said.issuperset(label)), default=0)


def _contradict(a: OntologyProperty, b: OntologyProperty) -> bool:
    """Whether one says from left to right what the other says from right to left."""
    return a.iri != b.iri and not a.symmetric and (a.inverse == b.iri or b.inverse == a.iri)


def _related(a: OntologyProperty, b: OntologyProperty, schema: Schema) -> bool:
    """Whether one follows from the other."""
    return a.iri in schema.superproperties(b.iri) or b.iri in schema.superproperties(a.iri)
