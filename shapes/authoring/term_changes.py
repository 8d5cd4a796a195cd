"""Statements of the graph whose terms an edit removes or deprecates, and what to use instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from pyoxigraph import NamedNode

from ontology import Schema
from shapes.gate.known_terms import successor
from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import RDF

__all__ = ["TermUse", "term_uses"]

_EXAMPLES = 3


@dataclass(frozen=True)
class TermUse:
    """A term that the graph uses and the edited ontology has no longer, or only as deprecated.

    `rewrite` is a SPARQL update that uses the successor instead, where the ontology names one.
    """

    term: NamedNode
    change: Literal["removed", "deprecated"]
    statements: int
    examples: tuple[Term, ...]
    successor: NamedNode | None = None
    rewrite: str | None = None


def term_uses(source: TripleSource, before: Schema, after: Schema) -> Iterator[TermUse]:
    """The terms that an edit removes or deprecates and that statements of the graph use, by name."""
    for old, new, is_class in (
        (before.classes, after.classes, True),
        (before.properties, after.properties, False),
    ):
        for iri in sorted(old, key=lambda one: one.value):
            now = new.get(iri)
            if now is not None and (old[iri].deprecated or not now.deprecated):
                continue
            pattern = (None, RDF.type, iri) if is_class else (None, iri, None)
            matches = (triple for triple in source.match(*pattern) if triple not in before.triples)
            examples = tuple(triple.subject for triple in islice(matches, _EXAMPLES))
            count = len(examples) + sum(1 for _ in matches)
            if count:
                instead = successor(after, iri) or successor(before, iri, among=after)
                yield TermUse(
                    iri,
                    "removed" if now is None else "deprecated",
                    count,
                    examples,
                    instead,
                    None if instead is None else _rewrite(iri, instead, is_class=is_class),
                )


def _rewrite(old: NamedNode, new: NamedNode, *, is_class: bool) -> str:
    one, other = (f"?s a {old}", f"?s a {new}") if is_class else (f"?s {old} ?o", f"?s {new} ?o")
    return f"DELETE {{ {one} }} INSERT {{ {other} }} WHERE {{ {one} }}"
