"""Requests of the SPARQL 1.1 Protocol, and conditional requests on graphs, independent of any web framework.

All three forms of a query (2.1: GET, POST with a form, POST direct) and both forms of an update (2.2: POST
with a form, POST direct) become one ProtocolRequest.

An ETag (RFC 9110, 8.8 and 13.1) is ``"REVISION-GRAPH-FORMAT"``, or ``"REVISION-GRAPH-FORMAT-gzip"`` where the
body was compressed. Reads compare everything except the compression, writes only revision and graph: a client
that read a graph in any format may replace it on the condition that nothing was written since.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from pyoxigraph import NamedNode

from sparql.model.answer_warnings import unused_parameters
from sparql.model.errors import MalformedRequest, PreconditionFailed, UnsupportedMediaType
from sparql.model.options import OPTIONS, Options, read_options
from sparql.protocol.formats import Format
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


_TAG = re.compile(r'(W/)?"([^"]*)"')
COMPRESSED = "-gzip"
"""The suffix for a compressed body, since its bytes differ (RFC 9110, 8.8.3.3)."""


def graph_tag(revision: int, graph: NamedNode | None, format_: Format | None = None) -> str:
    """The opaque part of the tag of a graph (None: the default graph) at a revision."""
    name = b"" if graph is None else graph.value.encode()
    core = f"{revision}-{hashlib.blake2b(name, digest_size=8).hexdigest()}"
    return core if format_ is None else f"{core}-{format_.name}"


@dataclass(frozen=True)
class TagList:
    """The value of If-Match or If-None-Match: any tag, or those listed, with weak ones separate."""

    any: bool = False
    strong: frozenset[str] = frozenset()
    weak: frozenset[str] = frozenset()

    @classmethod
    def read(cls, header: str | None) -> TagList | None:
        """None for a missing header."""
        if header is None:
            return None
        if header.strip() == "*":
            return cls(any=True)
        found = [(mark, tag.removesuffix(COMPRESSED)) for mark, tag in _TAG.findall(header)]
        return cls(
            strong=frozenset(tag for mark, tag in found if not mark),
            weak=frozenset(tag for mark, tag in found if mark),
        )


@dataclass(frozen=True)
class Conditions:
    """The conditions that a request sets on the current graph."""

    if_match: TagList | None = None
    if_none_match: TagList | None = None

    @classmethod
    def read(cls, if_match: str | None, if_none_match: str | None) -> Conditions:
        """From the values of the two headers."""
        return cls(TagList.read(if_match), TagList.read(if_none_match))

    def is_known(self, tag: str) -> bool:
        """Whether the client already has the representation, so the answer is 304 (13.1.2)."""
        known = self.if_none_match
        return known is not None and (known.any or tag in known.strong or tag in known.weak)

    def check_read(self, tag: str) -> None:
        """Raises PreconditionFailed when a read requires another state than this (13.1.1)."""
        wanted = self.if_match
        if wanted is not None and not wanted.any and tag not in wanted.strong:
            raise PreconditionFailed("The graph is no longer what If-Match names; read it without If-Match.")

    def check_write(self, revision: int, graph: NamedNode | None, *, exists: bool) -> None:
        """Raises PreconditionFailed when the graph at this revision does not meet the conditions."""
        core = graph_tag(revision, graph)
        if self.if_match is not None and not _names(self.if_match, core, exists=exists, weak=False):
            raise PreconditionFailed(
                "The store was changed since the revision that If-Match names, or there is no such graph; "
                "read the graph again and repeat the change on its current content."
            )
        if self.if_none_match is not None and _names(self.if_none_match, core, exists=exists, weak=True):
            raise PreconditionFailed(
                "The graph exists in a state that If-None-Match excludes; leave the header out to overwrite."
            )


def _names(tags: TagList, core: str, *, exists: bool, weak: bool) -> bool:
    if not exists:
        return False
    listed = tags.strong | tags.weak if weak else tags.strong
    return tags.any or any(tag == core or tag.startswith(core + "-") for tag in listed)
