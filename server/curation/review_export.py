"""Review items as files: a table in CSV (RFC 4180), and a validation report in Turtle (SHACL, 3.6)."""

import csv
import io
from collections.abc import Iterable, Iterator

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, serialize

from curation.review.review_item import ReviewItem
from server.reader_language import for_reader
from shapes.report import PREFIXES, result_triples
from sparql.model.change import Violation
from sparql.model.source import Term
from sparql.model.vocabulary import RDF, SH, UKG, XSD

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
