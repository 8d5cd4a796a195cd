"""The question of the single turn: a template filled with a text and the part of the ontology that fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pyoxigraph import NamedNode

from extractors.models.chat import Message
from extractors.prompting.templates import Prompt, PromptError, load_prompt
from ontology.schema import Schema
from ontology.terms import OntologyProperty, PropertyKind

__all__ = [
    "IS_A",
    "MAXIMUM_TRIPLES",
    "ExtractionPrompt",
    "Prompt",
    "PromptError",
    "definition_of",
    "extraction_prompt",
    "extraction_schema",
    "load_prompt",
]

IS_A: Final = "is a"
IS_A_DEFINITION: Final = f"- {IS_A}: what kind of thing the subject is."
MAXIMUM_TRIPLES: Final = 16


@dataclass(frozen=True)
class ExtractionPrompt:
    """One question to the model: the messages, and the schema that its reply must follow."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any]
    version: str


def extraction_prompt(
    prompt: Prompt, schema: Schema, text: str, *, maximum_classes: int, maximum_properties: int
) -> ExtractionPrompt:
    """Ask for the triples of a text with the classes and relations of the ontology that fit it best."""
    snippet = schema.snippet(text, maximum_classes, maximum_properties)
    relations = [IS_A, *(p.label for p in snippet.properties if p.label and p.label != IS_A)]
    relations = list(dict.fromkeys(relations))
    values = {
        "text": text,
        "classes": "; ".join(c.label for c in snippet.classes) or "any",
        "definitions": "\n".join(_definitions(schema, snippet.properties)),
    }
    return ExtractionPrompt(prompt.messages(values), extraction_schema(relations), prompt.version)


def extraction_schema(relations: Iterable[str] | None) -> dict[str, Any]:
    """Return the JSON schema of a reply, flat and small as the strictest server's dialect demands.

    The relation is one of those given; None leaves its words to the model.
    """
    relation = {"type": "string"} if relations is None else {"type": "string", "enum": list(relations)}
    triple = {
        "type": "object",
        "properties": {
            "subject": {"type": "string"},
            "relation": relation,
            "object": {"type": "string"},
        },
        "required": ["subject", "relation", "object"],
    }
    return {
        "type": "object",
        "properties": {"triples": {"type": "array", "maxItems": MAXIMUM_TRIPLES, "items": triple}},
        "required": ["triples"],
    }


def definition_of(schema: Schema, term: OntologyProperty) -> str:
    """A relation as prompts show it: label, domain, range and meaning on one line."""
    target = _named(schema, term.ranges) if term.kind is PropertyKind.OBJECT else "value"
    ends = f"{_named(schema, term.domains)} -> {target}"
    return f"- {term.label} ({ends}): {term.definition or 'no description'}"


def _definitions(schema: Schema, properties: Iterable[OntologyProperty]) -> Iterable[str]:
    yield IS_A_DEFINITION
    for term in properties:
        yield definition_of(schema, term)


def _named(schema: Schema, classes: Iterable[NamedNode]) -> str:
    return " or ".join(sorted(schema.classes[c].label for c in classes if c in schema.classes)) or "any"
