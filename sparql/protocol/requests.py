"""Requests of the SPARQL 1.1 Protocol, read from a method, a query string, a content type and a body.

Independent of any web framework. All three forms of a query (2.1: GET, POST with a form, POST direct) and
both forms of an update (2.2: POST with a form, POST direct) become one ProtocolRequest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from pyoxigraph import NamedNode

from sparql.model.answer_warnings import unused_parameters
from sparql.model.errors import MalformedRequest, UnsupportedMediaType
from sparql.model.options import OPTIONS, Options, read_options
from sparql.syntax.request_facts import Kind

FORM = "application/x-www-form-urlencoded"
DIRECT_QUERY = "application/sparql-query"
DIRECT_UPDATE = "application/sparql-update"

_DATASET_PARAMETERS = {
    Kind.QUERY: ("default-graph-uri", "named-graph-uri"),
    Kind.UPDATE: ("using-graph-uri", "using-named-graph-uri"),
}
_FORMAT_PARAMETERS = ("format", "output", "results")
"""Clients that do not know the server send the name of the format in all of them."""
PARAMETERS = (
    *(kind.value for kind in Kind),
    *(name for names in _DATASET_PARAMETERS.values() for name in names),
    *_FORMAT_PARAMETERS,
    "timeout",
    "geometry",
    "partial",
    *OPTIONS,
)
"""All that are known; clients send others as well, which other servers know."""


@dataclass(frozen=True)
class ProtocolRequest:
    """One query or update as the client sent it, not yet parsed as SPARQL.

    ``kind`` is what the protocol says; the parser decides what the text really is. The graphs are
    ``default-graph-uri`` and ``named-graph-uri`` of a query, ``using-graph-uri`` and
    ``using-named-graph-uri`` of an update. ``formats``, ``timeout_s`` and ``options`` are our own parameters.
    """

    kind: Kind
    text: str
    default_graphs: tuple[NamedNode, ...] = ()
    named_graphs: tuple[NamedNode, ...] = ()
    timeout_s: float | None = None
    formats: tuple[str, ...] = ()
    """Names of formats, the first of which that is known for the answer is taken instead of `Accept`."""
    geometry: str | None = None
    """The column that GeoJSON takes its geometry from; None for the first that has any."""
    partial: bool = False
    """For an update: commit the conforming part and refuse only the rest."""
    options: Options = field(default_factory=Options)
    warnings: tuple[str, ...] = ()
    """Warnings to send with the answer."""

    @property
    def has_dataset(self) -> bool:
        """Whether the request has its own dataset, which overrides that of the text (2.1.4)."""
        return bool(self.default_graphs or self.named_graphs)


def read_request(
    method: str, query_string: str, content_type: str | None, body: bytes
) -> ProtocolRequest | None:
    """The request, or None for a bare GET or HEAD, which requests the service description.

    Raises MalformedRequest and UnsupportedMediaType.
    """
    outer = _parameters(query_string, "the query string")
    if method in ("GET", "HEAD"):
        if "update" in outer:
            raise MalformedRequest("An update cannot be sent by GET; send it by POST.")
        if "query" in outer:
            return _from_parameters(outer, Kind.QUERY)
        _check_bare(outer)
        return None
    media_type = _media_type(content_type)
    if media_type == FORM:
        form = _parameters(_decode(body, "the form"), "the form")
        return _from_parameters(_joined(outer, form), _kind_of_form(outer, form))
    if media_type == DIRECT_QUERY:
        return _direct(Kind.QUERY, outer, body)
    if media_type == DIRECT_UPDATE:
        return _direct(Kind.UPDATE, outer, body)
    raise UnsupportedMediaType(content_type, (DIRECT_QUERY, DIRECT_UPDATE, FORM))


Parameters = Mapping[str, Sequence[str]]


def _check_bare(parameters: Parameters) -> None:
    for name in _DATASET_PARAMETERS[Kind.QUERY]:
        if name in parameters:
            raise MalformedRequest(
                "The parameter query is missing; send query=SELECT ... in the query string."
            )


def _kind_of_form(outer: Parameters, form: Parameters) -> Kind:
    has_query, has_update = ("query" in outer or "query" in form), ("update" in outer or "update" in form)
    if has_query and has_update:
        raise MalformedRequest("Both query and update were sent; send one of them.")
    if not has_query and not has_update:
        raise MalformedRequest("The form has neither a query nor an update parameter; send one of them.")
    return Kind.QUERY if has_query else Kind.UPDATE


def _from_parameters(parameters: Parameters, kind: Kind) -> ProtocolRequest:
    text = _single(parameters, kind.value)
    assert text is not None
    return _request(kind, text, parameters)


def _direct(kind: Kind, outer: Parameters, body: bytes) -> ProtocolRequest:
    for name in ("query", "update"):
        if name in outer:
            raise MalformedRequest(
                f"The body already is a {kind.value}; leave {name} out of the query string."
            )
    return _request(kind, _decode(body, "the body"), outer)


def _request(kind: Kind, text: str, parameters: Parameters) -> ProtocolRequest:
    default, named = _DATASET_PARAMETERS[kind]
    other = _DATASET_PARAMETERS[Kind.UPDATE if kind is Kind.QUERY else Kind.QUERY]
    for name in other:
        if name in parameters:
            raise MalformedRequest(f"{name} does not belong to a {kind.value}; use {default} and {named}.")
    # Clients with a field for it send an empty one. In an update the dataset decides what is written.
    empty = [name for name in (default, named) if kind is Kind.QUERY and "" in parameters.get(name, ())]
    kept = {**parameters, **{name: [iri for iri in parameters[name] if iri] for name in empty}}
    return ProtocolRequest(
        kind,
        text,
        _graphs(kept, default),
        _graphs(kept, named),
        _timeout(_single(parameters, "timeout")),
        tuple(value for name in _FORMAT_PARAMETERS for value in parameters.get(name, ())),
        _single(parameters, "geometry"),
        _flag(_single(parameters, "partial"), kind),
        read_options(lambda name: _single(parameters, name)),
        (
            *(f"{name} is empty and was not used." for name in empty),
            *unused_parameters(parameters, PARAMETERS),
        ),
    )


def _flag(text: str | None, kind: Kind) -> bool:
    if text is None:
        return False
    if kind is Kind.QUERY or text.lower() not in ("true", "false"):
        raise MalformedRequest("partial belongs to an update and is true or false; leave it out of a query.")
    return text.lower() == "true"


def _graphs(parameters: Parameters, name: str) -> tuple[NamedNode, ...]:
    graphs = []
    for iri in parameters.get(name, ()):
        try:
            graphs.append(NamedNode(iri))
        except ValueError as error:
            raise MalformedRequest(f"{name} '{iri}' is not an absolute IRI: {error}.") from error
    return tuple(graphs)


def _timeout(text: str | None) -> float | None:
    if text is None or not text.strip():
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        raise MalformedRequest(
            f"timeout '{text}' is not a number of seconds above zero; send for example timeout=10."
        )
    return seconds


def _single(parameters: Parameters, name: str) -> str | None:
    values = parameters.get(name, ())
    if len(values) > 1:
        raise MalformedRequest(f"The parameter {name} was sent {len(values)} times; send it once.")
    return values[0] if values else None


def _joined(outer: Parameters, form: Parameters) -> Parameters:
    return {name: [*outer.get(name, ()), *form.get(name, ())] for name in {**outer, **form}}


def _parameters(text: str, where: str) -> Parameters:
    found: dict[str, list[str]] = {}
    try:
        for name, value in parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=1000):
            found.setdefault(name, []).append(value)
    except UnicodeDecodeError as error:
        raise MalformedRequest(
            f"{where.capitalize()} is not percent-encoded UTF-8; encode it as UTF-8."
        ) from error
    except ValueError as error:
        raise MalformedRequest(f"{where.capitalize()} cannot be read: {error}.") from error
    return found


def _decode(body: bytes, what: str) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedRequest(
            f"{what.capitalize()} is not UTF-8 (byte {error.start} cannot be read); send it as UTF-8."
        ) from error


def _media_type(content_type: str | None) -> str | None:
    if content_type is None:
        return None
    name, *parameters = (part.strip().lower() for part in content_type.split(";"))
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key == "charset" and value.strip('"') not in ("utf-8", "utf8", "us-ascii"):
            raise UnsupportedMediaType(content_type, (DIRECT_QUERY, DIRECT_UPDATE, FORM))
    return name
