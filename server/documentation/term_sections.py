"""The sections of classes, properties and individuals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from pyoxigraph import NamedNode

from ontology import Schema
from ontology import vocabulary as v
from ontology.graph import Graph
from ontology.terms import OntologyClass, OntologyProperty
from server.documentation.diagrams import class_diagram, property_diagram
from server.documentation.markup import Links, listed, rows, section, text
from server.documentation.shape_sections import ShapeSections

__all__ = ["TermSections"]

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
        for one in self.links.anchors:
            for above in self._named(one, v.SUBCLASS_OF):
                found[above].append(one)
        return found

    def tree(self, classes: Sequence[OntologyClass]) -> str:
        """The classes as nested lists; one with several superclasses is under each of them."""
        own = {term.iri for term in classes}
        below: dict[NamedNode | None, list[NamedNode]] = defaultdict(list)
        for term in classes:
            for above in [one for one in self._named(term.iri, v.SUBCLASS_OF) if one in own] or (None,):
                below[above].append(term.iri)

        def nested(parent: NamedNode | None, path: tuple[NamedNode, ...]) -> str:
            items = "".join(
                f"<li>{self.links.link(one)}{nested(one, (*path, one))}</li>"
                for one in below.get(parent, ())
                if one not in path
            )
            return f'<ul class="tree">{items}</ul>' if items else ""

        return nested(None, ())

    def class_section(self, term: OntologyClass) -> str:
        """A class: what it means, where it is in the hierarchy, its properties and rules."""
        iri, links = term.iri, self.links
        above = self._named(iri, v.SUBCLASS_OF)
        below = self._subclasses.get(iri, [])
        used = [one for one in self.schema.properties.values() if one.iri in links.anchors]
        return self._section(
            term,
            class_diagram(links, iri, above, below),
            [
                ("superclasses", listed(map(links.link, above))),
                ("subclasses", listed(map(links.link, below))),
                ("equivalent to", listed(map(links.link, self._named(iri, v.EQUIVALENT_CLASS)))),
                ("disjoint with", listed(map(links.link, self.schema.disjoint_with(iri)))),
                ("properties", listed(links.link(one.iri) for one in used if iri in one.domains)),
                ("value of", listed(links.link(one.iri) for one in used if iri in one.ranges)),
            ],
        )

    def property_section(self, term: OntologyProperty) -> str:
        """A property: what it means, its ends and characteristics."""
        iri, links = term.iri, self.links
        domains, ranges = (sorted(ends, key=lambda one: one.value) for ends in (term.domains, term.ranges))
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
        return [one for one in self.graph.objects(iri, predicate) if isinstance(one, NamedNode)]

    @staticmethod
    def _iri(iri: NamedNode) -> str:
        return f'<p class="iri"><code>{text(iri.value)}</code></p>'
