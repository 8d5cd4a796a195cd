"""The relations of an ontology as prompts show them, and the JSON schema of a reply."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pyoxigraph import NamedNode

from ontology.schema import Schema
from ontology.terms import OntologyProperty, PropertyKind

__all__ = [
    "IS_A",
    "IS_A_DEFINITION",
    "definition_of",
    "extraction_schema",
    "triple_schema",
    "types_schema",
]

IS_A: Final = "is a"
IS_A_DEFINITION: Final = f"- {IS_A}: what kind of thing the subject is."


def extraction_schema(relations: Iterable[str] | None, kinds: Sequence[str] = ()) -> dict[str, Any]:
    """Return the JSON schema of a reply, flat and small as the strictest server's dialect demands.

    The quote comes first, since a model writes better triples of words that it has just copied. The relation
    is one of those given; None leaves its words to the model. With `kinds`, what "is a" leads to is one of
    them. The number of triples has no limit, which a server would unroll into its grammar: the tokens of the
    reply bound it.
    """
    items = triple_schema(None if relations is None else list(relations), kinds)
    return {
        "type": "object",
        "properties": {"triples": {"type": "array", "items": items}},
        "required": ["triples"],
    }


def triple_schema(relations: Sequence[str] | None, kinds: Sequence[str] = ()) -> dict[str, Any]:
    """Return the JSON schema of one triple."""
    if relations is None:
        return _triple(_WORDS, _WORDS)
    if not kinds or IS_A not in relations:
        return _triple(_among(relations), _WORDS)
    others = [relation for relation in relations if relation != IS_A]
    of_kinds = _triple(_among([IS_A]), _among(kinds))
    return {"anyOf": [_triple(_among(others), _WORDS), of_kinds]} if others else of_kinds


def types_schema(classes: Sequence[str], relations: Sequence[str] | None) -> dict[str, Any]:
    """Return the JSON schema of a view's types, of entities and of relations; any words where not given."""
    lists = {"entity_types": _among(classes), "relations": _among(relations or ())}
    return {
        "type": "object",
        "properties": {name: {"type": "array", "items": items} for name, items in lists.items()},
        "required": list(lists),
    }


_WORDS: Final[Mapping[str, Any]] = {"type": "string"}


def _among(values: Sequence[str]) -> Mapping[str, Any]:
    return {"type": "string", "enum": list(values)} if values else _WORDS


def _triple(relation: Mapping[str, Any], object_: Mapping[str, Any]) -> dict[str, Any]:
    properties = {"quote": _WORDS, "subject": _WORDS, "relation": relation, "object": object_}
    return {"type": "object", "properties": properties, "required": list(properties)}


def definition_of(schema: Schema, term: OntologyProperty) -> str:
    """A relation as prompts show it: label, domain, range and meaning on one line."""
    target = _named(schema, term.ranges) if term.kind is PropertyKind.OBJECT else "value"
    ends = f"{_named(schema, term.domains)} -> {target}"
    return f"- {term.label} ({ends}): {term.definition or 'no description'}"


def _named(schema: Schema, classes: Iterable[NamedNode]) -> str:
    return " or ".join(sorted(schema.classes[c].label for c in classes if c in schema.classes)) or "any"
