"""The pages: one for each ontology, with the shapes about its terms, and one that lists them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from html import escape
from itertools import count
from typing import Final

from pyoxigraph import NamedNode, Triple

from ontology import PropertyKind, Schema
from ontology import vocabulary as v
from ontology.graph import Graph
from ontology.labels import local_name
from ontology.terms import OntologyClass, OntologyProperty
from server.documentation.markup import Links, listed, page, rows, text
from server.documentation.shape_sections import ShapeSections
from server.documentation.term_sections import TermSections

__all__ = ["index_page", "ontology_page", "page_names"]

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
    classes = [one for one in schema.classes.values() if one.iri in subjects and not one.borrowed]
    properties = [one for one in schema.properties.values() if one.iri in subjects and not one.borrowed]
    individuals = _individuals(schema, schema.ontologies[iri])
    terms: list[OntologyClass | OntologyProperty] = [*classes, *properties]
    own = [one.iri for one in terms]
    rules = list(dict.fromkeys(shape for term in own for shape in shapes.about(term)))
    labels = {one.iri: one.label for one in terms} | shapes.labels
    labels |= {one: _label(graph, one) for group in individuals.values() for one in group}
    things = [one for group in individuals.values() for one in group]
    links = Links([*own, *things, *rules], labels, schema.prefixes)
    sections = TermSections(schema, graph, links, shapes)
    groups: list[tuple[str, list[str]]] = [("Classes", [sections.class_section(one) for one in classes])]
    for kind, title in _KINDS.items():
        groups.append((title, [sections.property_section(one) for one in properties if one.kind is kind]))
    for class_, group in individuals.items():
        groups.append(
            (f"Individuals: {links.name(class_)}", [sections.individual_section(one) for one in group])
        )
    groups.append(("Rules", [shapes.section(links, one) for one in rules]))
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
