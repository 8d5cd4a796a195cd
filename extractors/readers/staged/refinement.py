"""Iterative self-refinement: a verifier judges, an updater follows (UrbanKGent, section 4.3.3).

By edits, the verifier says for each numbered triple that is wrong what it should be instead, and which are
missing; that is carried out without the model, so that nothing that was right is written anew or lost. The
updater is asked only about triples that are doubted without saying what they should be. In words, as the
paper has it, the verifier suggests freely until it ends with the faithful verdict, and the updater gives all
triples again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from extractors.errors import ModelReplyError
from extractors.models.chat import Reply
from extractors.prompting.lines import numbered_line
from extractors.prompting.methods import Updates
from extractors.prompting.prompt import extraction_schema, triple_schema
from extractors.prompting.reply import ReplyTriple, triple_finder
from extractors.prompting.templates import Prompt
from extractors.readers.reading import merged
from extractors.readers.staged.talk import Talk, triples_in, words_in
from extractors.readers.verdicts import is_faithful

__all__ = ["Refinement", "Verdict", "edited", "read_verdict"]

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
