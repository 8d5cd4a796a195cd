"""Lookups in a source during one judgment, cached."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from pyoxigraph import Literal, NamedNode, Triple

from shapes import paths
from shapes.paths import Alternative, Path, Repeat, Step, walk
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
        self._objects: dict[tuple[Term, NamedNode], Sequence[Term]] = {}
        self._classes: dict[tuple[Term, ...], set[Term]] = {}
        self._superclasses: dict[Term, set[Term]] = {}

    def objects(self, node: Term, predicate: NamedNode) -> Sequence[Term]:
        """The values of a property."""
        stated = self._stated(node)
        if stated is not None:
            return stated.get(predicate, ())
        key = (node, predicate)
        found = self._objects.get(key)
        if found is None:
            found = ()
            if not isinstance(node, Literal):
                triples = self.source.match(node, predicate, None)
                found = tuple([t.object for t in triples if not isinstance(t.object, Triple)])
            self._objects[key] = found
        return found

    def values_of(self, nodes: Iterable[Term], path: Path) -> list[Sequence[Term]]:
        """The value nodes at the end of a path for each of some nodes, each once."""
        if isinstance(path, Step) and path.forward and path.predicate is not None:
            predicate, stated = path.predicate, self._stated
            return [
                self.objects(node, predicate) if (about := stated(node)) is None else about.get(predicate, ())
                for node in nodes
            ]
        return [self.values(node, path) for node in nodes]

    def values(self, node: Term, path: Path) -> Sequence[Term]:
        """The value nodes at the end of a path, each once."""
        if isinstance(path, Step) and path.forward and path.predicate is not None:
            return self.objects(node, path.predicate)
        if isinstance(path, Step) and not path.forward and path.predicate is not None:
            return [triple.subject for triple in self.source.match(None, path.predicate, node)]
        if isinstance(path, paths.Sequence) and len(path.parts) == 2:
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
        types = tuple(self.objects(node, _TYPE))
        found = self._classes.get(types)
        if found is None:
            found = self._classes[types] = set().union(*map(self._above, types))
        return found

    def _above(self, class_: Term) -> set[Term]:
        found = self._superclasses.get(class_)
        if found is None:
            found = self._superclasses[class_] = walk(self.source, class_, _UP)
        return found


@lru_cache(maxsize=256)
def _predicates(path: Alternative) -> frozenset[NamedNode] | None:
    """The predicates of which a path takes any one; None where it is not of that kind."""
    found = {
        part.predicate
        for part in path.parts
        if isinstance(part, Step) and part.forward and part.predicate is not None
    }
    return frozenset(found) if len(found) == len(set(path.parts)) else None
