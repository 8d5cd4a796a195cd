"""Submissions as JSON and back, for the records of held batches."""

from __future__ import annotations

import json
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple

from server.errors import HeldUnreadable
from server.intake.batch import Batch, Submission
from sparql.model.source import Term

if TYPE_CHECKING:
    from cattrs.preconf.json import JsonConverter

_TERMS = frozenset({NamedNode, BlankNode, Literal, Triple})
_FOUND_LATER = ("linked", "similar", "_index")
"""What assessors find in a batch when it is judged."""


def pack(submission: Submission) -> str:
    """A submission as JSON."""
    return json.dumps(_converter().unstructure(submission), ensure_ascii=False)


def unpack(text: str) -> Submission:
    """The submission of a JSON that `pack` made, or of the earlier format. Raises `HeldUnreadable`."""
    try:
        found = json.loads(text, object_hook=_untagged)
        return _converter().structure(found if "batch" in found else {**found, "batch": found}, Submission)
    except (ValueError, KeyError, TypeError, AttributeError, SyntaxError) as error:
        raise HeldUnreadable(str(error)) from error


@cache
def _converter() -> JsonConverter:
    # Imported with the first held batch: a start does not need it.
    from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
    from cattrs.preconf.json import make_converter

    converter = make_converter(detailed_validation=False)
    converter.register_unstructure_hook_func(_is_term, _text)
    converter.register_structure_hook_func(_is_term, lambda text, kind: _term(text))
    omitted: dict[str, Any] = {name: override(omit=True) for name in _FOUND_LATER}
    converter.register_unstructure_hook(Batch, make_dict_unstructure_fn(Batch, converter, **omitted))
    converter.register_structure_hook(Batch, make_dict_structure_fn(Batch, converter, **omitted))
    return converter


def _is_term(kind: Any) -> bool:
    """Whether a type is a term, a union of terms, or such a union with None."""
    kinds = set(get_args(kind)) - {type(None)} if isinstance(kind, UnionType) else {kind}
    return kinds <= _TERMS


def _text(term: Term | None) -> str | None:
    return f"<<( {term} )>>" if isinstance(term, Triple) else None if term is None else str(term)


def _term(text: str | None) -> Term | None:
    """A term as N-Triples writes it; blank nodes keep their names."""
    if text is None:
        return None
    (quad,) = pyoxigraph.parse(f"<x:s> <x:p> {text} .", format=RdfFormat.N_TRIPLES)
    found: Term = quad.object
    return found


def _untagged(found: dict[str, Any]) -> Any:
    """A value of the earlier format, which tagged every value with its kind."""
    match found.get("$"):
        case "map":
            return dict(found["value"])
        case "term" | "kind" | "time" | "set":
            return found["value"]
    return found
