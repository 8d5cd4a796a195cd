"""The tools: for each its arguments, the call of the HTTP API it makes, and what of the answer it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar

import httpx
from pydantic import Field

from server.http.reporting.statements import StatementJson
from server.mcp.calling import Call
from server.message import Message

_MOST_ROWS: Final = 1000
_IRI: Final = r'^[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]+$'
_SPARQL: Final = "application/sparql-query"
_RESULTS: Final = "application/sparql-results+json"
_LABEL: Final = "<http://www.w3.org/2000/01/rdf-schema#label>"
_LONG: Final = 500
"""Characters of a value in a description; the geometry of a coast has a hundred thousand."""


class Search(Message):
    """Find entities, classes and properties by their names. Begin here: queries need the IRIs it gives."""

    text: str = Field(min_length=1, max_length=200, description="Words, or the start of one.")
    kind: Literal["entity", "class", "property"] | None = Field(None, description="Only of this kind.")
    limit: int = Field(10, ge=1, le=100)


class Vocabulary(Message):
    """The classes and properties that the graph's data use, with the number of uses, the most used first."""

    limit: int = Field(50, ge=1, le=_MOST_ROWS, description="So many classes, and so many properties.")


class Describe(Message):
    """All that the graph says of one entity: its own statements, and those of others about it."""

    iri: str = Field(pattern=_IRI, description="The entity's IRI, as `search` gives it.")
    limit: int = Field(100, ge=1, le=_MOST_ROWS, description="So many statements of each direction.")


class Query(Message):
    """Run a SPARQL 1.1 query, with GeoSPARQL functions (geof:) and relations (geo:sfWithin, geo:rcc8ec ...).

    SELECT and ASK give SPARQL 1.1 results in JSON, CONSTRUCT and DESCRIBE give Turtle.
    """

    sparql: str = Field(min_length=1, description="The query, with its PREFIX lines.")
    rows: int = Field(100, ge=1, le=_MOST_ROWS, description="At most so many rows are given.")


class Ask(Message):
    """Answer a question in plain words from the graph. What is missing is named, never guessed."""

    question: str = Field(min_length=1)
    context: str = Field("", description='Words that narrow the question, such as "in Queens".')
    history: list[str] = Field(default_factory=list, max_length=20, description="The questions before.")


class Propose(Message):
    """Propose statements. Each passes the shapes or waits in review with the reason; nothing is lost."""

    statements: list[StatementJson] = Field(min_length=1, max_length=1000)
    source: str | None = Field(None, description="Where they come from: a URL, a title.")
    text: str | None = Field(None, description="The text they were taken from; evidence is checked.")
    commit: bool = Field(True, description="false: only say what would be accepted and refused.")


class ReadText(Message):
    """Extract statements from a text by the server's own model; each passes the shapes or waits in review."""

    text: str = Field(min_length=1)
    source: str | None = Field(None, description="Where the text comes from: a URL, a title.")
    commit: bool = Field(True, description="false: only say what would be accepted and refused.")


class Review(Message):
    """Statements that wait for a person's decision, with what the shapes say of them, newest first."""

    text: str | None = Field(None, description="Words in names, quotes or reasons.")
    status: Literal["open", "accepted", "rejected", "any"] = "open"
    limit: int = Field(20, ge=1, le=100)
    offset: int = Field(0, ge=0)


class Decide(Message):
    """Decide on a review item in the name of a person. `statements` correct it when it is accepted."""

    item: str = Field(min_length=1, pattern=r"^[^/?#\s]+$", description="The item's `id`.")
    decision: Literal["accept", "reject", "reopen"]
    by: str = Field(min_length=1, max_length=200, description="The person who decides.")
    reason: str | None = None
    statements: list[StatementJson] | None = Field(None, min_length=1, max_length=50)


A = TypeVar("A", bound=Message)


@dataclass(frozen=True)
class Tool(Generic[A]):
    """One tool. Its arguments' docstring is its description; several calls are made one after the other."""

    name: str
    arguments: type[A]
    calls: Callable[[A], Mapping[str, Call]]
    given: Callable[[A, Mapping[str, httpx.Response]], dict[str, Any]]
    writes: bool = False


def _one(call: Callable[[A], Call]) -> Callable[[A], Mapping[str, Call]]:
    return lambda arguments: {"answer": call(arguments)}


def _json(_arguments: Message, answers: Mapping[str, httpx.Response]) -> dict[str, Any]:
    found: dict[str, Any] = answers["answer"].json()
    return found


