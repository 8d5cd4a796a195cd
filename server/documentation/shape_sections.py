"""The rules of the shapes files, by the terms that they are about, with their examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from pyoxigraph import BlankNode, NamedNode, RdfFormat, Triple, serialize

from ontology.graph import Graph, Node
from ontology.labels import local_name
from ontology.loading import OntologyFile
from server.documentation.markup import Links, code, listed, rows, section, text
from server.rules.shape_examples import examples_of
from sparql.model.vocabulary import RDF, RDFS, SH

__all__ = ["ShapeSections"]

_TARGETS = (SH.targetClass, SH.targetSubjectsOf, SH.targetObjectsOf, SH.targetNode)
_TYPES = (SH.NodeShape, SH.PropertyShape)


class ShapeSections:
    """The named shapes of files. `folder` has the examples."""

    def __init__(self, files: Sequence[OntologyFile], folder: Path) -> None:
        self._folder = folder
        self._files: dict[NamedNode, tuple[OntologyFile, Graph]] = {}
        self._statements: dict[Node, list[Triple]] = defaultdict(list)
        self._about: dict[NamedNode, list[NamedNode]] = defaultdict(list)
        for file in files:
            graph = Graph(file.triples)
            for triple in file.triples:
                self._statements[triple.subject].append(triple)
            for predicate in (RDF.type, *_TARGETS):
                for node, value in graph.pairs(predicate):
                    if isinstance(node, NamedNode) and (predicate != RDF.type or value in _TYPES):
                        self._files.setdefault(node, (file, graph))
        for shape, (_, graph) in self._files.items():
            for term in graph.objects(shape, *_TARGETS, SH.path):
                if isinstance(term, NamedNode) and shape not in self._about[term]:
                    self._about[term].append(shape)

    @property
    def shapes(self) -> tuple[NamedNode, ...]:
        """All named shapes, in the order of the files."""
        return tuple(self._files)

    @property
    def labels(self) -> dict[NamedNode, str]:
        """The names of the shapes."""
        found = {}
        for shape, (_, graph) in self._files.items():
            names = graph.literals(shape, RDFS.label, SH.name)
            found[shape] = names[0].value if names else local_name(shape.value)
        return found

    def about(self, term: NamedNode) -> Sequence[NamedNode]:
        """The shapes that a term is a target or the path of."""
        return self._about.get(term, ())

    def section(self, links: Links, shape: NamedNode) -> str:
        """What a shape demands, as words and as Turtle, and what passes and fails it."""
        file, graph = self._files[shape]
        about = graph.objects(shape, *_TARGETS, SH.path)
        examples = "".join(
            f"<p>{'Passes' if one.passes else 'Fails'}: {text(one.name)}</p>{code(one.turtle)}"
            for one in examples_of(self._folder, shape.value)
        )
        return section(
            links.anchors[shape],
            links.name(shape),
            f'<p class="iri"><code>{text(shape.value)}</code></p>',
            *(f"<p>{text(one.value)}</p>" for one in graph.literals(shape, SH.message)[:1]),
            rows(
                [
                    ("about", listed(map(links.value, dict.fromkeys(about)))),
                    ("severity", listed(links.value(one) for one in graph.objects(shape, SH.severity))),
                    ("note", listed(text(one.value) for one in graph.literals(shape, RDFS.comment))),
                ]
            ),
            f"<details><summary>Turtle</summary>{code(self._turtle(file, shape))}</details>",
            f"<details><summary>Examples</summary>{examples}</details>" if examples else "",
        )

    def _turtle(self, file: OntologyFile, shape: NamedNode) -> str:
        """A shape with the nodes without names beneath it, without the lines of prefixes."""
        waiting: list[Node] = [shape]
        found: list[Triple] = []
        seen: set[Node] = set()
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            statements = self._statements.get(node, [])
            found += statements
            waiting += [one.object for one in statements if isinstance(one.object, BlankNode)]
        written = serialize(found, format=RdfFormat.TURTLE, prefixes=dict(file.prefixes)) or b""
        lines = written.decode().splitlines()
        return "\n".join(line for line in lines if not line.startswith("@prefix"))
