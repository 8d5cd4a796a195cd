"""An index of triples that resolves lists and class expressions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from ontology import vocabulary as v

__all__ = ["Graph", "Node"]

Node = NamedNode | BlankNode | Literal | Triple


class Graph:
    """An index of triples by subject and predicate, in the order written."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._objects: dict[tuple[Node, NamedNode], list[Node]] = defaultdict(list)
        self._pairs: dict[NamedNode, list[tuple[Node, Node]]] = defaultdict(list)
        for subject, predicate, value in triples:
            self._objects[subject, predicate].append(value)
            self._pairs[predicate].append((subject, value))

    def objects(self, subject: Node, *predicates: NamedNode) -> list[Node]:
        """The values of a subject's predicates, in the order written."""
        return [value for predicate in predicates for value in self._objects.get((subject, predicate), ())]

    def statements(self, subject: Node) -> list[tuple[NamedNode, Node]]:
        """All (predicate, value) of a subject, by predicate."""
        return [
            (predicate, value)
            for predicate in self._pairs
            for value in self._objects.get((subject, predicate), ())
        ]

    def pairs(self, predicate: NamedNode) -> list[tuple[Node, Node]]:
        """All (subject, object) of a predicate, in the order written."""
        return self._pairs.get(predicate, [])

    def instances(self, *kinds: NamedNode) -> Iterator[NamedNode]:
        """The IRIs with one of the given types, in the order written, each once."""
        found = dict.fromkeys(
            subject
            for subject, kind in self.pairs(v.TYPE)
            if kind in kinds and isinstance(subject, NamedNode)
        )
        return iter(found)

    def literals(self, subject: Node, *predicates: NamedNode) -> list[Literal]:
        """The literal values of a subject's predicates."""
        return [value for value in self.objects(subject, *predicates) if isinstance(value, Literal)]

    def is_true(self, subject: Node, predicate: NamedNode) -> bool:
        """Whether a subject has a predicate with the value true."""
        return any(value.value in ("true", "1") for value in self.literals(subject, predicate))

    def members(self, head: Node) -> list[Node]:
        """The members of an RDF list; a broken or circular list ends where it breaks."""
        found: list[Node] = []
        seen: set[Node] = set()
        while head != v.NIL and head not in seen:
            seen.add(head)
            found += self.objects(head, v.FIRST)[:1]
            rest = self.objects(head, v.REST)
            if not rest:
                break
            head = rest[0]
        return found

    def alternatives(self, expression: Node) -> tuple[NamedNode, ...]:
        """The named classes of a class expression in order: itself, or the members of its (nested) unions."""
        if isinstance(expression, NamedNode):
            return (expression,)
        found: dict[NamedNode, None] = {}
        for union in self.objects(expression, v.UNION_OF):
            for member in self.members(union):
                found |= dict.fromkeys(self.alternatives(member))
        return tuple(found)
