"""Batches as JSON and back: terms, dataclasses and collections, each tagged with its kind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple

from curation.proposal import TermKind, Use
from server.errors import HeldUnreadable
from sparql.model.change import Statement, Violation
from sparql.model.source import Term
from sparql.provenance.records import Document, Support

_RECORDS: Mapping[str, type[Any]] = {
    kind.__name__: kind for kind in (Document, Statement, Support, Use, Violation)
}
_KIND, _VALUE = "$", "value"


def pack(value: Any) -> str:
    """A value as JSON. Raises TypeError for a type that is not known here."""
    return json.dumps(_packed(value), ensure_ascii=False)


def unpack(text: str) -> Any:
    """The value of a JSON that `pack` made. Raises `HeldUnreadable`."""
    try:
        return _unpacked(json.loads(text))
    except (ValueError, KeyError, TypeError, SyntaxError) as error:
        raise HeldUnreadable(str(error)) from error


def _packed(value: Any) -> Any:
    match value:
        case TermKind():
            return {_KIND: "kind", _VALUE: str(value)}
        case None | bool() | int() | float() | str():
            return value
        case NamedNode() | BlankNode() | Literal() | Triple():
            return {_KIND: "term", _VALUE: f"<<( {value} )>>" if isinstance(value, Triple) else str(value)}
        case datetime():
            return {_KIND: "time", _VALUE: value.isoformat()}
        case Mapping():
            return {_KIND: "map", _VALUE: [[_packed(key), _packed(one)] for key, one in value.items()]}
        case frozenset():
            return {_KIND: "set", _VALUE: [_packed(one) for one in value]}
        case tuple():
            return [_packed(one) for one in value]
    if is_dataclass(value) and type(value).__name__ in _RECORDS:
        members = {one.name: _packed(getattr(value, one.name)) for one in fields(value) if one.init}
        return {_KIND: type(value).__name__, **members}
    raise TypeError(f"{type(value).__name__} cannot be stored")


def _unpacked(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_unpacked(one) for one in value)
    if not isinstance(value, dict):
        return value
    kind = value[_KIND]
    match kind:
        case "kind":
            return TermKind(value[_VALUE])
        case "term":
            return _term(value[_VALUE])
        case "time":
            return datetime.fromisoformat(value[_VALUE])
        case "map":
            return {_unpacked(key): _unpacked(one) for key, one in value[_VALUE]}
        case "set":
            return frozenset(_unpacked(one) for one in value[_VALUE])
    return _RECORDS[kind](**{name: _unpacked(one) for name, one in value.items() if name != _KIND})


def _term(text: str) -> Term:
    """A term as N-Triples writes it; blank nodes keep their names."""
    (quad,) = pyoxigraph.parse(f"<x:s> <x:p> {text} .", format=RdfFormat.N_TRIPLES)
    found: Term = quad.object
    return found
