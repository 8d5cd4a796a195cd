"""Ontology and shapes as HTML pages: one for each ontology, with a section for each term and rule.

`urbankg ontology document` writes the pages, and an ontology's IRI answers with its own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import count
from pathlib import Path
from typing import Final

from pyoxigraph import BlankNode, NamedNode, RdfFormat, Triple, serialize

from ontology import PropertyKind, Schema
from ontology import vocabulary as v
from ontology.graph import Graph, Node
from ontology.labels import local_name
from ontology.loading import OntologyFile
from ontology.terms import OntologyClass, OntologyProperty
from server.documentation.markup import (
    Links,
    class_diagram,
    code,
    listed,
    page,
    property_diagram,
    rows,
    section,
    text,
)
from server.rules.ruleset import examples_of
from sparql.model.vocabulary import RDF, RDFS, SH

_DCTERMS: Final = "http://purl.org/dc/terms/"
_TITLES: Final = (NamedNode(_DCTERMS + "title"), v.LABEL)
_DESCRIPTIONS: Final = (NamedNode(_DCTERMS + "description"), v.COMMENT)
_KINDS: Final = {
    PropertyKind.OBJECT: "Relations",
    PropertyKind.DATATYPE: "Attributes",
    PropertyKind.ANNOTATION: "Annotations",
}


def ontology_page(schema: Schema, iri: NamedNode, shapes: ShapeSections) -> str:
    """An ontology as a page: metadata, the tree of classes, and a section for each term and rule."""
    graph = Graph(schema.ontologies[iri])
    subjects = {triple.subject for triple in schema.ontologies[iri]}
    classes = [term for term in schema.classes.values() if term.iri in subjects and not term.borrowed]
    properties = [term for term in schema.properties.values() if term.iri in subjects and not term.borrowed]
    individuals = _individuals(schema, schema.ontologies[iri])
    terms: list[OntologyClass | OntologyProperty] = [*classes, *properties]
    own = [term.iri for term in terms]
    rules = list(dict.fromkeys(shape for term in own for shape in shapes.about(term)))
    labels = {term.iri: term.label for term in terms} | shapes.labels
    labels |= {thing: _label(graph, thing) for group in individuals.values() for thing in group}
    things = [thing for group in individuals.values() for thing in group]
    links = Links([*own, *things, *rules], labels, schema.prefixes)
    sections = TermSections(schema, graph, links, shapes)
    groups: list[tuple[str, list[str]]] = [("Classes", [sections.class_section(term) for term in classes])]
    for kind, title in _KINDS.items():
        groups.append((title, [sections.property_section(term) for term in properties if term.kind is kind]))
    for class_, group in individuals.items():
        groups.append(
            (f"Individuals: {links.name(class_)}", [sections.individual_section(thing) for thing in group])
        )
    groups.append(("Rules", [shapes.section(links, rule) for rule in rules]))
    filled = [(title, content) for title, content in groups if content]
    return page(
        _title(graph, iri),
        _head(graph, links, iri),
        _contents(filled),
        f'<h2 id="hierarchy">Hierarchy of classes</h2>{sections.tree(classes)}' if classes else "",
        *(
            f'<h2 id="{_anchor(title)}">{escape(title)}</h2>\n' + "\n".join(content)
            for title, content in filled
        ),
    )


def page_names(schema: Schema) -> dict[NamedNode, str]:
    """The file name of each ontology's page: the end of its IRI, and a number where two end alike."""
    found: dict[NamedNode, str] = {}
    for iri in schema.ontologies:
        stem = re.sub(r"[^\w-]+", "-", local_name(iri.value)).strip("-") or "ontology"
        taken = {"index.html", *found.values()}
        names = (f"{stem}{'' if number == 1 else f'-{number}'}.html" for number in count(1))
        found[iri] = next(name for name in names if name not in taken)
    return found


def index_page(schema: Schema, files: Iterable[tuple[NamedNode, str]]) -> str:
    """A page that links the pages of all ontologies, by their file names."""
    items = "".join(
        f'<li><a href="{escape(name)}">{escape(_title(Graph(schema.ontologies[iri]), iri))}</a> '
        f'<span class="iri">{escape(iri.value)}</span></li>'
        for iri, name in files
    )
    return page("Ontologies", f"<h1>Ontologies</h1><ul>{items}</ul>")


def _individuals(schema: Schema, triples: Sequence[Triple]) -> dict[NamedNode, list[NamedNode]]:
    """The named things of a file that are no terms and no ontology, by their most specific class."""
    terms = {*schema.classes, *schema.properties, *schema.ontologies}
    general = NamedNode(v.OWL + "NamedIndividual")
    kinds: dict[NamedNode, NamedNode] = {}
    for triple in triples:
        node, kind = triple.subject, triple.object
        if triple.predicate != v.TYPE or not isinstance(node, NamedNode) or not isinstance(kind, NamedNode):
            continue
        if node not in terms and kind != v.DATATYPE and kinds.get(node, general) == general:
            kinds[node] = kind
    found: dict[NamedNode, list[NamedNode]] = defaultdict(list)
    for node, kind in kinds.items():
        found[kind].append(node)
    return found


