"""Prompts: templates, the relations of an ontology as they show them, and the JSON schema of a reply.

Templates are Markdown files with a front matter and one section per message, headed by the role. A template's
version is a hash of its file, so an edited prompt can never pass under an old version. A folder of the user's
may hold files that stand in for ours, by name. They are held against ours: a placeholder that nothing fills,
or one without which the prompt asks nothing, is reported before the first request.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, Final, cast

from pyoxigraph import NamedNode

from extractors.errors import ExtractionError
from extractors.models.chat import Message, Role
from ontology.schema import Schema
from ontology.terms import OntologyProperty, PropertyKind

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
    target = _class_names(schema, term.ranges) if term.kind is PropertyKind.OBJECT else "value"
    ends = f"{_class_names(schema, term.domains)} -> {target}"
    return f"- {term.label} ({ends}): {term.definition or 'no description'}"


def _class_names(schema: Schema, classes: Iterable[NamedNode]) -> str:
    return " or ".join(sorted(schema.classes[c].label for c in classes if c in schema.classes)) or "any"


EXAMPLES: Final = "examples.jsonl"
SHIPPED: Final = "shipped"

_SECTION = re.compile(r"^# (system|user|assistant)[ \t]*\n", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


class PromptError(ExtractionError):
    """A prompt file cannot be used."""


@dataclass(frozen=True)
class Prompt:
    """A prompt template; `version` is its name and a hash of its file, `source` the file or `shipped`."""

    name: str
    version: str
    sections: tuple[tuple[Role, str], ...]
    purpose: str = ""
    source: str = SHIPPED

    def messages(self, values: Mapping[str, str], *roles: Role) -> tuple[Message, ...]:
        """Fill the template's `$` placeholders, in the sections of these roles (none: all).

        A value's own dollar signs are left alone.
        """
        chosen = [(role, body) for role, body in self.sections if not roles or role in roles]
        try:
            return tuple(Message(role, Template(body).substitute(values)) for role, body in chosen)
        except (KeyError, ValueError) as error:
            raise PromptError(
                f"The prompt {self.name} has a placeholder that nothing fills ({error}): use one of "
                f"{', '.join('$' + key for key in values)}, and write $$ for a dollar sign."
            ) from error

    def text(self, values: Mapping[str, str]) -> str:
        """Fill the template and give the words of its sections, for a prompt that is put into others."""
        return "\n\n".join(message.content for message in self.messages(values))


def prompt_names() -> tuple[str, ...]:
    """The names of all prompts, in alphabetical order."""
    files = (resources.files("extractors") / "prompts").iterdir()
    return tuple(sorted(file.name.removesuffix(".md") for file in files if file.name.endswith(".md")))


def load_prompt(name: str, folder: Path | None = None) -> Prompt:
    """Read a prompt template by name, from a folder of the user's if it is there, else from ours.

    Raises `PromptError`, which names the file and the placeholder.
    """
    file = f"{name}.md"
    ours = _shipped(file)
    source, place = read_source(file, folder)
    front, body, before = _parts(source)
    heads = list(_SECTION.finditer(body))
    if not heads:
        raise PromptError(
            f"The prompt file {_named(place, file)} has no messages: head each with '# system' or '# user'."
        )
    if place != SHIPPED:
        _check_placeholders(place, body, before, ours)
        turns, own = (sum(head[1] == "user" for head in _SECTION.finditer(one)) for one in (ours, body))
        if turns > 1 and own != turns:
            raise PromptError(f"{place} has {own} messages '# user' and needs {turns}, one for each turn.")
    ends = [head.start() for head in heads[1:]] + [len(body)]
    sections = tuple(
        (cast("Role", head.group(1)), body[head.end() : end].strip("\n"))
        for head, end in zip(heads, ends, strict=True)
    )
    return Prompt(name, f"{name}@{digest_of(source)}", sections, front.get("purpose", ""), place)


def check_prompts(folder: Path) -> None:
    """Read every prompt with this folder's in place of ours.

    Raises `PromptError` for a file that cannot be used, one that no prompt is named after, or no folder.
    """
    if not folder.is_dir():
        raise PromptError(f"There is no folder of prompts at {folder}: make it, or correct the setting.")
    names = prompt_names()
    for file in sorted(folder.glob("*.md")):
        if file.stem not in names:
            raise PromptError(
                f"{file}: there is no prompt {file.stem!r}. The prompts are {', '.join(names)}."
            )
    for name in names:
        load_prompt(name, folder)


def export_prompts(folder: Path, file: str | None = None) -> list[Path]:
    """Copy the shipped files (or this one) into a folder; what is there already stays. Gives what was copied.

    Raises `PromptError` when the folder cannot be written.
    """
    copied: list[Path] = []
    files = [file] if file is not None else [*(f"{name}.md" for name in prompt_names()), EXAMPLES]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for one in files:
            path = folder / one
            if not path.exists():
                path.write_text(_shipped(one), encoding="utf-8")
                copied.append(path)
    except OSError as error:
        raise PromptError(f"{folder} cannot be written: {error.strerror}. Name another folder.") from error
    return copied


def digest_of(source: str) -> str:
    """The version of a file of prompts: a hash of its content."""
    return hashlib.sha256(source.encode()).hexdigest()[:10]


def read_source(file: str, folder: Path | None) -> tuple[str, str]:
    """The content of a file of prompts, and where it is: the user's folder, else `shipped`."""
    own = folder / file if folder is not None else None
    if own is None or not own.is_file():
        return _shipped(file), SHIPPED
    try:
        return own.read_text(encoding="utf-8"), str(own)
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(
            f"The prompt file {own} cannot be read ({error}): save it as UTF-8 text."
        ) from error


