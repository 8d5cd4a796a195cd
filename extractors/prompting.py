"""Prompts: template files with a version, filled with a text and the part of the ontology that fits it.

A template is a Markdown file with a front matter and one section per message, headed by the role. Its
version is a hash of the file, so an edited prompt can never pass under an old version.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, Final, Literal, cast

from pyoxigraph import NamedNode

from extractors.errors import ExtractionError
from extractors.models.chat import Message, PromptProfile, Role
from ontology.schema import Schema
from ontology.terms import OntologyProperty, PropertyKind

__all__ = [
    "IS_A",
    "MAXIMUM_TRIPLES",
    "ExtractionPrompt",
    "Prompt",
    "PromptError",
    "extraction_prompt",
    "extraction_schema",
    "load_prompt",
    "prompt_name",
]

IS_A: Final = "is a"
MAXIMUM_TRIPLES: Final = 16

_SECTION = re.compile(r"^# (system|user|assistant)[ \t]*\n", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


class PromptError(ExtractionError):
    """A prompt file cannot be used."""


@dataclass(frozen=True)
class Prompt:
    """A prompt template; `version` is its name and a hash of its file."""

    name: str
    version: str
    sections: tuple[tuple[Role, str], ...]

    def messages(self, values: Mapping[str, str]) -> tuple[Message, ...]:
        """Fill the template's `$` placeholders; a value's own dollar signs are left alone."""
        try:
            return tuple(Message(role, Template(body).substitute(values)) for role, body in self.sections)
        except (KeyError, ValueError) as error:
            raise PromptError(
                f"The prompt {self.name} has a placeholder that nothing fills ({error}): use one of "
                f"{', '.join('$' + key for key in values)}, and write $$ for a dollar sign."
            ) from error


@dataclass(frozen=True)
class ExtractionPrompt:
    """One question to the model: the messages, and the schema that its reply must follow."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any]
    version: str


def load_prompt(name: str, folder: Path | None = None) -> Prompt:
    """Read a prompt template by name, from a folder of the user's if it is there, else from ours."""
    own = folder / f"{name}.md" if folder is not None else None
    if own is not None and own.is_file():
        source = own.read_text(encoding="utf-8")
    else:
        source = (resources.files("extractors") / "prompts" / f"{name}.md").read_text(encoding="utf-8")
    front = _FRONT_MATTER.match(source)
    body = source[front.end() :] if front else source
    heads = list(_SECTION.finditer(body))
    if not heads:
        raise PromptError(
            f"The prompt file {name}.md has no messages: head each with '# system' or '# user'."
        )
    ends = [head.start() for head in heads[1:]] + [len(body)]
    sections = tuple(
        (cast("Role", head.group(1)), body[head.end() : end].strip("\n"))
        for head, end in zip(heads, ends, strict=True)
    )
    return Prompt(name, f"{name}@{hashlib.sha256(source.encode()).hexdigest()[:10]}", sections)


def extraction_prompt(
    prompt: Prompt, schema: Schema, text: str, *, maximum_classes: int, maximum_properties: int
) -> ExtractionPrompt:
    """Ask for the triples of a text with the classes and relations of the ontology that fit it best."""
    snippet = schema.snippet(text, maximum_classes, maximum_properties)
    relations = [IS_A, *(p.label for p in snippet.properties if p.label and p.label != IS_A)]
    relations = list(dict.fromkeys(relations))
    values = {
        "text": text,
        "relations": "; ".join(relations),
        "classes": "; ".join(c.label for c in snippet.classes) or "any",
        "definitions": "\n".join(_definitions(schema, snippet.properties)),
    }
    return ExtractionPrompt(prompt.messages(values), extraction_schema(relations), prompt.version)


def prompt_name(profile: PromptProfile) -> Literal["extract-compact", "extract-full"]:
    """Return the name of the extraction prompt that suits a model."""
    return "extract-compact" if profile == "compact" else "extract-full"


def extraction_schema(relations: Iterable[str]) -> dict[str, Any]:
    """Return the JSON schema of a reply, flat and small as the strictest server's dialect demands."""
    triple = {
        "type": "object",
        "properties": {
            "subject": {"type": "string"},
            "relation": {"type": "string", "enum": list(relations)},
            "object": {"type": "string"},
        },
        "required": ["subject", "relation", "object"],
    }
    return {
        "type": "object",
        "properties": {"triples": {"type": "array", "maxItems": MAXIMUM_TRIPLES, "items": triple}},
        "required": ["triples"],
    }


def _definitions(schema: Schema, properties: Iterable[OntologyProperty]) -> Iterable[str]:
    yield f"- {IS_A}: what kind of thing the subject is."
    for term in properties:
        target = _named(schema, term.ranges) if term.kind is PropertyKind.OBJECT else "value"
        ends = f"{_named(schema, term.domains)} -> {target}"
        yield f"- {term.label} ({ends}): {term.definition or 'no description'}"


def _named(schema: Schema, classes: Iterable[NamedNode]) -> str:
    return " or ".join(sorted(schema.classes[c].label for c in classes if c in schema.classes)) or "any"
