"""Converts a remote store's answer: parsed, repaired, checked to be complete, and serialized again.

Stores deviate from the standard (Virtuoso's CSV, TSV and ASK), and some end a broken answer as if it were
complete; so everything is parsed. Runs in one thread: the engine's results belong to the thread that made
them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, cast

from pyoxigraph import (
    NamedNode,
    QueryResultsFormat,
    QuerySolutions,
    RdfFormat,
    Triple,
    parse,
    parse_query_results,
    serialize,
)

from sparql.model.errors import RemoteIncomplete
from sparql.protocol.formats import Format
from sparql.remote.answers import result_repair, triple_repair
from sparql.remote.endpoint import as_file
from sparql.remote.store_capabilities import StoreCapabilities
from sparql.syntax.request_facts import QueryForm

_TRUE = ("1", "true")


class Conversion:
    """Answers of the store at `url`, with its `capabilities`, in `format_`."""

    def __init__(self, url: str, capabilities: StoreCapabilities, format_: Format) -> None:
        self._url = url
        self._capabilities = capabilities
        self._format = format_

    def run(self, form: QueryForm | None, pieces: Iterator[bytes], output: IO[bytes]) -> None:
        """Convert the answer to a query of this form. Raises RemoteIncomplete."""
        try:
            if form is not None and form.gives_graph:
                self._graph(pieces, output)
            elif form is QueryForm.ASK:
                self._truth(b"".join(pieces), output)
            else:
                self._table(pieces, output)
        except (SyntaxError, ValueError, KeyError) as error:
            raise RemoteIncomplete(
                self._url, f"it is broken or not the requested format ({error})"
            ) from error

    def rows_as_graph(
        self, pieces: Iterator[bytes], output: IO[bytes], prefixes: dict[str, str] | None
    ) -> None:
        """Write the triples from a SELECT of ?s ?p ?o. Raises RemoteIncomplete."""
        assert isinstance(self._format.engine, RdfFormat)
        try:
            rows = self._solutions(pieces)
            triples = (_triple(row["s"], row["p"], row["o"]) for row in rows)
            serialize(triples, output, format=self._format.engine, prefixes=prefixes)
        except (SyntaxError, ValueError) as error:
            raise RemoteIncomplete(self._url, f"it is broken ({error})") from error

    def _table(self, pieces: Iterator[bytes], output: IO[bytes]) -> None:
        assert isinstance(self._format.engine, QueryResultsFormat)
        self._solutions(pieces).serialize(output, format=self._format.engine)

    def _solutions(self, pieces: Iterator[bytes]) -> QuerySolutions:
        repaired = as_file(result_repair(self._capabilities)(pieces))
        return cast("QuerySolutions", parse_query_results(repaired, format=QueryResultsFormat.JSON))

    def _truth(self, answer: bytes, output: IO[bytes]) -> None:
        assert isinstance(self._format.engine, QueryResultsFormat)
        members = json.loads(answer)
        if "boolean" in members:
            truth = bool(members["boolean"])
        else:
            # Virtuoso 7 answers with a row that holds 1 or 0.
            rows = members["results"]["bindings"]
            truth = any(term["value"] in _TRUE for row in rows for term in row.values())
        text = json.dumps({"head": {}, "boolean": truth})
        result = parse_query_results(text, format=QueryResultsFormat.JSON)
        result.serialize(output, format=self._format.engine)

    def _graph(self, pieces: Iterator[bytes], output: IO[bytes]) -> None:
        assert isinstance(self._format.engine, RdfFormat)
        repaired = as_file(triple_repair(self._capabilities)(pieces))
        quads = parse(repaired, format=RdfFormat.N_TRIPLES)
        serialize(self._counted(quad.triple for quad in quads), output, format=self._format.engine)

    def _counted(self, triples: Iterator[Triple]) -> Iterator[Triple]:
        """A store that truncates tables truncates graphs too, without saying so."""
        limit = self._capabilities.row_limit
        for count, triple in enumerate(triples, 1):
            if limit is not None and count >= limit:
                raise RemoteIncomplete(
                    self._url,
                    f"the store truncates answers at {limit} rows; raise its limit or narrow the query",
                )
            yield triple


def _triple(subject: object, predicate: object, object_: object) -> Triple:
    assert isinstance(predicate, NamedNode)
    return Triple(subject, predicate, object_)  # type: ignore[arg-type]
