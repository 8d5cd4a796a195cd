"""RDF terms in rdflib and pyoxigraph, and shapes graphs in memory.

rdflib's own store keeps the contexts of each triple and dispatches an event for each that is added: half of
the time that reading a large shapes file takes, and of every lookup in it. So graphs of shapes have a store
of their own.
"""

from collections.abc import Generator, Iterable, Iterator
from itertools import repeat
from typing import Any

import rdflib
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from rdflib.namespace import OWL, RDF, RDFS, SH
from rdflib.store import Store

from sparql.model.source import Term

Node = rdflib.term.Node


def to_rdflib(term: Term) -> rdflib.URIRef | rdflib.BNode | rdflib.Literal | None:
    """The same term in rdflib, lexical form untouched; None for an RDF 1.2 triple term, which it lacks."""
    if isinstance(term, NamedNode):
        return rdflib.URIRef(term.value)
    if isinstance(term, BlankNode):
        return rdflib.BNode(term.value)
    if isinstance(term, Triple):
        return None
    if term.language is not None:
        return rdflib.Literal(term.value, lang=term.language)
    return rdflib.Literal(term.value, datatype=rdflib.URIRef(term.datatype.value), normalize=False)


def to_oxigraph(node: rdflib.term.Node) -> NamedNode | BlankNode | Literal:
    """The same term in pyoxigraph."""
    if isinstance(node, rdflib.URIRef):
        return NamedNode(str(node))
    if isinstance(node, rdflib.BNode):
        return BlankNode(str(node))
    if isinstance(node, rdflib.Literal):
        if node.language:
            return Literal(str(node), language=node.language)
        if node.datatype is not None:
            return Literal(str(node), datatype=NamedNode(str(node.datatype)))
        return Literal(str(node))
    raise TypeError(f"{node!r} is not an RDF term")


_Triple = tuple[Node, Node, Node]
_Index = dict[Node, dict[Node, dict[Node, None]]]


def graph_in_memory() -> rdflib.Graph:
    """An empty graph over a `TripleMemory`."""
    return _MemoryGraph(store=TripleMemory(), bind_namespaces="none")


def add_all(graph: rdflib.Graph, triples: Iterable[_Triple]) -> None:
    """Add triples to such a graph, at once."""
    graph.store.add_all(triples)  # type: ignore[attr-defined]


class TripleMemory(Store):
    """A store of one graph, to which triples are only added; answers are in the order of adding."""

    context_aware = False
    formula_aware = False
    transaction_aware = False

    def __init__(self) -> None:
        super().__init__()
        self._by_subject: _Index = {}
        self._by_predicate: _Index = {}
        self._by_object: _Index = {}
        self._prefixes: dict[str, rdflib.URIRef] = {}
        self._length = 0

    def add(self, triple: Any, context: Any = None, quoted: bool = False) -> None:
        """Add a triple, if it is new."""
        self.add_all((triple,))

    def add_all(self, triples: Iterable[_Triple]) -> None:
        """Add triples, those that are new."""
        by_subject, by_predicate, by_object = self._by_subject, self._by_predicate, self._by_object
        for subject, predicate, value in triples:
            objects = by_subject.setdefault(subject, {}).setdefault(predicate, {})
            if value not in objects:
                objects[value] = None
                by_predicate.setdefault(predicate, {}).setdefault(value, {})[subject] = None
                by_object.setdefault(value, {}).setdefault(subject, {})[predicate] = None
                self._length += 1

    def triples(self, triple_pattern: Any, context: Any = None) -> Iterator[tuple[Any, Iterator[Any]]]:
        """What fits a pattern, as rdflib asks for it."""
        return zip(self.fitting(*triple_pattern), repeat(iter(())))

    def fitting(self, subject: Node | None, predicate: Node | None, value: Node | None) -> list[_Triple]:
        """The triples that fit a pattern, as they are when it is asked."""
        if subject is not None:
            of_subject = self._by_subject.get(subject, {})
            if predicate is not None:
                objects = of_subject.get(predicate, {})
                if value is not None:
                    return [(subject, predicate, value)] if value in objects else []
                return [(subject, predicate, one) for one in objects]
            if value is not None:
                return [(subject, one, value) for one in self._by_object.get(value, {}).get(subject, ())]
            return [(subject, one, other) for one, objects in of_subject.items() for other in objects]
        if predicate is not None:
            of_predicate = self._by_predicate.get(predicate, {})
            if value is not None:
                return [(one, predicate, value) for one in of_predicate.get(value, ())]
            return [(one, predicate, other) for other, subjects in of_predicate.items() for one in subjects]
        if value is not None:
            of_value = self._by_object.get(value, {})
            return [(one, other, value) for one, predicates in of_value.items() for other in predicates]
        return [
            (one, other, last)
            for one, predicates in self._by_subject.items()
            for other, objects in predicates.items()
            for last in objects
        ]

    def __len__(self, context: Any = None) -> int:
        return self._length

    def bind(self, prefix: str, namespace: rdflib.URIRef, override: bool = True) -> None:
        """Give a namespace a prefix; without `override`, unless either is taken."""
        if override or not (prefix in self._prefixes or namespace in self._prefixes.values()):
            for taken in [one for one, other in self._prefixes.items() if other == namespace]:
                del self._prefixes[taken]
            self._prefixes[prefix] = namespace

    def namespace(self, prefix: str) -> rdflib.URIRef | None:
        """The namespace of a prefix."""
        return self._prefixes.get(prefix)

    def prefix(self, namespace: rdflib.URIRef) -> str | None:
        """The prefix of a namespace."""
        return next((one for one, other in self._prefixes.items() if other == namespace), None)

    def namespaces(self) -> Generator[tuple[str, rdflib.URIRef], None, None]:
        """All prefixes with their namespaces."""
        yield from self._prefixes.items()


class _MemoryGraph(rdflib.Graph):
    """Asks a `TripleMemory` directly unless a pattern has a path: rdflib takes as long as the lookup."""

    def triples(self, triple: Any) -> Iterator[Any]:  # type: ignore[override]
        """The triples that fit a pattern, which may have a path as its predicate."""
        if triple[1] is not None and not isinstance(triple[1], rdflib.URIRef):
            return iter(super().triples(triple))
        return iter(self.store.fitting(*triple))  # type: ignore[attr-defined]


def excerpt(graph: rdflib.Graph, shapes: Iterable[Node]) -> rdflib.Graph:
    """All that is stated of shapes and of what they refer to, directly or not, with the prefixes.

    Some is found without a reference: the siblings of a property shape (SHACL, 4.7.3), the ontologies whose
    prefixes apply to queries that name none, and the components that apply wherever their parameters are.
    """
    part = graph_in_memory()
    for prefix, namespace in graph.namespaces():
        part.bind(prefix, namespace)
    kinds = {SH.ConstraintComponent, *graph.subjects(RDFS.subClassOf, SH.ConstraintComponent), OWL.Ontology}
    waiting = [*shapes, *(node for kind in kinds for node in graph.subjects(RDF.type, kind))]
    found: set[Node] = set()
    while waiting:
        node = waiting.pop()
        if node in found or isinstance(node, rdflib.Literal):
            continue
        found.add(node)
        triples = list(graph.triples((node, None, None)))
        add_all(part, triples)
        waiting += (value for _, _, value in triples)
        waiting += graph.subjects(SH.property, node)
    return part
