"""The OpenAPI description, completed: what routes read and answer by themselves, and how errors are reported.

The framework knows the parameters and bodies that it reads itself. Most routes here stream what they read and
negotiate what they answer; that is written down in this one place. Every error of every route is a problem
document (RFC 9457).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from server.http.description.graph_answers import Explanation
from server.http.description.operations import OPERATIONS, TAGS
from server.http.description.parts import add_example, examples
from server.http.reporting.problems import MEDIA_TYPE
from server.problem_map import all_problems
from sparql.protocol.formats import BY_NAME, FEATURE_FORMAT, GRAPH_FORMATS, RESULT_FORMATS
from sparql.protocol.requests import DIRECT_QUERY, DIRECT_UPDATE, FORM

_METHODS = ("get", "put", "post", "delete", "patch")
_GRAPHS = tuple(one.media_type for one in GRAPH_FORMATS)
_ANSWERS = (*(one.media_type for one in (*RESULT_FORMATS, FEATURE_FORMAT)), *_GRAPHS)
_JSON = "application/json"
_TEXT = {"type": "string"}
_QUERY = {**_TEXT, "format": "sparql-query", "contentMediaType": DIRECT_QUERY}
_UPDATE = {**_TEXT, "format": "sparql-update", "contentMediaType": DIRECT_UPDATE}
_IRI = {"type": "string", "format": "iri"}
_FLAG = {"type": "boolean"}
_SECONDS = {"type": "number", "exclusiveMinimum": 0}
_PROBLEM = {
    "type": "object",
    "description": "What went wrong and what to do about it (RFC 9457).",
    "properties": {
        "type": {"type": "string", "description": "The kind of problem, as a URI."},
        "title": {"type": "string", "description": "The same for every problem of the kind."},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string", "description": "This occurrence, and what to do about it."},
        "instance": {"type": "string", "description": "The path of the request."},
    },
    "required": ["type", "title", "status", "detail"],
}
_REFUSED: Mapping[str, str] = {
    "400": "A part of the request cannot be read.",
    "401": "A key is needed, or the one that was sent is not valid; `WWW-Authenticate` says more.",
    "403": "The key lacks a scope, or the request is not open to clients.",
    "404": "What the address names does not exist.",
    "405": "The address does not take this method; `Allow` lists those it takes.",
    "406": "Nothing that `Accept` names can be produced.",
    "408": "The request came too slowly.",
    "409": "What is there already does not let this be done.",
    "412": "The condition of `If-Match` or `If-None-Match` does not hold.",
    "413": "The body or the text is too large.",
    "415": "The media type or coding of the body is not read here.",
    "422": "The request can be read, and its content is refused.",
    "429": "Too many requests; `Retry-After` says when to come back.",
    "503": "Not now; `Retry-After` says when to come back.",
    "504": "What was asked for took longer than it may.",
}
_WITH_BODY = ("413", "415", "422")
_ALWAYS = ("400", "401", "403", "429", "503")
_QUERY_PARAMETERS = (
    ("default-graph-uri", _IRI, "A graph of the default graph (SPARQL 1.1 Protocol, 2.1.4)."),
    ("named-graph-uri", _IRI, "A named graph."),
    ("geometry", {"type": "string"}, "The column that GeoJSON takes geometry from; else the first with any."),
    ("derived", _FLAG, "Whether derived relations are visible; true without it."),
    ("rewrite", _FLAG, "Relations of geometries are computed where none is stored (GeoSPARQL 1.1, 11)."),
    ("optimize", _FLAG, "Whether the indexes are used; true without it."),
    ("explain", _FLAG, "Describe what would run instead of running it."),
)
_UPDATE_PARAMETERS = (
    ("using-graph-uri", _IRI, "A graph that patterns are matched in (SPARQL 1.1 Protocol, 2.2.3)."),
    ("using-named-graph-uri", _IRI, "A named graph that patterns are matched in."),
    ("partial", _FLAG, "Take what conforms and refuse only the rest."),
)
_COMMON_PARAMETERS = (
    ("timeout", _SECONDS, "Seconds the request may take."),
    (
        "format",
        {"type": "string", "enum": sorted((*BY_NAME, FEATURE_FORMAT.name))},
        "Instead of Accept; also `output` or `results`.",
    ),
)


def complete(app: FastAPI) -> None:
    """Let the application describe itself completely; the description is made when first asked for."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            _complete(plain())
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]


