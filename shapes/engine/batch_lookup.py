"""A source that reads all statements of a few predicates at once, for a run over very many nodes.

A lookup in the store costs some tens of microseconds; reading all statements of a predicate in order costs
one or two per statement.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from pyoxigraph import NamedNode, Triple

from sparql.model.source import Term, TripleSource

__all__ = ["BatchLookup"]


class BatchLookup:
    """`base`, with all statements of these predicates in memory, except predicates with more than `most`."""

    def __init__(self, base: TripleSource, predicates: Iterable[NamedNode], most: int) -> None:
        self._base = base
        self._held: dict[NamedNode, tuple[dict[Term, list[Triple]], dict[Term, list[Triple]]]] = {}
        for predicate in predicates:
            triples = list(islice(base.match(None, predicate, None), most + 1))
            if len(triples) <= most:
                by_subject: dict[Term, list[Triple]] = {}
                by_object: dict[Term, list[Triple]] = {}
                for triple in triples:
                    by_subject.setdefault(triple.subject, []).append(triple)
                    by_object.setdefault(triple.object, []).append(triple)
                self._held[predicate] = by_subject, by_object

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        """Triples that fit the pattern; `None` is a wildcard."""
        held = self._held.get(predicate) if predicate is not None else None
        if held is None or (subject is None and object_ is None):
            yield from self._base.match(subject, predicate, object_)
        elif subject is not None:
            for triple in held[0].get(subject, ()):
                if object_ is None or triple.object == object_:
                    yield triple
        elif object_ is not None:
            yield from held[1].get(object_, ())
