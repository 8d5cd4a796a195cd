"""Review items with what a person reads beside them: the sentence around the quote, and names for IRIs."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Final

from pyoxigraph import NamedNode, Triple

from curation.review.review_item import ReviewItem
from extractors.text.chunking import Span, sentences
from ontology.labels import local_name, readable
from server.http.reporting.statements import review_json
from server.reader_language import for_reader
from server.runtime.context import Services
from sparql.model.source import Term
from sparql.model.vocabulary import PROVENANCE, UKG

_KEPT_TEXTS: Final = 64
_NAMED: Final = re.compile(r"<([^<>\s]+)>")


class ItemReading:
    """Items as JSON for readers; keeps the sentences of the last texts."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._texts: OrderedDict[NamedNode, tuple[str, tuple[Span, ...]]] = OrderedDict()

    def json(self, item: ReviewItem) -> dict[str, Any]:
        """An item with `sentence`, null where it rests on no text, and `labels` of the IRIs in it."""
        labels = {iri.value: self.name(iri) for iri in _iris(item)}
        return {**review_json(item), "sentence": self.sentence(item), "labels": labels}

    def sentence(self, item: ReviewItem) -> dict[str, str] | None:
        """The sentence, or sentences, with the quote: `before`, `quote` and `after`."""
        start, end = item.support.start, item.support.end
        if item.document is None or start is None or end is None:
            return None
        text, spans = self._text(item.document)
        touched = [span for span in spans if span.start < end and span.end > start]
        if not touched:
            return None
        first, last = min(touched[0].start, start), max(touched[-1].end, end)
        return {"before": text[first:start], "quote": text[start:end], "after": text[end:last]}

    def name(self, iri: NamedNode) -> str:
        """The label of an entity or term; else the last part of its IRI."""
        entries = self._services.labels.entries_of(iri)
        if entries:
            return entries[0].label
        schema = self._services.schema
        known = schema.classes.get(iri) or schema.properties.get(iri)
        return known.label if known is not None else readable(local_name(iri.value))

    def _text(self, document: NamedNode) -> tuple[str, tuple[Span, ...]]:
        if document not in self._texts:
            found = next(iter(self._services.store.match_quads(document, UKG.text, None, PROVENANCE)), None)
            text = "" if found is None else str(getattr(found.object, "value", ""))
            self._texts[document] = text, sentences(text)
            while len(self._texts) > _KEPT_TEXTS:
                self._texts.pop(next(iter(self._texts)), None)
        return self._texts.get(document, ("", ()))


def _iris(item: ReviewItem) -> Iterator[NamedNode]:
    triple = item.triple
    yield from _named(triple.subject, triple.predicate, triple.object)
    for violation in map(for_reader, item.violations):
        yield from _named(violation.focus, violation.shape, violation.component, violation.value)
        for text in _NAMED.findall(f"{violation.message} {violation.path or ''}"):
            try:
                yield NamedNode(text)
            except ValueError:
                continue


def _named(*terms: Term | Triple | None) -> Iterator[NamedNode]:
    yield from (term for term in terms if isinstance(term, NamedNode))