def _complete(description: dict[str, Any]) -> None:
    schemas = description.setdefault("components", {}).setdefault("schemas", {})
    _gather_definitions(description["paths"], schemas)
    models: set[type[BaseModel]] = {Explanation}
    models |= {model for one in OPERATIONS.values() for model in one.answers.values()}
    ordered = sorted(models, key=lambda model: model.__name__)
    _, answers = models_json_schema([(model, "validation") for model in ordered], ref_template=_REFERENCE)
    schemas.update(answers["$defs"])
    schemas["Problem"] = {**_PROBLEM, "x-problem-types": all_problems().types()}
    description["tags"] = [{"name": name, "description": text} for name, text in TAGS.items()]
    description["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    description["security"] = [{}, {"key": []}]
    recorded = examples()
    for path, operations in description["paths"].items():
        for method in _METHODS:
            if method in operations:
                _complete_operation(path, method, operations[method])
                _name_body(operations[method], schemas)
                example = recorded.get(OPERATIONS[method, path].identifier)
                if example is not None:
                    add_example(operations[method], example)
    # The framework's own form of validation errors is never sent.
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)


_REFERENCE = "#/components/schemas/{model}"


def _describe_answers(path: str, method: str, operation: dict[str, Any]) -> None:
    """The identifier of an operation, and the models of its answers."""
    known = OPERATIONS[method, path]
    operation["operationId"] = known.identifier
    for status, model in known.answers.items():
        described = operation["responses"].setdefault(status, {"description": _SUCCESS.get(status, "Done.")})
        content = {"schema": {"$ref": _REFERENCE.format(model=model.__name__)}}
        kept = {kind: form for kind, form in described.get("content", {}).items() if kind != _JSON}
        kept.pop(known.media_type, None)
        described["content"] = {known.media_type: content, **kept}
    if path in ("/sparql", "/query"):
        features = {"schema": {"$ref": _REFERENCE.format(model="FeatureCollection")}}
        operation["responses"]["200"]["content"][FEATURE_FORMAT.media_type] = features
        # With `explain`, whatever format is asked for.
        models = ["Explanation", *(["UpdateAnswer"] if (path, method) == ("/sparql", "post") else [])]
        references = [{"$ref": _REFERENCE.format(model=model)} for model in models]
        schema = references[0] if len(references) == 1 else {"anyOf": references}
        operation["responses"]["200"]["content"][_JSON] = {"schema": schema}


def _complete_operation(path: str, method: str, operation: dict[str, Any]) -> None:
    if path in ("/sparql", "/query", "/update"):
        _add_protocol(path, method, operation)
    responses = operation["responses"]
    for status, kinds in _successes(path, method).items():
        described = responses.setdefault(status, {"description": _SUCCESS.get(status, "Done")})
        if kinds and not described.get("content"):
            described["content"] = {kind: {"schema": _schema_of(kind)} for kind in kinds}
    if "200" in responses and "200" not in _successes(path, method, default=("200",)):
        del responses["200"]
    refused = list(_ALWAYS)
    refused += ["404"] if "{" in path or operation.get("parameters") else []
    refused += _WITH_BODY if "requestBody" in operation else ["422"] if operation.get("parameters") else []
    refused += ["406"] if _GRAPHS[0] in responses.get("200", {}).get("content", {}) else []
    refused += ["409", "412"] if method != "get" else []
    refused += ["504"] if path in ("/sparql", "/query", "/update", "/ask") else []
    for status in sorted(refused):
        described = responses.get(status, {}).get("description")
        known = described if described not in (None, "Validation Error") else _REFUSED[status]
        responses[status] = _problem(known)
    if path.startswith("/store") and method in ("put", "post"):
        report = {kind: {"schema": _schema_of(kind)} for kind in _GRAPHS}
        responses["422"]["content"].update(report)
    _describe_answers(path, method, operation)
    responses["default"] = _problem("Any other error.")


_SUCCESS = {
    "200": "Done; the answer is in the body.",
    "201": "Made; `Location` says where.",
    "204": "Done; there is nothing to return.",
    "304": "What the client has is still valid.",
}


