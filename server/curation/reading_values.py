"""Words as the object of a property: the entity that they name, or the literal that they write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyoxigraph import Literal, NamedNode

from ontology.terms import OntologyProperty, PropertyKind
from sparql.model.vocabulary import RDFS

if TYPE_CHECKING:
    from server.runtime.context import Services


def object_of(services: Services, declared: OntologyProperty, words: str) -> NamedNode | Literal | None:
    """The object that words stand for; None where no entity has that name, or no such value can be read."""
    from extractors.english.values import read_value

    if declared.kind is PropertyKind.OBJECT:
        return entity_named(services, words, declared.ranges)
    language = services.settings.language.partition(",")[0].strip()
    read = read_value(words, declared.ranges - {RDFS.Literal}, declared.unit, language=language)
    return read if isinstance(read, Literal) else None


def entity_named(services: Services, words: str, expected: frozenset[NamedNode]) -> NamedNode | None:
    """The one entity of the graph that words name."""
    from extractors.grounding.linking import Linker

    return Linker(services.labels, services.schema).link(words, expected=expected).iri