def _head(graph: Graph, links: Links, iri: NamedNode) -> str:
    shown = {*_TITLES, *_DESCRIPTIONS, v.TYPE}
    facts: dict[str, list[str]] = defaultdict(list)
    for predicate, value in graph.statements(iri):
        if predicate not in shown:
            facts[local_name(predicate.value)].append(links.value(value))
    description = graph.literals(iri, *_DESCRIPTIONS)
    return (
        f"<h1>{escape(_title(graph, iri))}</h1>"
        + "".join(f"<p>{text(one.value)}</p>" for one in description[:1])
        + rows([("IRI", text(iri.value)), *((name, listed(values)) for name, values in facts.items())])
    )


def _contents(groups: Sequence[tuple[str, Sequence[str]]]) -> str:
    items = "".join(
        f'<li><a href="#{_anchor(title)}">{escape(title)}</a> ({len(content)})</li>'
        for title, content in groups
    )
    return f'<nav aria-label="Contents"><ul>{items}</ul></nav>'


def _anchor(title: str) -> str:
    """The id of a group; no term has it, since those have no hyphen at the end."""
    return "".join(one if one.isalnum() else "-" for one in title.lower()) + "-"


def _title(graph: Graph, iri: NamedNode) -> str:
    return _label(graph, iri, *_TITLES)


def _label(graph: Graph, iri: NamedNode, *predicates: NamedNode) -> str:
    found = graph.literals(iri, *(predicates or (v.LABEL, v.PREFERRED_LABEL)))
    return found[0].value if found else local_name(iri.value) or iri.value


_NOTES: Final = (
    ("note", NamedNode(v.SKOS + "scopeNote")),
    ("example", NamedNode(v.SKOS + "example")),
    ("synonyms", v.ALTERNATIVE_LABEL),
    ("cues", v.HIDDEN_LABEL),
    ("see also", NamedNode(v.RDFS + "seeAlso")),
    ("close to", NamedNode(v.SKOS + "closeMatch")),
    ("same as", NamedNode(v.SKOS + "exactMatch")),
    ("replaced by", v.REPLACED_BY),
)
_SHOWN: Final = frozenset(
    {
        *(v.TYPE, v.LABEL, v.PREFERRED_LABEL, v.DEFINITION, v.DEFINED_BY, v.SUBCLASS_OF, v.SUBPROPERTY_OF),
        *(v.DOMAIN, v.RANGE, v.EQUIVALENT_CLASS, v.EQUIVALENT_PROPERTY, v.INVERSE_OF, v.DISJOINT_WITH),
        *v.RANGE_INCLUDES,
        *(predicate for _, predicate in _NOTES),
    }
)
_CHARACTERISTICS: Final = (
    "Functional", "InverseFunctional", "Transitive", "Symmetric", "Asymmetric", "Reflexive", "Irreflexive",
)  # fmt: skip
Rows = list[tuple[str, str]]


