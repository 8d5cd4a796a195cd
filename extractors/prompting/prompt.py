"""The relations of an ontology as prompts show them, and the JSON schema of a reply."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pyoxigraph import NamedNode

from ontology.schema import Schema
from ontology.terms import OntologyProperty, PropertyKind

__all__ = [
    "IS_A",
    "IS_A_DEFINITION",
    "definition_of",
    "extraction_schema",
]

IS_A: Final = "is a"
IS_A_DEFINITION: Final = f"- {IS_A}: what kind of thing the subject is."


def extraction_schema(relations: Iterable[str] | None) -> dict[str, Any]:
    """Return the JSON schema of a reply, flat and small as the strictest server's dialect demands.

    The quote comes first, since a model writes better triples of words that it has just copied. The relation
    is one of those given; None leaves its words to the model. The number of triples has no limit, which a
    server would unroll into its grammar: the tokens of the reply bound it.
    """
    relation = {"type": "string"} if relations is None else {"type": "string", "enum": list(relations)}
    triple = {
        "type": "object",
        "properties": {
            "quote": {"type": "string"},
            "subject": {"type": "string"},
            "relation": relation,
            "object": {"type": "string"},
        },
        "required": ["quote", "subject", "relation", "object"],
    }
    return {
        "type": "object",
        "properties": {"triples": {"type": "array", "items": triple}},
        "required": ["triples"],
    }


def definition_of(schema: Schema, term: OntologyProperty) -> str:
    """A relation as prompts show it: label, domain, range and meaning on one line."""
    target = _named(schema, term.ranges) if term.kind is PropertyKind.OBJECT else "value"
    ends = f"{_named(schema, term.domains)} -> {target}"
    return f"- {term.label} ({ends}): {term.definition or 'no description'}"


def _named(schema: Schema, classes: Iterable[NamedNode]) -> str:
    return " or ".join(sorted(schema.classes[c].label for c in classes if c in schema.classes)) or "any"
