"""Review items as people read them: with the sentence around the quote and names for IRIs, and as files."""

from __future__ import annotations

import csv
import io
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, Final

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, serialize

from curation.review.review_item import ReviewItem
from extractors.text.chunking import Span, sentences
from ontology.labels import local_name, readable
from server.http.reporting.statements import review_json
from server.reader_language import for_reader
from server.services import Services
from shapes.results import PREFIXES, result_triples
from sparql.model.change import Violation
from sparql.model.source import Term
from sparql.model.vocabulary import PROVENANCE, RDF, SH, UKG, XSD

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


_COLUMNS = (
    *("id", "status", "severity", "message", "focus", "path", "value", "shape", "component"),
    *("subject", "predicate", "object", "accepted", "confidence", "quote", "document", "source", "seen"),
    *("created", "assignee", "decided_by", "decided_at", "reason"),
)


def csv_of(items: Iterable[ReviewItem]) -> str:
    """One row for each violation of an item, or one for an item without."""
    file = io.StringIO()
    rows = csv.DictWriter(file, _COLUMNS, lineterminator="\r\n")
    rows.writeheader()
    for item in items:
        rows.writerows(_row(item, violation) for violation in map(for_reader, item.violations))
        if not item.violations:
            rows.writerow(_row(item, None))
    return file.getvalue()


def report_of(items: Iterable[ReviewItem]) -> bytes:
    """A validation report: a result for each violation, which names its review item (`ukg:reviewItem`)."""
    report = BlankNode("report")
    found = list(_results(report, items))
    conforms = Literal("false" if found else "true", datatype=XSD.boolean)
    triples = [Triple(report, RDF.type, SH.ValidationReport), Triple(report, SH.conforms, conforms), *found]
    written = serialize(triples, format=RdfFormat.TURTLE, prefixes=PREFIXES | {"ukg": UKG.iri})
    assert written is not None
    return written


def _row(item: ReviewItem, violation: Violation | None) -> dict[str, object]:
    decided = item.decisions[-1] if item.decisions else None
    row: dict[str, object] = {
        "id": item.identifier,
        "status": item.state.value,
        "subject": _text(item.triple.subject),
        "predicate": item.triple.predicate.value,
        "object": _text(item.triple.object),
        "accepted": str(item.accepted).lower(),
        "confidence": item.support.confidence,
        "quote": item.support.quote,
        "document": item.document.value if item.document else None,
        "source": item.source,
        "seen": item.seen,
        "created": item.created,
        "assignee": item.assignee,
        "decided_by": decided and decided.by,
        "decided_at": decided and decided.at,
        "reason": decided and decided.reason,
    }
    if violation is None:
        return row
    return row | {
        "severity": violation.severity.value.removeprefix(SH.iri),
        "message": violation.message,
        "focus": _text(violation.focus),
        "path": violation.path,
        "value": _text(violation.value),
        "shape": _text(violation.shape),
        "component": violation.component.value,
    }


def _results(report: BlankNode, items: Iterable[ReviewItem]) -> Iterator[Triple]:
    for item in items:
        for number, violation in enumerate(item.violations):
            result = NamedNode(f"{item.iri.value}/{number}")
            yield Triple(report, SH.result, result)
            yield from result_triples(result, for_reader(violation))
            yield Triple(result, UKG.reviewItem, item.iri)


def _text(term: Term | None) -> str | None:
    if term is None or isinstance(term, NamedNode | Literal):
        return None if term is None else term.value
    return str(term)