def _shipped(file: str) -> str:
    source = resources.files("extractors") / "prompts" / file
    if not source.is_file():
        raise PromptError(f"There is no prompt {file!r}. The prompts are {', '.join(prompt_names())}.")
    return source.read_text(encoding="utf-8")


def _parts(source: str) -> tuple[Mapping[str, str], str, int]:
    """Front matter, body, and how many lines come before the body."""
    match = _FRONT_MATTER.match(source)
    if match is None:
        return {}, source, 0
    pairs = (line.partition(":") for line in match.group(1).splitlines())
    front = {key.strip(): value.strip() for key, _, value in pairs}
    return front, source[match.end() :], match.group().count("\n")


def _check_placeholders(place: str, body: str, before: int, shipped: str) -> None:
    front, ours, _ = _parts(shipped)
    used = {name for name, _ in _placeholders(ours)}
    allowed = used | _listed(front.get("values", ""))
    found = [(name, line + before) for name, line in _placeholders(body)]
    for name, line in found:
        if name not in allowed:
            unfilled = f"${name}" if name else "a dollar sign that opens no name"
            offered = ", ".join(f"${one}" for one in sorted(allowed)) or "none"
            raise PromptError(
                f"{place}, line {line}: nothing fills {unfilled}. This prompt's placeholders are {offered}; "
                "write $$ for a dollar sign."
            )
    missing = used & _ESSENTIAL - {name for name, _ in found}
    if missing:
        raise PromptError(f"{place} does not use ${min(missing)}, without which it asks nothing: put it in.")


_ESSENTIAL: Final = frozenset({"text", "content", "question", "triples", "definitions", "knowledge"})


def _placeholders(body: str) -> Iterator[tuple[str, int]]:
    """Each placeholder with its line, from 1; an empty name for a dollar sign that opens none."""
    for match in Template.pattern.finditer(body):
        if match["escaped"] is None:
            yield match["named"] or match["braced"] or "", body.count("\n", 0, match.start()) + 1


def _listed(names: str) -> set[str]:
    return {name.strip() for name in names.split(",") if name.strip()}


def _named(place: str, file: str) -> str:
    return file if place == SHIPPED else place
