"""What a full validation looks up beside the nodes that it judges, read for many at once and kept.

A lookup in the store costs some 30 us of processor time, most of which is not for what is found. So the types
of all nodes are read once and kept by the nodes' hashes; of a node that more is asked of, everything is read;
and what nothing leads to by a predicate is known from a table that holds where anything does.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
from pyoxigraph import Literal, NamedNode, Triple

from sparql.model.source import Term
from sparql.model.vocabulary import RDF, RDFS
from sparql.storage.embedded_store import EmbeddedStore

_MOST_TYPED = 2**16
_MOST_KNOWN = 2**13
_MOST_ABOUT = 64
"""Of a node with more statements no more than what was asked for is read."""
_OFTEN = 1000
"""So many lookups of values of one predicate are worth reading all of its statements."""
_PLACES = 2**22


class Surroundings:
    """A store that does not change, with what was read of it kept; its memory is bounded."""

    def __init__(self, store: EmbeddedStore) -> None:
        self._store = store
        self._types: dict[Term, list[Triple]] = {}
        self._types_by_hash: _TypesByHash | None = None
        self._about: dict[Term, dict[NamedNode, list[Triple]] | None] = {}
        self._asked: Counter[NamedNode] = Counter()
        self._values: dict[NamedNode, bytearray] = {}

    def expect(self, nodes: Iterable[NamedNode]) -> None:
        """Read the types of nodes that will be asked for."""
        if len(self._types) > _MOST_TYPED:
            self._types.clear()
        if self._types_by_hash is None:
            self._types_by_hash = _TypesByHash(self._store)
        self._types.update(self._types_by_hash.of([node for node in nodes if node not in self._types]))

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        """Triples that fit the pattern; `None` is a wildcard."""
        if predicate is None or predicate == RDFS.subClassOf or isinstance(subject, Literal):
            return self._store.match(subject, predicate, object_)
        if subject is None:
            if object_ is not None and self._leads_nowhere(predicate, object_):
                return iter(())
            return self._store.match(subject, predicate, object_)
        found = self._types.get(subject) if predicate == RDF.type else None
        if found is None:
            about = self._all_about(subject)
            if about is None:
                return self._store.match(subject, predicate, object_)
            found = about.get(predicate, [])
        return iter(found) if object_ is None else (one for one in found if one.object == object_)

    def _all_about(self, subject: Term) -> dict[NamedNode, list[Triple]] | None:
        """All that is stated of a node; None where that is much."""
        if subject not in self._about:
            if len(self._about) > _MOST_KNOWN:
                self._about.clear()
            triples = list(islice(self._store.match(subject, None, None), _MOST_ABOUT + 1))
            about: dict[NamedNode, list[Triple]] = {}
            for triple in triples:
                about.setdefault(triple.predicate, []).append(triple)
            self._about[subject] = about if len(triples) <= _MOST_ABOUT else None
        return self._about[subject]

    def _leads_nowhere(self, predicate: NamedNode, value: Term) -> bool:
        """Whether no statement with a predicate surely has this value."""
        places = self._values.get(predicate)
        if places is None:
            self._asked[predicate] += 1
            if self._asked[predicate] < _OFTEN:
                return False
            places = self._values[predicate] = bytearray(_PLACES)
            for value in self._store.values_of(predicate):
                places[hash(value) % _PLACES] = 1
        return not places[hash(value) % _PLACES]


class _TypesByHash:
    """The types of all nodes of a store in 12 bytes for each statement, read class by class.

    Of a node 64 bits are kept: among 100 million nodes the odds are 1 to 3,700 that any two share them, and
    would have each other's types. Nothing but a report is made from this.
    """

    def __init__(self, store: EmbeddedStore) -> None:
        self._classes = list(store.values_of(RDF.type))
        hashes, numbers = array("q"), array("i")
        for number, class_ in enumerate(self._classes):
            before = len(hashes)
            if isinstance(class_, NamedNode):
                hashes.extend(map(hash, store.subjects_of(RDF.type, class_)))
            else:
                hashes.extend(hash(triple.subject) for triple in store.match(None, RDF.type, class_))
            numbers.extend([number] * (len(hashes) - before))
        unsorted = np.frombuffer(hashes, dtype=np.int64)
        order = np.argsort(unsorted, kind="stable")
        self._hashes, self._numbers = unsorted[order], np.frombuffer(numbers, dtype=np.int32)[order]

    def of(self, nodes: list[NamedNode]) -> Iterator[tuple[NamedNode, list[Triple]]]:
        """Each node with its types as statements."""
        keys = np.fromiter(map(hash, nodes), dtype=np.int64, count=len(nodes))
        begins, ends = (np.searchsorted(self._hashes, keys, side=side).tolist() for side in ("left", "right"))
        for node, begin, end in zip(nodes, begins, ends, strict=True):
            numbers = self._numbers[begin:end].tolist()
            yield node, [Triple(node, RDF.type, self._classes[number]) for number in numbers]
