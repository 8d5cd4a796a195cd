"""Values that agree within their precision are one fact."""

from __future__ import annotations

from collections.abc import Iterable

import httpx
import pytest
from pyoxigraph import Literal, NamedNode, Quad, Triple

from ontology import Schema
from server.intake.batch import Batch
from server.intake.resolution.agreeing import AgreementAssessor, agree
from sparql.model.change import Statement
from sparql.model.vocabulary import ASSERTED, EXTRACTED, RDFS, UKG
from sparql.provenance.records import Support
from tests.server.conftest import select
from tests.support.scripted import ONTOLOGY, urban, xsd

SCHEMA = Schema.load(ONTOLOGY)
HALL = NamedNode("https://example.org/hall")


class _Known:
    """Triples that texts state, or a client."""

    def __init__(self, *triples: Triple, origin: NamedNode = EXTRACTED) -> None:
        self._triples = triples
        self._origin = origin

    def match(self, subject: NamedNode, predicate: NamedNode, object_: None) -> Iterable[Triple]:
        return [t for t in self._triples if t.subject == subject and t.predicate == predicate]

    def contains(self, quad: Quad) -> bool:
        return quad.graph_name == self._origin and quad.triple in self._triples


def _stated(name: str, value: Literal) -> Triple:
    return Triple(HALL, urban(name), value)


def _assessed(batch: Batch, *known: Triple, origin: NamedNode = EXTRACTED) -> Batch:
    AgreementAssessor(_Known(*known, origin=origin)).assess(batch, SCHEMA)
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


@pytest.mark.parametrize(
    ("year", "day"),
    [
        (("1883", "gYear"), ("1883-05-24", "date")),
        (("1883-05", "gYearMonth"), ("1883-05-24", "date")),
        (("1883", "gYear"), ("1883-05", "gYearMonth")),
    ],
)
def test_a_more_exact_date_replaces_what_texts_state(year: tuple[str, str], day: tuple[str, str]) -> None:
    known, said = _stated("opened", xsd(*year)), _stated("opened", xsd(*day))
    batch = _assessed(_batch(said), known)
    assert (list(batch.statements), batch.replaces, batch.refused) == ([said], {(said, known)}, {})


def test_a_more_exact_date_waits_beside_what_a_client_stated() -> None:
    known, said = _stated("opened", xsd("1883", "gYear")), _stated("opened", xsd("1883-05-24", "date"))
    batch = _assessed(_batch(said), known, origin=ASSERTED)
    assert [one.component for one in batch.refused[said]] == [UKG.MoreExact]
    assert batch.replaces == set()


def test_a_text_with_the_known_year_and_the_day_replaces_the_year() -> None:
    year, day = _stated("opened", xsd("1883", "gYear")), _stated("opened", xsd("1883-05-24", "date"))
    for said in ((year, day), (day, year)):
        batch = _assessed(_batch(*said), year)
        assert (list(batch.statements), batch.replaces) == ([day], {(day, year)})


def test_of_two_values_in_a_text_the_more_exact_one_stays() -> None:
    year, day = _stated("opened", xsd("1883", "gYear")), _stated("opened", xsd("1883-05-24", "date"))
    assert list(_assessed(_batch(year, day)).statements) == [day]


def test_another_value_is_another_statement() -> None:
    known, said = _stated("height", xsd("241", "decimal")), _stated("height", xsd("300", "decimal"))
    batch = _assessed(_batch(said), known)
    assert (list(batch.statements), batch.refused) == ([said], {})


HALL_IRI = "https://w3id.org/urbankg/id/salt-hall"
URBAN = "https://w3id.org/urbankg/urban#"


def _body(source: str, year: str, kind: str, name: str = "opened") -> dict[str, object]:
    value = {"type": "literal", "value": year, "datatype": f"http://www.w3.org/2001/XMLSchema#{kind}"}
    typed = {"type": "uri", "value": f"{URBAN}Museum"}
    label = {"type": "literal", "value": "Salt Hall", "xml:lang": "en"}
    rdf_type = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
    return {
        "source": source,
        "statements": [
            {"subject": HALL_IRI, "predicate": rdf_type, "object": typed},
            {"subject": HALL_IRI, "predicate": RDFS.label.value, "object": label},
            {"subject": HALL_IRI, "predicate": URBAN + name, "object": value},
        ],
    }


async def _opened(client: httpx.AsyncClient) -> list[str]:
    found = await select(client, f"SELECT ?d WHERE {{ <{HALL_IRI}> <{URBAN}opened> ?d }}")
    return [row["d"] for row in found]


@pytest.mark.parametrize("first", [("1883", "gYear"), ("1883-05-24", "date")])
async def test_the_order_of_two_texts_makes_no_difference(
    client: httpx.AsyncClient, first: tuple[str, str]
) -> None:
    second = {"1883": ("1883-05-24", "date"), "1883-05-24": ("1883", "gYear")}[first[0]]
    await client.post("/candidates", json=_body("one", *first))
    answer = (await client.post("/candidates", json=_body("two", *second))).json()
    assert answer["rejected"] == []
    assert [one["object"]["value"] for one in answer["replaced"]] == (["1883"] if first[0] == "1883" else [])
    assert await _opened(client) == ["1883-05-24"]
    reified = f"<<( <{HALL_IRI}> <{URBAN}opened> ?d )>>"
    texts = await select(
        client,
        "PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> "
        "SELECT ?d (COUNT(DISTINCT ?r) AS ?n) FROM <https://w3id.org/urbankg/graph/provenance> WHERE { "
        f"?e rdf:reifies {reified} ; prov:wasGeneratedBy ?r }} GROUP BY ?d",
    )
    assert texts == [{"d": "1883-05-24", "n": "2"}]


async def test_a_more_exact_date_that_is_refused_leaves_the_year(client: httpx.AsyncClient) -> None:
    await client.post("/candidates", json=_body("one", "1883", "gYear"))
    await client.post("/candidates", json=_body("two", "1883-03-01", "date", "closed"))
    answer = (await client.post("/candidates", json=_body("three", "1883-05-24", "date"))).json()
    assert (len(answer["rejected"]), answer["replaced"]) == (1, [])
    assert await _opened(client) == ["1883"]