@dataclass(frozen=True)
class TermSections:
    """Writes sections; `graph` has all files of the ontology, and `links` the terms of the page."""

    schema: Schema
    graph: Graph
    links: Links
    shapes: ShapeSections

    @cached_property
    def _subclasses(self) -> dict[NamedNode, list[NamedNode]]:
        """The direct subclasses of each class that have a section, in the order of the page."""
        found: dict[NamedNode, list[NamedNode]] = defaultdict(list)
        for anchored in self.links.anchors:
            for above in self._named(anchored, v.SUBCLASS_OF):
                found[above].append(anchored)
        return found

    def tree(self, classes: Sequence[OntologyClass]) -> str:
        """The classes as nested lists; one with several superclasses is under each of them."""
        own = {term.iri for term in classes}
        below: dict[NamedNode | None, list[NamedNode]] = defaultdict(list)
        for term in classes:
            for above in [
                superclass for superclass in self._named(term.iri, v.SUBCLASS_OF) if superclass in own
            ] or (None,):
                below[above].append(term.iri)

        def nested(parent: NamedNode | None, path: tuple[NamedNode, ...]) -> str:
            items = "".join(
                f"<li>{self.links.link(narrower)}{nested(narrower, (*path, narrower))}</li>"
                for narrower in below.get(parent, ())
                if narrower not in path
            )
            return f'<ul class="tree">{items}</ul>' if items else ""

        return nested(None, ())

    def class_section(self, term: OntologyClass) -> str:
        """A class: what it means, where it is in the hierarchy, its properties and rules."""
        iri, links = term.iri, self.links
        above = self._named(iri, v.SUBCLASS_OF)
        below = self._subclasses.get(iri, [])
        used = [related for related in self.schema.properties.values() if related.iri in links.anchors]
        return self._section(
            term,
            class_diagram(links, iri, above, below),
            [
                ("superclasses", listed(map(links.link, above))),
                ("subclasses", listed(map(links.link, below))),
                ("equivalent to", listed(map(links.link, self._named(iri, v.EQUIVALENT_CLASS)))),
                ("disjoint with", listed(map(links.link, self.schema.disjoint_with(iri)))),
                ("properties", listed(links.link(related.iri) for related in used if iri in related.domains)),
                ("value of", listed(links.link(related.iri) for related in used if iri in related.ranges)),
            ],
        )

    def property_section(self, term: OntologyProperty) -> str:
        """A property: what it means, its ends and characteristics."""
        iri, links = term.iri, self.links
        domains, ranges = (sorted(ends, key=lambda end: end.value) for ends in (term.domains, term.ranges))
        types = set(self.graph.objects(iri, v.TYPE))
        kinds = [name for name in _CHARACTERISTICS if NamedNode(f"{v.OWL}{name}Property") in types]
        return self._section(
            term,
            property_diagram(links, iri, domains, ranges),
            [
                ("domain", " or ".join(map(links.link, domains))),
                ("range", " or ".join(map(links.link, ranges))),
                ("unit", links.link(term.unit) if term.unit else ""),
                ("characteristics", ", ".join(kinds).lower()),
                ("superproperties", listed(map(links.link, self._named(iri, v.SUBPROPERTY_OF)))),
                ("equivalent to", listed(map(links.link, self._named(iri, v.EQUIVALENT_PROPERTY)))),
                ("inverse of", links.link(term.inverse) if term.inverse else ""),
            ],
        )

    def individual_section(self, iri: NamedNode) -> str:
        """A thing that the ontology itself names."""
        definition = self.graph.literals(iri, v.DEFINITION, v.COMMENT)[:1]
        return section(
            self.links.anchors[iri],
            self.links.name(iri),
            self._iri(iri),
            *(f"<p>{text(one.value)}</p>" for one in definition),
            rows([("types", listed(map(self.links.link, self._named(iri, v.TYPE)))), *self._notes(iri)]),
        )

    def _section(self, term: OntologyClass | OntologyProperty, diagram: str, pairs: Rows) -> str:
        rules = listed(map(self.links.link, self.shapes.about(term.iri)))
        return section(
            self.links.anchors[term.iri],
            term.label + (" (deprecated)" if term.deprecated else ""),
            self._iri(term.iri),
            f"<p>{text(term.definition)}</p>" if term.definition else "",
            diagram,
            rows([*pairs, *self._notes(term.iri), ("rules", rules)]),
        )

    def _notes(self, iri: NamedNode) -> Rows:
        """Notes, words and alignments in a fixed order, then every other statement with a name or text."""
        noted = [
            (name, listed(map(self.links.value, self.graph.objects(iri, predicate))))
            for name, predicate in _NOTES
        ]
        others: dict[str, list[str]] = defaultdict(list)
        for predicate, value in self.graph.statements(iri):
            if predicate not in _SHOWN:
                names = self.graph.literals(predicate, v.LABEL)
                name = names[0].value if names else self.links.prefixed(predicate)
                others[name].append(self.links.value(value))
        return [*noted, *((name, listed(values)) for name, values in others.items())]

    def _named(self, iri: NamedNode, predicate: NamedNode) -> list[NamedNode]:
        return [value for value in self.graph.objects(iri, predicate) if isinstance(value, NamedNode)]

    @staticmethod
    def _iri(iri: NamedNode) -> str:
        return f'<p class="iri"><code>{text(iri.value)}</code></p>'


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
            f"<p>{'Passes' if example.passes else 'Fails'}: {text(example.name)}</p>{code(example.turtle)}"
            for example in examples_of(self._folder, shape.value)
        )
        return section(
            links.anchors[shape],
            links.name(shape),
            f'<p class="iri"><code>{text(shape.value)}</code></p>',
            *(f"<p>{text(one.value)}</p>" for one in graph.literals(shape, SH.message)[:1]),
            rows(
                [
                    ("about", listed(map(links.value, dict.fromkeys(about)))),
                    ("severity", listed(links.value(value) for value in graph.objects(shape, SH.severity))),
                    ("note", listed(text(value.value) for value in graph.literals(shape, RDFS.comment))),
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
            waiting += [
                statement.object for statement in statements if isinstance(statement.object, BlankNode)
            ]
        written = serialize(found, format=RdfFormat.TURTLE, prefixes=dict(file.prefixes)) or b""
        lines = written.decode().splitlines()
        return "\n".join(line for line in lines if not line.startswith("@prefix"))
