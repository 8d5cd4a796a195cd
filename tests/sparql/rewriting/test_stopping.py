"""An answer from the index ends when its time is up, or nobody waits for it."""

from __future__ import annotations

import random

import pytest
from pyoxigraph import Quad

from sparql.model.errors import QueryTimeout
from sparql.model.options import Options
from sparql.model.vocabulary import DEFAULT, GEO, RDF
from sparql.protocol.formats import RESULT_FORMATS
from sparql.rewriting.rewriter import Preparation, Rewriter
from sparql.rewriting.steps import Stop, Stopped
from sparql.storage.embedded_store import EmbeddedStore
from tests.support.spatial_city import EX, PREFIXES, wkt

JSON = RESULT_FORMATS[0]
BOX = '"POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))"^^geo:wktLiteral'
WITHIN = f"SELECT ?f {{ ?f a ex:Place ; geo:hasGeometry/geo:asWKT ?w FILTER(geof:sfWithin(?w, {BOX})) }}"
NEAREST = (
    "SELECT ?f { ?f a ex:Place ; geo:hasGeometry/geo:asWKT ?w } "
    'ORDER BY geof:distance(?w, "POINT(0.5 0.5)"^^geo:wktLiteral, uom:metre) LIMIT 3'
)
JOIN = (
    "SELECT ?f ?g { ?f geo:hasGeometry/geo:asWKT ?w . ?g geo:hasGeometry/geo:asWKT ?v "
    "FILTER(geof:sfIntersects(?w, ?v)) }"
)


def placed(name: str, text: str) -> list[Quad]:
    return [
        Quad(EX.term(name), RDF.type, EX.Place, DEFAULT),
        Quad(EX.term(name), GEO.hasGeometry, EX.term(name + "/g"), DEFAULT),
        Quad(EX.term(name + "/g"), GEO.asWKT, wkt(text), DEFAULT),
    ]


@pytest.fixture
def store() -> EmbeddedStore:
    store, chance = EmbeddedStore(), random.Random(2)
    store.commit(
        [q for n in range(40) for q in placed(f"p{n}", f"POINT({chance.random()} {chance.random()})")]
    )
    return store


@pytest.fixture
def rewriter(store: EmbeddedStore) -> Rewriter:
    rewriter = Rewriter(store)
    store.before_commit = rewriter.geometries.note
    return rewriter


def prepared(rewriter: Rewriter, query: str) -> Preparation:
    preparation = rewriter.preparation(PREFIXES + query, Options())
    assert preparation is not None
    return preparation


class Counting(Stop):
    """Stops at a number of questions."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.left = most

    def check(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Stopped


def test_a_join_asks_for_each_part_whether_to_go_on(
    rewriter: Rewriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = prepared(rewriter, JOIN)
    monkeypatch.setattr("sparql.rewriting.joins._TOGETHER", 4)
    assert rewriter.index_answer(asked, JSON, Counting(12)) is not None
    with pytest.raises(Stopped):
        rewriter.index_answer(asked, JSON, Counting(7))


@pytest.mark.parametrize("query", [WITHIN, NEAREST, JOIN])
def test_an_answer_that_nobody_waits_for_is_not_made(rewriter: Rewriter, query: str) -> None:
    stop = Stop(timeout_s=1e6)
    stop.check()
    stop.now()
    with pytest.raises(Stopped):
        rewriter.index_answer(prepared(rewriter, query), JSON, stop)


async def test_past_its_deadline_a_join_says_so_as_every_query_does(rewriter: Rewriter) -> None:
    with pytest.raises(QueryTimeout):
        await prepared(rewriter, JOIN).index_answer(JSON, 0.0)
    rewriter.close()
