"""Rewrites of statements to other terms of the ontology, as the provenance graph records them.

A rewrite happens in the commit that replaces the ontology. Its record names the versions of the ontology
before and after, each pair of terms, and the statements and review items that it changed, so that returning
to the earlier version can undo exactly those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pyoxigraph
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Triple

from sparql.model.source import QuadSource, Term
from sparql.model.vocabulary import DEFAULT, PROV, PROVENANCE, RDF, RECORD, UKG, XSD

_CLASS, _PROPERTY = Literal("class"), Literal("property")
Pattern = tuple[None, NamedNode, NamedNode | None]


@dataclass(frozen=True)
class TermPair:
    """A term, and the one that is used instead of it: both classes, or both properties."""

    old: NamedNode
    new: NamedNode
    is_class: bool

    @property
    def pattern(self) -> Pattern:
        """The statements with the old term."""
        return (None, RDF.type, self.old) if self.is_class else (None, self.old, None)

    def applied(self, triple: Triple) -> Triple:
        """A statement with the old term, with the new one instead."""
        if self.is_class:
            return Triple(triple.subject, triple.predicate, self.new)
        return Triple(triple.subject, self.new, triple.object)

    @property
    def inverse(self) -> TermPair:
        """The pair that takes it back."""
        return TermPair(self.new, self.old, self.is_class)


@dataclass(frozen=True)
class PastRewrite:
    """A recorded rewrite. `pairs` has the node of each pair; `before` and `after` are ontology versions."""

    iri: NamedNode
    before: str
    after: str
    at: str
    pairs: Mapping[NamedNode, TermPair]


@dataclass(frozen=True)
class Rewriting:
    """What an edit of the ontology does to statements.

    With `wanted`, statements with removed or deprecated terms use the successors instead; `given` are pairs
    of old and new terms that take precedence over what the ontology says. `undone` are rewrites that the
    edit takes back because it returns to the version before them, the newest first.
    """

    wanted: bool = False
    given: Mapping[NamedNode, NamedNode] = field(default_factory=dict)
    undone: tuple[PastRewrite, ...] = ()


LEAVE = Rewriting()
"""Statements stay as they are."""


class RewriteRecords:
    """Reads the rewrites that are not undone."""

    def __init__(self, store: QuadSource) -> None:
        self._store = store

    def returning(self, version: str) -> tuple[PastRewrite, ...]:
        """The rewrites since the ontology had this version, the newest first; none where it never had it."""
        found: list[PastRewrite] = []
        for past in self.all():
            found.append(past)
            if past.before == version:
                return tuple(found)
        return ()

    def all(self) -> list[PastRewrite]:
        """Every rewrite that is not undone, the newest first."""
        records = {q.subject for q in self._match(None, RDF.type, UKG.Rewrite)}
        found = [
            self._read(one)
            for one in records
            if isinstance(one, NamedNode) and self._text(one, UKG.undoneAt) is None
        ]
        return sorted(found, key=lambda past: (past.at, past.iri.value), reverse=True)

    def statements(self, pair: NamedNode) -> Iterator[Triple]:
        """The statements of a pair as they were before, but for those that the new term stated too."""
        for quad in self._match(pair, UKG.rewrote, None):
            if isinstance(quad.object, Triple):
                yield quad.object

    def moves(self, undone: Iterable[PastRewrite]) -> dict[Triple, Triple]:
        """Statements as they are now, if they still exist, with what they were before all these rewrites.

        The newest rewrite comes first. Statements that were united with others are not among them.
        """
        found: dict[Triple, Triple] = {}
        now_of: dict[Triple, Triple] = {}
        for past in undone:
            for node, pair in past.pairs.items():
                for triple in self.statements(node):
                    made = pair.applied(triple)
                    here = now_of.pop(made, made)
                    found[here] = triple
                    now_of[triple] = here
        return found

    def united(self, node: NamedNode) -> list[Triple]:
        """The statements of a pair that existed with the new term too, as they were before."""
        return [quad.triple for quad in self.merged(node, UKG.took) if quad.graph_name == DEFAULT]

    def items(self, pair: NamedNode) -> Iterator[NamedNode]:
        """The review items whose statements a pair changed."""
        for quad in self._match(pair, UKG.item, None):
            if isinstance(quad.object, NamedNode):
                yield quad.object

    def merged(self, pair: NamedNode, predicate: NamedNode) -> list[Quad]:
        """What a pair took or put where the statement existed with the new term too."""
        text = self._text(pair, predicate) or ""
        return list(pyoxigraph.parse(text.encode(), format=RdfFormat.N_QUADS))

    def contents(self, past: PastRewrite) -> Iterator[Quad]:
        """The quads that an undo needs, and nobody after it."""
        for pair in past.pairs:
            for predicate in (UKG.rewrote, UKG.item, UKG.took, UKG.put):
                yield from self._match(pair, predicate, None)

    def _read(self, iri: NamedNode) -> PastRewrite:
        nodes = sorted((q.object for q in self._match(iri, UKG.pair, None)), key=str)
        return PastRewrite(
            iri,
            self._text(iri, UKG.ontologyBefore) or "",
            self._text(iri, UKG.ontologyVersion) or "",
            self._text(iri, PROV.endedAtTime) or "",
            {node: self._pair(node) for node in nodes if isinstance(node, NamedNode)},
        )

    def _pair(self, node: NamedNode) -> TermPair:
        old, new = (
            next(q.object for q in self._match(node, predicate, None))
            for predicate in (UKG.oldTerm, UKG.newTerm)
        )
        assert isinstance(old, NamedNode)
        assert isinstance(new, NamedNode)
        return TermPair(old, new, self._text(node, UKG.termKind) == _CLASS.value)

    def _match(self, subject: Term | None, predicate: NamedNode, value: Term | None) -> Iterator[Quad]:
        return self._store.match_quads(subject, predicate, value, PROVENANCE)

    def _text(self, subject: NamedNode, predicate: NamedNode) -> str | None:
        found = (quad.object for quad in self._match(subject, predicate, None))
        return next((term.value for term in found if isinstance(term, Literal)), None)


def header_quads(past: PastRewrite) -> Iterator[Quad]:
    """The record of a rewrite, without its statements."""
    now = Literal(past.at, datatype=XSD.dateTime)
    facts: list[tuple[NamedNode, NamedNode | Literal]] = [
        (RDF.type, PROV.Activity),
        (RDF.type, UKG.Rewrite),
        (PROV.startedAtTime, now),
        (PROV.endedAtTime, now),
        (UKG.ontologyBefore, Literal(past.before)),
        (UKG.ontologyVersion, Literal(past.after)),
        *((UKG.pair, node) for node in past.pairs),
    ]
    for predicate, value in facts:
        yield Quad(past.iri, predicate, value, PROVENANCE)
    for node, pair in past.pairs.items():
        yield Quad(node, UKG.oldTerm, pair.old, PROVENANCE)
        yield Quad(node, UKG.newTerm, pair.new, PROVENANCE)
        yield Quad(node, UKG.termKind, _CLASS if pair.is_class else _PROPERTY, PROVENANCE)


def record_of(identifier: str, before: str, after: str, at: str, pairs: tuple[TermPair, ...]) -> PastRewrite:
    """The record of a rewrite that is about to be made."""
    iri = RECORD.term("rewrite/" + identifier)
    nodes = {NamedNode(f"{iri.value}/{number}"): pair for number, pair in enumerate(pairs)}
    return PastRewrite(iri, before, after, at, nodes)
