"""Rewriting goes from text to tree, from tree to tree, and back to text once."""

from __future__ import annotations

from contextlib import suppress

import pytest

from sparql.model.options import Options
from sparql.protocol.formats import RESULT_FORMATS
from sparql.rewriting.rewriter import Rewriter
from sparql.storage.embedded_store import EmbeddedStore
from sparql.syntax import parser
from tests.support.spatial_city import PREFIXES

QUERY = (
    "SELECT ?f ?g { ?f a ex:Place ; geo:sfWithin ?g ; geo:hasGeometry/geo:asWKT ?w "
    'FILTER(geof:sfWithin(?w, "POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))"^^geo:wktLiteral)) }'
)
ALL = Options(derived=False, rewrite=True, explain=True)


@pytest.mark.parametrize("options", [Options(), ALL])
def test_a_query_is_parsed_once_and_written_once(monkeypatch: pytest.MonkeyPatch, options: Options) -> None:
    parsed, written = [], []
    read, write = parser.read_query, parser.ParsedQuery.written

    def reading(text: str, base: str | None = None) -> parser.ParsedQuery:
        parsed.append(text)
        return read(text, base)

    def writing(query: parser.ParsedQuery) -> str:
        written.append(query)
        return write(query)

    monkeypatch.setattr(parser, "read_query", reading)
    monkeypatch.setattr(parser.ParsedQuery, "written", writing)
    parser._remembered.cache_clear()
    store = EmbeddedStore()
    rewriter = Rewriter(store)
    store.before_commit = rewriter.geometries.note
    preparation = rewriter.preparation(PREFIXES + QUERY, options)
    assert preparation is not None
    rewriter.index_answer(preparation, RESULT_FORMATS[0])
    steps = rewriter.steps(preparation, store.revision())
    with suppress(StopIteration):
        next(steps)
        while True:
            steps.send([])
    assert parsed == [PREFIXES + QUERY]
    assert len(written) == 1
