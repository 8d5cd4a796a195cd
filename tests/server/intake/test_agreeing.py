"""Values that agree within their precision are one fact."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from ontology import Schema
from server.intake.agreeing import AgreementAssessor, agree
from server.intake.batch import Batch
from sparql.model.change import Statement
from sparql.model.vocabulary import UKG
from sparql.provenance.records import Support
from tests.support.scripted import ONTOLOGY, urban, xsd

SCHEMA = Schema.load(ONTOLOGY)
HALL = NamedNode("https://example.org/hall")


class _Known:
    def __init__(self, *triples: Triple) -> None:
        self._triples = triples

    def match(self, subject: NamedNode, predicate: NamedNode, object_: None) -> Iterable[Triple]:
        return [t for t in self._triples if t.subject == subject and t.predicate == predicate]


def _stated(name: str, value: Literal) -> Triple:
    return Triple(HALL, urban(name), value)


def _assessed(batch: Batch, *known: Triple) -> Batch:
    AgreementAssessor(_Known(*known)).assess(batch, SCHEMA)
    return batch


def _batch(*triples: Triple) -> Batch:
    return Batch(
        statements={triple: Statement(triple, 0.9) for triple in triples},
        supports={triple: Support(quote=str(triple.object)) for triple in triples},
    )


@pytest.mark.parametrize(
    ("a", "b", "one"),
    [
        (xsd("1883", "gYear"), xsd("1883-05-24", "date"), True),
        (xsd("1883-05", "gYearMonth"), xsd("1883-05-24", "date"), True),
        (xsd("1883-06", "gYearMonth"), xsd("1883-05-24", "date"), False),
        (xsd("1884", "gYear"), xsd("1883-05-24", "date"), False),
        (xsd("241.4", "decimal"), xsd("241.4016", "decimal"), True),
        (xsd("241", "decimal"), xsd("241.4", "decimal"), True),
        (xsd("241", "decimal"), xsd("246", "decimal"), False),
        (xsd("8400000", "nonNegativeInteger"), xsd("8398748", "nonNegativeInteger"), True),
        (xsd("100", "nonNegativeInteger"), xsd("102", "nonNegativeInteger"), False),
        (Literal("Salt House"), Literal("Salt House Hall"), False),
    ],
)
def test_values_agree_within_their_precision(a: Literal, b: Literal, one: bool) -> None:
    assert agree(a, b) is agree(b, a) is one


def test_a_less_exact_value_supports_the_known_one() -> None:
    known, said = _stated("opened", xsd("1883-05-24", "date")), _stated("opened", xsd("1883", "gYear"))
    batch = _assessed(_batch(said), known)
    assert list(batch.statements) == [known]
    assert list(batch.supports) == [known]
    assert batch.refused == {}


def test_a_more_exact_date_waits_beside_the_known_one() -> None:
    known, said = _stated("opened", xsd("1883", "gYear")), _stated("opened", xsd("1883-05-24", "date"))
    batch = _assessed(_batch(said), known)
    assert [one.component for one in batch.refused[said]] == [UKG.MoreExact]


def test_of_two_values_in_a_text_the_more_exact_one_stays() -> None:
    year, day = _stated("opened", xsd("1883", "gYear")), _stated("opened", xsd("1883-05-24", "date"))
    assert list(_assessed(_batch(year, day)).statements) == [day]


def test_another_value_is_another_statement() -> None:
    known, said = _stated("height", xsd("241", "decimal")), _stated("height", xsd("300", "decimal"))
    batch = _assessed(_batch(said), known)
    assert (list(batch.statements), batch.refused) == ([said], {})
