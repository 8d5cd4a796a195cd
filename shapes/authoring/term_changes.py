"""Statements whose terms an edit of the ontology removes or deprecates, and what would be rewritten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from pyoxigraph import NamedNode, Triple

from ontology import Schema
from shapes.gate.known_terms import succession
from sparql.model.source import GraphReading, Overlay, Term, TripleSource
from sparql.provenance.term_rewrites import RewriteRecords, Rewriting, TermPair

_EXAMPLES = 3
GIVEN, UNDO = "request", "undo"
"""The sources of a pair that the client gave, and of one that an earlier rewrite is taken back by."""


@dataclass(frozen=True)
class TermUse:
    """A term that the graph uses and the edited ontology has no longer, or only as deprecated."""

    term: NamedNode
    change: Literal["removed", "deprecated"]
    is_class: bool
    statements: int
    examples: tuple[Term, ...]
    successor: NamedNode | None = None
    said_by: NamedNode | None = None
    """The property by which the ontology names the successor."""


@dataclass(frozen=True)
class OfferedRewrite:
    """A term that statements use, the one to use instead, and how many statements change.

    `source` is the IRI of the property by which the ontology names the new term, `GIVEN` or `UNDO`.
    """

    pair: TermPair
    source: str
    statements: int


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
            found = statements_with(source, TermPair(iri, iri, is_class), before)
            examples = tuple(triple.subject for triple in islice(found, _EXAMPLES))
            count = len(examples) + sum(1 for _ in found)
            if count:
                instead = succession(after, iri) or succession(before, iri, among=after)
                term, said_by = instead or (None, None)
                if term is not None and term not in new:
                    term = said_by = None
                yield TermUse(
                    iri,
                    "removed" if now is None else "deprecated",
                    is_class,
                    count,
                    examples,
                    term,
                    said_by,
                )


def offered_rewrites(
    source: TripleSource,
    uses: Iterable[TermUse],
    given: Mapping[NamedNode, NamedNode],
    before: Schema,
    after: Schema,
) -> Iterator[OfferedRewrite]:
    """What may be rewritten: the pairs that the client gave, and the successors that the ontology names."""
    for pair in given_pairs(given, before, after):
        yield OfferedRewrite(pair, GIVEN, sum(1 for _ in statements_with(source, pair, before)))
    for use in uses:
        if use.successor is not None and use.said_by is not None and use.term not in given:
            pair = TermPair(use.term, use.successor, use.is_class)
            yield OfferedRewrite(pair, use.said_by.value, use.statements)


def given_pairs(given: Mapping[NamedNode, NamedNode], before: Schema, after: Schema) -> Iterator[TermPair]:
    """The pairs that a client gave. Raises `ValueError` with what is wrong with one."""
    for old, new in given.items():
        is_class = new in after.classes
        known = after.classes if is_class else after.properties
        was = {*before.classes, *after.classes} if is_class else {*before.properties, *after.properties}
        if new not in known:
            raise ValueError(f"{new} is neither a class nor a property of the edited ontology")
        if known[new].deprecated:
            raise ValueError(f"{new} is deprecated in the edited ontology")
        if old not in was:
            kind = "class" if is_class else "property"
            raise ValueError(f"{old} is no {kind} of the ontology, before or after the edit, as {new} is")
        if new in given:
            raise ValueError(f"{new} is also to be replaced")
        yield TermPair(old, new, is_class)


def statements_with(source: TripleSource, pair: TermPair, before: Schema) -> Iterator[Triple]:
    """The statements of the graph with the old term of a pair, but for those of the ontology itself."""
    return (triple for triple in source.match(*pair.pattern) if triple not in before.triples)


class RewritePreview:
    """What would be rewritten in a graph: `taken` are its statements, `put` those in their place.

    `uses` are the terms that the edit removes or deprecates and that statements use, after what it undoes.
    `offered` are all rewrites, whether wanted or not.
    """

    def __init__(self, source: TripleSource, before: Schema, after: Schema, rewriting: Rewriting) -> None:
        taken: dict[Triple, Triple] = {}
        parted: set[Triple] = set()
        undone = []
        if rewriting.undone and isinstance(source, GraphReading):
            records = RewriteRecords(source)
            taken = records.moves(rewriting.undone)
            for past in rewriting.undone:
                for node, pair in past.pairs.items():
                    united = records.united(node)
                    parted.update(united)
                    number = len(united) + sum(1 for _ in records.statements(node))
                    undone.append(OfferedRewrite(pair.inverse, UNDO, number))
        rest = Overlay(source, (*taken.values(), *parted), taken)
        self.uses = tuple(term_uses(rest, before, after))
        forward = tuple(offered_rewrites(rest, self.uses, rewriting.given, before, after))
        if rewriting.wanted:
            taken.update(_applied(rest, forward, before))
        self.offered = (*undone, *forward)
        self.put, self.taken = frozenset((*taken.values(), *parted)), frozenset(taken)


def _applied(
    source: TripleSource, offered: tuple[OfferedRewrite, ...], before: Schema
) -> Iterator[tuple[Triple, Triple]]:
    for one in offered:
        for triple in statements_with(source, one.pair, before):
            yield triple, one.pair.applied(triple)
