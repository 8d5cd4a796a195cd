"""Lookups in a source during one judgment, cached."""

from collections.abc import Callable, Mapping
from functools import lru_cache

from pyoxigraph import Literal, NamedNode, Triple

from shapes.paths import Alternative, Path, Repeat, Sequence, Step, walk
from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import RDF, RDFS

_TYPE = RDF.type
_UP = Repeat(Step(RDFS.subClassOf))


class Reading:
    """A source as the reference engine sees it, without RDF 1.2 triple terms, with its answers cached.

    Valid only while the source does not change.
    """

    def __init__(self, source: TripleSource) -> None:
        self.source = source
        # What a source has in memory anyway need not be kept here once more.
        self._stated: Callable[[Term], Mapping[NamedNode, list[Term]] | None] = getattr(
            source, "stated_of", lambda node: None
        )
        self._objects: dict[tuple[Term, NamedNode], tuple[Term, ...]] = {}
        self._classes: dict[Term, set[Term]] = {}
        self._superclasses: dict[Term, set[Term]] = {}

    def objects(self, node: Term, predicate: NamedNode) -> tuple[Term, ...]:
        """The values of a property."""
        stated = self._stated(node)
        if stated is not None:
            values = stated.get(predicate)
            return () if values is None else _without_triples(values)
        key = (node, predicate)
        found = self._objects.get(key)
        if found is None:
            found = ()
            if not isinstance(node, Literal):
                found = _without_triples([t.object for t in self.source.match(node, predicate, None)])
            self._objects[key] = found
        return found

    def values(self, node: Term, path: Path) -> tuple[Term, ...]:
        """The value nodes at the end of a path, each once."""
        if isinstance(path, Step) and path.forward and path.predicate is not None:
            return self.objects(node, path.predicate)
        if isinstance(path, Sequence) and len(path.parts) == 2:
            middle = self.values(node, path.parts[0])
            return tuple({end for one in middle for end in self.values(one, path.parts[1])})
        if isinstance(path, Alternative):
            stated, steps = self._stated(node), _predicates(path)
            if stated is not None and steps is not None:
                # Hardly any node has a statement with each.
                return tuple({end for one in steps & stated.keys() for end in self.objects(node, one)})
            return tuple({end for part in path.parts for end in self.values(node, part)})
        return tuple(end for end in walk(self.source, node, path) if not isinstance(end, Triple))

    def outgoing(self, node: Term) -> tuple[tuple[NamedNode, Term], ...]:
        """Every property of a node with its value."""
        if isinstance(node, Literal):
            return ()
        found = self.source.match(node, None, None)
        return tuple((t.predicate, t.object) for t in found if not isinstance(t.object, Triple))

    def classes(self, node: Term) -> set[Term]:
        """The classes that a node is a SHACL instance of (SHACL, 1.1)."""
        found = self._classes.get(node)
        if found is None:
            found = set()
            for class_ in self.objects(node, _TYPE):
                found |= self._above(class_)
            self._classes[node] = found
        return found

    def _above(self, class_: Term) -> set[Term]:
        found = self._superclasses.get(class_)
        if found is None:
            found = self._superclasses[class_] = walk(self.source, class_, _UP)
        return found


def _without_triples(values: list[Term]) -> tuple[Term, ...]:
    return tuple([value for value in values if not isinstance(value, Triple)])


@lru_cache(maxsize=256)
def _predicates(path: Alternative) -> frozenset[NamedNode] | None:
    """The predicates of which a path takes any one; None where it is not of that kind."""
    found = {
        part.predicate
        for part in path.parts
        if isinstance(part, Step) and part.forward and part.predicate is not None
    }
    return frozenset(found) if len(found) == len(set(path.parts)) else None
