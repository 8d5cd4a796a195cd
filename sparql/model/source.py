"""What the gate and the derivers read: the default graph as it is, or as it would be.

`TripleSource` is the one narrow interface. `Overlay` shows a source with a change applied, without writing
it, so that a change can be judged before it is committed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from sparql.model.vocabulary import DEFAULT

Term = NamedNode | BlankNode | Literal | Triple


class TripleSource(Protocol):
    """Pattern lookups over one graph. `None` is a wildcard."""

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]: ...


class TripleIndex:
    """A small in-memory set of triples with lookups by subject, predicate and object."""

    def __init__(self, triples: Iterable[Triple] = ()) -> None:
        self.triples: set[Triple] = set()
        # Removed triples stay in these lists and are skipped by lookups, so that a removal costs one lookup.
        self._gone: set[Triple] = set()
        self._by_subject: dict[Term, list[Triple]] = {}
        self._by_object: dict[Term, list[Triple]] = {}
        self._by_predicate: dict[NamedNode, list[Triple]] = {}
        for triple in triples:
            self.add(triple)

    def add(self, triple: Triple) -> None:
        before = len(self.triples)
        self.triples.add(triple)
        if len(self.triples) == before:
            return
        if triple in self._gone:
            self._gone.remove(triple)
            return
        self._by_subject.setdefault(triple.subject, []).append(triple)
        self._by_object.setdefault(triple.object, []).append(triple)
        self._by_predicate.setdefault(triple.predicate, []).append(triple)

    def clear(self) -> None:
        """Remove all triples. Lookups under way still give those that were there."""
        self.triples, self._gone = set(), set()
        self._by_subject, self._by_object, self._by_predicate = {}, {}, {}

    def discard(self, triple: Triple) -> None:
        """Remove a triple, if it is there."""
        if triple in self.triples:
            self.triples.remove(triple)
            self._gone.add(triple)

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        if subject is not None:
            found: Iterable[Triple] = self._by_subject.get(subject, ())
        elif object_ is not None:
            found = self._by_object.get(object_, ())
        elif predicate is not None:
            found = self._by_predicate.get(predicate, ())
        else:
            found = self.triples
        for triple in found:
            if (
                (predicate is None or triple.predicate == predicate)
                and (object_ is None or triple.object == object_)
                and not (self._gone and triple in self._gone)
            ):
                yield triple

    def __contains__(self, triple: object) -> bool:
        return triple in self.triples

    def __len__(self) -> int:
        return len(self.triples)


class Overlay:
    """A read-only source with additions and removals applied; nothing is written.

    An added triple stays even if it is also removed. An index passed as additions may change later.
    """

    def __init__(
        self,
        base: TripleSource,
        additions: Iterable[Triple] | TripleIndex = (),
        removals: Iterable[Triple] = (),
    ) -> None:
        self._base = base
        self._additions = additions if isinstance(additions, TripleIndex) else TripleIndex(additions)
        self._removals = frozenset(removals)

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        yield from self._additions.match(subject, predicate, object_)
        added, removed = self._additions.triples, self._removals
        for triple in self._base.match(subject, predicate, object_):
            if triple not in removed and triple not in added:
                yield triple


class KnownAbsent:
    """A source that does not change, queried only once about a node that it does not hold."""

    def __init__(self, base: TripleSource) -> None:
        self._base = base
        self._as_subject: dict[Term, bool] = {}
        self._as_object: dict[Term, bool] = {}

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        if subject is not None:
            there = self._as_subject.get(subject)
            if there is None:
                there = self._as_subject[subject] = _any(self._base.match(subject, None, None))
        elif object_ is not None:
            there = self._as_object.get(object_)
            if there is None:
                there = self._as_object[object_] = _any(self._base.match(None, None, object_))
        else:
            there = True
        return self._base.match(subject, predicate, object_) if there else iter(())

    def lacks(self, triple: Triple) -> bool:
        """Whether a triple is known to be absent; makes no query."""
        as_subject, as_object = self._as_subject.get(triple.subject), self._as_object.get(triple.object)
        return as_subject is False or as_object is False


def _any(triples: Iterator[Triple]) -> bool:
    return next(triples, None) is not None


class QuadSource(Protocol):
    """Pattern lookups over named graphs."""

    def match_quads(
        self,
        subject: Term | None,
        predicate: NamedNode | None,
        object_: Term | None,
        graph: NamedNode | BlankNode | DefaultGraph | None = None,
    ) -> Iterator[Quad]: ...


@dataclass(frozen=True)
class NamedGraphSource:
    """A named graph of the store, read like the default graph."""

    store: QuadSource
    graph: NamedNode

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        """Triples of the graph that match the pattern; `None` is a wildcard."""
        for quad in self.store.match_quads(subject, predicate, object_, self.graph):
            yield quad.triple


class GraphReading(ABC):
    """The default graph and the named ones as sources of triples."""

    @abstractmethod
    def match_quads(
        self,
        subject: Term | None,
        predicate: NamedNode | None,
        object_: Term | None,
        graph: NamedNode | BlankNode | DefaultGraph | None = None,
    ) -> Iterator[Quad]:
        """Quads that match the pattern, of one graph or (None) of all."""

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        """Triples of the default graph that match the pattern; `None` is a wildcard."""
        for quad in self.match_quads(subject, predicate, object_, DEFAULT):
            yield quad.triple

    def named(self, graph: NamedNode) -> NamedGraphSource:
        """One named graph as a source of triples."""
        return NamedGraphSource(self, graph)
