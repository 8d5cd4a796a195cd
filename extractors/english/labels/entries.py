"""Entries of lists whose values are plain text: "Address: 41 Elm Row", "Postcode: 5006".

Dates, numbers and names are found by what they look like, wherever they stand. What is only text is a value
where the label of a relation is its key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from extractors.english.wording.look import Wording
from extractors.english.wording.phrases import Group, group_of
from extractors.text.chunking import Span
from ontology.labels import words
from ontology.terms import OntologyProperty, PropertyKind

__all__ = ["text_entries"]

_ENTRY = re.compile(
    r"(?:^|[\n;|•·*(\]] ?|\. )(?P<key>[^\W\d_][^\W\d_. ]*(?: [^\W\d_]+){0,2})\.?:[ \t]+"
    r"(?P<value>[^\s;|•·(][^\n;|•·()]*?)(?=, |\.?\s*(?:[\n;|•·()]|$)|\. )"
)
_LONGEST_VALUE = 60


def text_entries(wording: Wording) -> Iterator[tuple[OntologyProperty, Span, Span]]:
    """The relation, the place of its value, and that of its key, entry by entry."""
    text = wording.text.text
    terms = [
        term
        for term in wording.schema.properties.values()
        if term.kind is PropertyKind.DATATYPE and not term.deprecated and group_of(term) is Group.NAMES
    ]
    for found in _ENTRY.finditer(text):
        value = Span(found.start("value"), found.end("value"))
        if value.end - value.start <= _LONGEST_VALUE:
            key = Span(found.start("key"), found.end("key"))
            yield from ((term, value, key) for term in _keyed(terms, found["key"]))


def _keyed(terms: Sequence[OntologyProperty], key: str) -> Iterator[OntologyProperty]:
    said = words(key)
    for term in terms:
        if any(words(label) == said for label in (term.label, *term.alternative_labels)):
            yield term