def _successes(path: str, method: str, *, default: tuple[str, ...] = ()) -> Mapping[str, tuple[str, ...]]:
    """The statuses of success that a route answers with, and their media types; the defaults for others."""
    if path.startswith("/store"):
        if method == "get":
            return {"200": _GRAPHS, "304": ()}
        return {"200": (_JSON,), "204": (), **({"201": ()} if method != "delete" else {})}
    known: dict[tuple[str, str], Mapping[str, tuple[str, ...]]] = {
        ("/sparql", "get"): {"200": _ANSWERS, "304": ()},
        ("/query", "get"): {"200": _ANSWERS, "304": ()},
        ("/sparql", "post"): {"200": (*_ANSWERS, _JSON)},
        ("/query", "post"): {"200": _ANSWERS},
        ("/update", "post"): {"200": (_JSON,)},
        ("/.well-known/void", "get"): {"200": _GRAPHS},
        ("/ontology", "get"): {"200": _GRAPHS},
        ("/entities", "get"): {"200": _GRAPHS},
        ("/shapes", "get"): {"200": _GRAPHS},
        ("/dump", "get"): {"200": _GRAPHS},
        ("/metrics", "get"): {"200": ("text/plain",)},
        ("/proposals/export", "get"): {"200": ("text/turtle",)},
        ("/review/export", "get"): {"200": ("text/csv", "text/turtle")},
        ("/ontologies/{file}", "get"): {"200": _FILES},
        ("/shapes/{file}", "get"): {"200": _FILES},
        ("/rules/{kind}/{version}/{file}", "get"): {"200": _FILES},
        ("/ontologies/{file}", "put"): {"200": (_JSON,), "201": (_JSON,)},
        ("/shapes/{file}", "put"): {"200": (_JSON,), "201": (_JSON,)},
    }
    return known.get((path, method), dict.fromkeys(default, ()))


_FILES = ("text/turtle", "application/n-triples", "application/rdf+xml", "application/xml")


def _add_protocol(path: str, method: str, operation: dict[str, Any]) -> None:
    """The parameters and bodies of the SPARQL 1.1 Protocol (2.1 and 2.2)."""
    text = ("query", _QUERY, "A SPARQL 1.1 query; without one, the service is described.")
    if method == "get":
        operation["parameters"] = _in_query((text, *_QUERY_PARAMETERS, *_COMMON_PARAMETERS))
        return
    queries, updates = path != "/update", path != "/query"
    datasets = (*(_QUERY_PARAMETERS if queries else ()), *(_UPDATE_PARAMETERS if updates else ()))
    operation["parameters"] = _in_query((*datasets, *_COMMON_PARAMETERS))
    members = {name: schema for name, schema, _ in (*datasets, *_COMMON_PARAMETERS)}
    content: dict[str, Any] = {}
    if queries:
        content[DIRECT_QUERY] = {"schema": _TEXT, "example": "SELECT * WHERE { ?s ?p ?o } LIMIT 10"}
        members["query"] = _QUERY
    if updates:
        content[DIRECT_UPDATE] = {"schema": _TEXT, "example": 'INSERT DATA { <urn:a> <urn:b> "c" }'}
        members["update"] = _UPDATE
    needed = [{"required": [name]} for name in ("query", "update") if name in members]
    content[FORM] = {"schema": {"type": "object", "properties": members, "oneOf": needed}}
    operation["requestBody"] = {"required": True, "content": content}


def _name_body(operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Move the schema of a JSON body to the named ones: generated clients call its class by that name."""
    form = operation.get("requestBody", {}).get("content", {}).get(_JSON, {})
    name = form.get("schema", {}).get("title")
    if name is not None:
        schemas[name] = form["schema"]
        form["schema"] = {"$ref": _REFERENCE.format(model=name)}


def _in_query(parameters: Iterable[tuple[str, Mapping[str, Any], str]]) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "query", "required": False, "schema": schema, "description": described}
        for name, schema, described in parameters
    ]


def _problem(described: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": described, "content": {MEDIA_TYPE: {"schema": schema}}}


def _schema_of(kind: str) -> Mapping[str, Any]:
    if not kind.endswith("json"):
        return _TEXT
    node = {"$ref": _REFERENCE.format(model="JsonObject")}
    return {"anyOf": [node, {"type": "array", "items": node}]}


def _gather_definitions(part: Any, schemas: dict[str, Any]) -> None:
    """Move the definitions beside a body's schema to where its references look for them."""
    if isinstance(part, dict):
        for name, schema in part.pop("$defs", {}).items():
            _gather_definitions(schema, schemas)
            schemas.setdefault(name, schema)
        for member in part.values():
            _gather_definitions(member, schemas)
    elif isinstance(part, list):
        for member in part:
            _gather_definitions(member, schemas)
