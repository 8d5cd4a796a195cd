"""Iterative self-refinement: a verifier judges, an updater follows (UrbanKGent, section 4.3.3).

By edits, the verifier says for each numbered triple that is wrong what it should be instead, and which are
missing; that is carried out without the model, so that nothing that was right is written anew or lost. The
updater is asked only about triples that are doubted without saying what they should be. In words, as the
paper has it, the verifier suggests freely until it ends with the faithful verdict, and the updater gives all
triples again. The verifier also gets the triples that do not fit the ontology (Nie et al., section 3.2).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyoxigraph import NamedNode

from extractors.errors import ModelReplyError
from extractors.models.chat import Reply
from extractors.prompting.methods import Updates
from extractors.prompting.prompt import IS_A, Prompt, extraction_schema, triple_schema
from extractors.prompting.reply import ReplyTriple, is_faithful, numbered_line, triple_finder
from extractors.readers.dialogs import Talk, triples_in, words_in
from extractors.readers.reading import merged
from ontology.labels import with_article
from ontology.schema import Schema
from ontology.terms import OntologyClass

_ENTITY: Final = re.compile(r"^[\s\-*\d.)]*(?P<name>[^|\n]+?)\s*\|\s*(?P<kind>[^|\n]+?)\s*$", re.MULTILINE)


def kinds_stated(triples: Iterable[ReplyTriple], entities: str) -> Mapping[str, str]:
    """What kind of thing the model says each name is: in lines `name | kind`, and in triples."""
    found = {_key(match["name"]): match["kind"] for match in _ENTITY.finditer(entities)}
    found |= {_key(triple.subject): triple.object for triple in triples if triple.relation == IS_A}
    return found


def misfits(triples: Iterable[ReplyTriple], schema: Schema, kinds: Mapping[str, str]) -> Iterator[str]:
    """Say for a triple, by its number, that the ontology lacks its relation or that its ends do not fit."""
    for number, triple in enumerate(triples, 1):
        if triple.relation == IS_A:
            continue
        term = schema.find_property(triple.relation)
        if term is None:
            yield f'{number}: "{triple.relation}" is not among the relations.'
            continue
        for end, expected in ((triple.subject, term.domains), (triple.object, term.ranges)):
            wanted = [schema.classes[iri] for iri in expected if iri in schema.classes]
            kind = schema.find_class(kinds.get(_key(end), ""))
            if (
                wanted
                and len(wanted) == len(expected)
                and kind is not None
                and not _fits(schema, kind, wanted)
            ):
                named = " or ".join(sorted(one.label for one in wanted))
                asked, is_ = with_article(named), with_article(kind.label)
                yield f'{number}: "{term.label}" asks for {asked}, and "{end}" is {is_}.'


def _fits(schema: Schema, kind: OntologyClass, wanted: Iterable[OntologyClass]) -> bool:
    """Whether something of this kind is, or may turn out to be, of a wanted class."""
    around: frozenset[NamedNode] = schema.superclasses(kind.iri) | schema.subclasses(kind.iri)
    return any(one.iri in around for one in wanted)


def _key(name: str) -> str:
    return " ".join(name.casefold().split())


Triples = tuple[ReplyTriple, ...]
_NUMBER: Final[Mapping[str, Any]] = {"type": "integer"}


@dataclass(frozen=True)
class Verdict:
    """What is said of numbered triples, from 1: what each should be `instead`, None to leave it out.

    `doubted` are reasons against triples without a word on what they should be.
    """

    instead: Mapping[int, ReplyTriple | None]
    doubted: Mapping[int, str]
    missing: Triples


@dataclass(frozen=True)
class Refinement:
    """The prompts of the verifier and of the updater, and how updates are made."""

    updates: Updates
    verify: Prompt
    update: Prompt

    async def round(
        self,
        talk: Talk,
        values: Mapping[str, str],
        triples: Triples,
        findings: Iterable[str],
        relations: Sequence[str] | None,
    ) -> Triples | None:
        """Refine once, in a dialog of its own; None where nothing is to be improved, or no reply can be used.

        `values` are the text and the ontology's words, `findings` conflicts of the triples with it, and
        `relations` those that a reply may use.
        """
        listed = [numbered_line(number, triple) for number, triple in enumerate(triples, 1)]
        said = [f"- {finding}" for finding in findings]
        found = "\n".join(["", "What the ontology says against them:", *said, ""]) if said else ""
        shown = {**values, "triples": "\n".join(listed) or "none", "findings": found}
        if self.updates == "words":
            return await self._in_words(talk, shown, relations)
        verdict = await talk.ask(
            "verify", self.verify, self.verify.messages(shown)[0], read_verdict, _verdict_schema(relations)
        )
        if verdict is None:
            return None
        edits = dict(verdict.instead)
        doubts = {number: why for number, why in verdict.doubted.items() if 0 < number <= len(triples)}
        if doubts:
            lines = (f"{listed[number - 1]}. Said against it: {why}" for number, why in doubts.items())
            request = self.update.messages({**values, "doubts": "\n".join(lines)})[0]
            more = await talk.ask("update", self.update, request, _read_edits, _edits_schema(relations))
            edits |= {number: one for number, one in (more or {}).items() if number in doubts}
        refined = edited(triples, edits, verdict.missing)
        return None if refined == triples else refined

    async def _in_words(
        self, talk: Talk, shown: Mapping[str, str], relations: Sequence[str] | None
    ) -> Triples | None:
        suggestion = await talk.ask("verify", self.verify, self.verify.messages(shown)[0], words_in)
        if suggestion is None or is_faithful(suggestion):
            return None
        request = self.update.messages(shown)[0]
        return await talk.ask("update", self.update, request, triples_in, extraction_schema(relations))


def edited(
    triples: Sequence[ReplyTriple], edits: Mapping[int, ReplyTriple | None], missing: Iterable[ReplyTriple]
) -> Triples:
    """Carry the edits of numbered triples out, and add what is missing; everything else stays as it is."""
    kept = (edits.get(number, triple) for number, triple in enumerate(triples, 1))
    return merged([*(triple for triple in kept if triple is not None), *missing])


def read_verdict(reply: Reply) -> tuple[Verdict, None]:
    """Read a verifier's `{"faithful", "wrong": [{"number", "why", "instead"}], "missing": [...]}`.

    "faithful" is for the trace: what ends the refinement is that nothing is wrong and nothing missing.
    """
    value, find = _object(reply), triple_finder(reply)
    instead = _edits(value.get("wrong"), find)
    doubted = {
        one["number"]: str(one.get("why", ""))
        for one in _rows(value.get("wrong"))
        if isinstance(one.get("number"), int) and one["number"] not in instead
    }
    missing = tuple(triple for one in _rows(value.get("missing")) if (triple := find(one)) is not None)
    return Verdict(instead, doubted, missing), None


def _read_edits(reply: Reply) -> tuple[Mapping[int, ReplyTriple | None], None]:
    return _edits(_object(reply).get("edits"), triple_finder(reply)), None


def _edits(rows: Any, find: Any) -> dict[int, ReplyTriple | None]:
    """What each numbered triple should be; without the numbers that have no usable `instead`."""
    found: dict[int, ReplyTriple | None] = {}
    for row in _rows(rows):
        number, missing = row.get("number"), object()
        instead = row.get("instead", missing)
        triple = find(instead) if isinstance(instead, dict) else None
        if isinstance(number, int) and (instead is None or triple is not None):
            found.setdefault(number, triple)
    return found


def _rows(value: Any) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _object(reply: Reply) -> dict[str, Any]:
    try:
        value = json.loads(reply.text)
    except ValueError as error:
        raise ModelReplyError(f"The model's verdict is not JSON ({error}).", reply.text) from error
    if not isinstance(value, dict):
        raise ModelReplyError("The model's verdict is not a JSON object.", reply.text)
    return value


def _verdict_schema(relations: Sequence[str] | None) -> dict[str, Any]:
    triple = triple_schema(relations)
    wrong = {"number": _NUMBER, "why": {"type": "string"}, "instead": {"anyOf": [triple, {"type": "null"}]}}
    return _closed(
        {
            "faithful": {"type": "boolean"},
            "wrong": {"type": "array", "items": _closed(wrong, "number", "why")},
            "missing": {"type": "array", "items": triple},
        }
    )


def _edits_schema(relations: Sequence[str] | None) -> dict[str, Any]:
    edit = {"number": _NUMBER, "instead": {"anyOf": [triple_schema(relations), {"type": "null"}]}}
    return _closed({"edits": {"type": "array", "items": _closed(edit)}})


def _closed(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required or properties)}
