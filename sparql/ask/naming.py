"""The terms of a graph by their IRIs or words, for plans that a person edits and for the names in answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pyoxigraph import NamedNode

from extractors.grounding.linking import LabelEntry, Labels
from ontology.labels import local_name, normalize, split_camel_case
from ontology.schema import Schema
from sparql.ask.linking.summary import DataSummary
from sparql.ask.plan.nodes import Term

__all__ = ["EntityLabels", "TermFinder"]


class EntityLabels(Labels, Protocol):
    """The label index: names to entities, and back."""

    def entries_of(self, iri: NamedNode) -> Sequence[LabelEntry]:
        """Return the labels of an entity, main ones first."""


class TermFinder:
    """Finds entities, classes and properties: of the ontology, and of the data where it has none."""

    def __init__(self, schema: Schema, labels: EntityLabels, summary: DataSummary) -> None:
        self._schema = schema
        self._labels = labels
        self._summary = summary

    def find(self, words: str) -> Term | None:
        """Return the term of an IRI or of words, None for one that the graph does not have."""
        entries = self._labels.exact(words)
        if entries:
            return Term(entries[0].iri, entries[0].label)
        for terms in (self._schema.classes, self._schema.properties):
            for known in terms.values():
                if normalize(known.label) == normalize(words) != ():
                    return Term(known.iri, known.label)
        try:
            iri = NamedNode(words)
        except ValueError:
            return None
        term = self._schema.classes.get(iri) or self._schema.properties.get(iri)
        if term is not None:
            unit = getattr(term, "unit", None)
            return Term(iri, term.label, unit.value.rpartition("/")[2] if unit is not None else "")
        named = self._labels.entries_of(iri)
        if named:
            return Term(iri, named[0].label)
        used = iri in self._summary.classes or iri in self._summary.uses
        return Term(iri, split_camel_case(local_name(words))) if used else None