def _without(*members: str) -> Callable[[Message, Mapping[str, httpx.Response]], dict[str, Any]]:
    """The JSON answer but for members that take much room and say little in words."""

    def given(arguments: Message, answers: Mapping[str, httpx.Response]) -> dict[str, Any]:
        return {name: value for name, value in _json(arguments, answers).items() if name not in members}

    return given


def _sparql(text: str) -> Call:
    accept = f"{_RESULTS}, text/turtle;q=0.9"
    return Call("POST", "/sparql", content=text, content_type=_SPARQL, accept=accept)


def _results(arguments: Query, answers: Mapping[str, httpx.Response]) -> dict[str, Any]:
    """Rows as the query gives them, with the number of those that are left out."""
    answer = answers["answer"]
    if _RESULTS not in answer.headers["content-type"]:
        return {"turtle": answer.text}
    found: dict[str, Any] = answer.json()
    if "results" in found:
        rows = found["results"]["bindings"]
        found["results"]["bindings"] = rows[: arguments.rows]
        found["left_out"] = max(0, len(rows) - arguments.rows)
    return found


def _uses(arguments: Vocabulary) -> Mapping[str, Call]:
    count = "(COUNT(*) AS ?uses)"
    end = f"GROUP BY ?iri ORDER BY DESC(?uses) LIMIT {arguments.limit}"
    labeled = "SELECT ?iri (SAMPLE(?name) AS ?label) ?uses {{ {{ SELECT ?iri {0} {{ {1} }} {2} }} {3} }} {4}"
    name = f"OPTIONAL {{ ?iri {_LABEL} ?name }}"
    last = "GROUP BY ?iri ?uses ORDER BY DESC(?uses)"
    return {
        "classes": _sparql(labeled.format(count, "?thing a ?iri", end, name, last)),
        "properties": _sparql(labeled.format(count, "?thing ?iri ?value", end, name, last)),
    }


def _statements(arguments: Describe) -> Mapping[str, Call]:
    iri = f"<{arguments.iri}>"
    found = (
        "SELECT ?{0} ?property (SAMPLE(?name) AS ?label) {{ {{ SELECT * {{ {1} }} LIMIT {2} }} "
        "OPTIONAL {{ ?{0} {3} ?name }} }} GROUP BY ?{0} ?property"
    )
    return {
        "statements": _sparql(found.format("value", f"{iri} ?property ?value", arguments.limit, _LABEL)),
        "about_it": _sparql(found.format("subject", f"?subject ?property {iri}", arguments.limit, _LABEL)),
    }


def _rows(_arguments: Message, answers: Mapping[str, httpx.Response]) -> dict[str, Any]:
    """Plain rows of each answer: of each term its value, cut where it is long."""
    return {
        name: [
            {variable: _short(term["value"]) for variable, term in row.items()}
            for row in answer.json()["results"]["bindings"]
        ]
        for name, answer in answers.items()
    }


def _short(value: str) -> str:
    if len(value) <= _LONG:
        return value
    return f"{value[:_LONG]}... ({len(value):,} characters; query for the whole)"


def _decided(arguments: Decide) -> Call:
    message = arguments.model_dump(mode="json", exclude={"item", "decision"}, exclude_none=True)
    return Call("POST", f"/review/{arguments.item}/{arguments.decision}", json=message)


def _message(arguments: Message) -> dict[str, Any]:
    return arguments.model_dump(mode="json", exclude_unset=True)


TOOLS: Final[tuple[Tool[Any], ...]] = (
    Tool("search", Search, _one(lambda a: Call("GET", "/suggest", a.model_dump())), _json),
    Tool("vocabulary", Vocabulary, _uses, _rows),
    Tool("describe", Describe, _statements, _rows),
    Tool("query", Query, _one(lambda a: _sparql(a.sparql)), _results),
    Tool("ask", Ask, _one(lambda a: Call("POST", "/ask", json=_message(a))), _without("map", "trace")),
    Tool(
        "propose_statements",
        Propose,
        _one(lambda a: Call("POST", "/candidates", json=_message(a))),
        _without("trace"),
        writes=True,
    ),
    Tool(
        "read_text",
        ReadText,
        _one(lambda a: Call("POST", "/extractions", json=_message(a))),
        _without("trace"),
        writes=True,
    ),
    Tool("review", Review, _one(lambda a: Call("GET", "/review", a.model_dump())), _json),
    Tool("decide", Decide, _one(_decided), _json, writes=True),
)
"""Every tool that a model is offered."""
