"""The members of a query message to a worker process."""

from __future__ import annotations

from typing import Any

from sparql.model.errors import MalformedRequest
from sparql.model.vocabulary import GRAPH
from sparql.protocol.formats import GRAPH_FORMATS, RESULT_FORMATS, WITH_PREFIXES, Format
from sparql.syntax.request_facts import Kind, RequestFacts, facts_of
from sparql.workers.result import QueryRequest


def members_of(request: QueryRequest) -> dict[str, Any]:
    """Everything that a worker needs to know about a request. Raises for texts that must not reach it."""
    facts = facts_of(request.text)
    facts.refuse_remote_access()
    if facts.kind is Kind.UPDATE:
        raise MalformedRequest("This is an update, not a query; send it as an update.")
    graph_format, result_format = GRAPH_FORMATS[0], RESULT_FORMATS[0]
    if request.format in GRAPH_FORMATS:
        graph_format = request.format
    elif request.format is not None:
        result_format = request.format
    return {
        "text": request.text,
        "base": request.base,
        "result_format": result_format.name,
        "graph_format": graph_format.name,
        "prefixes": dict(request.prefixes) if _shortens(facts, graph_format) else {},
        "default_graphs": [graph.value for graph in request.default_graphs],
        "named_graphs": [graph.value for graph in request.named_graphs],
        "system_graphs": GRAPH.iri,
        "hide_system_graphs": facts.graph_variable and not facts.dataset_clause,
        "named_in_text": [iri for iri in facts.iris if iri.startswith(GRAPH.iri)],
    }


def _shortens(facts: RequestFacts, format_: Format) -> bool:
    """Whether prefixes shorten the answer."""
    return facts.form is not None and facts.form.gives_graph and format_.name in WITH_PREFIXES
