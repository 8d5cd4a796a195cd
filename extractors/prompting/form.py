"""The form that the embedded model fills in: a text, and under it one field for each relation.

Every field is a question of its own about the same text, `relation (domain > range):`, and is answered by
`none` or by lines of `subject | object`. The fields do not see each other, so what is said about one relation
depends neither on the number of other fields nor on their order, and the probability of `none` says how sure
the model is. The same words are used in training and in extraction: this module is the only place of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyoxigraph import NamedNode

from extractors.models.forms import END_OF_ANSWER, NONE
from ontology.labels import readable
from ontology.schema import Schema
from ontology.terms import OntologyProperty, PropertyKind
from ontology.vocabulary import XSD

__all__ = ["END_OF_ANSWER", "NONE", "VERSION", "Field", "answer", "field_of", "opening", "read_answer"]

VERSION = "form-1"
"""Of these words; they are part of what a model was trained on, so no file of the user's replaces them."""

Pair = tuple[str, str]


@dataclass(frozen=True)
class Field:
    """A relation as the form shows it; `domain` and `range` are class labels, empty where nothing is said."""

    label: str
    domain: str = ""
    range: str = ""

    @property
    def heading(self) -> str:
        """The words before the answer; they end with a colon, and the answer begins with a space.

        Names in camel case are parted into words, since the models were trained on words.
        """
        label, domain, range_ = readable(self.label), readable(self.domain), readable(self.range)
        if not domain and not range_:
            return f"{label}:"
        sides = f"{domain} > {range_}" if range_ else domain
        return f"{label} ({sides.strip()}):"


def opening(text: str) -> str:
    """Give the part of the form that all fields share."""
    return f"Text: {' '.join(text.split())}\n"


def answer(pairs: Iterable[Pair]) -> str:
    """Write the answer of a field; without pairs it is `none`."""
    lines = [f"{subject} | {value}" for subject, value in pairs]
    return " " + "\n".join(lines) if lines else NONE


def read_answer(words: str) -> tuple[Pair, ...]:
    """Read the pairs of an answer; a line that is no pair is passed over."""
    found: list[Pair] = []
    for line in words.splitlines():
        subject, bar, value = line.partition("|")
        pair = (subject.strip(), value.strip())
        if bar and all(pair) and pair not in found:
            found.append(pair)
    return tuple(found)


_NUMBERS = frozenset({"integer", "decimal", "double", "float", "nonNegativeInteger", "positiveInteger"})
_MOST_CLASSES = 2


def field_of(schema: Schema, term: OntologyProperty) -> Field:
    """Show a property with its domain and range; of many alternatives none is shown."""
    domain, classes = _classes(schema, term.domains), _classes(schema, term.ranges)
    if classes or term.kind is PropertyKind.OBJECT:
        return Field(term.label, domain, classes)
    kinds = {iri.value.removeprefix(XSD) for iri in term.ranges}
    if any(kind.startswith(("date", "gYear")) for kind in kinds):
        return Field(term.label, domain, "date")
    return Field(term.label, domain, "number" if kinds & _NUMBERS else "")


def _classes(schema: Schema, classes: Iterable[NamedNode]) -> str:
    labels = sorted(schema.classes[iri].label for iri in classes if iri in schema.classes)
    return " or ".join(labels) if len(labels) <= _MOST_CLASSES else ""
