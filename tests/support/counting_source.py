"""A source that counts what is read from it, to show that work stays bounded."""

from collections.abc import Iterator

from pyoxigraph import NamedNode, Triple

from sparql.model.source import Term, TripleSource


class CountingSource:
    """Counts lookups and the triples that they return."""

    def __init__(self, base: TripleSource) -> None:
        self._base = base
        self.read = 0
        self.lookups = 0

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        self.lookups += 1
        for triple in self._base.match(subject, predicate, object_):
            self.read += 1
            yield triple
