"""What a dialog is made of: worked examples, the ontology as prior knowledge, and the turns.

The ontology is a concept list and relations with domain and range (Nie et al., section 3.2); each example has
a small one of its own. A broken reply is asked for once more, and a cut-off one is used as far as it goes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from extractors.errors import ModelError, ModelReplyError, ModelTimeout, ModelUnavailable
from extractors.models.chat import ChatModel, Message, Reply
from extractors.prompting.methods import Method, View
from extractors.prompting.prompt import (
    EXAMPLES,
    IS_A,
    IS_A_DEFINITION,
    Prompt,
    PromptError,
    definition_of,
    digest_of,
    load_prompt,
    read_source,
)
from extractors.prompting.reply import ParsedReply, ReplyTriple, parse
from extractors.readers.reading import Reading, Turn
from extractors.settings import ProfileSettings
from ontology.schema import Schema
from ontology.terms import OntologyProperty

Row = tuple[str, ...]


@dataclass(frozen=True)
class Example:
    """A text and what is right to answer to it.

    `relations` are label, domain, range and meaning; `entities` name and kind; `triples` quote, subject,
    relation and object, those that say a kind among them.
    """

    text: str
    classes: Row
    relations: tuple[Row, ...]
    entities: tuple[Row, ...]
    triples: tuple[Row, ...]

    def definitions(self, *, kinds: bool) -> list[str]:
        """The relations as prompts show them."""
        lines = [
            f"- {label} ({domain} -> {range_}): {note}" for label, domain, range_, note in self.relations
        ]
        return [IS_A_DEFINITION, *lines] if kinds else lines

    def answers(self, *, kinds: bool) -> Mapping[str, str]:
        """The right answers: all triples as JSON, and the parts of a chain of thought as lines."""
        said = [row for row in self.triples if kinds or row[2] != IS_A]
        rows = [dict(zip(("quote", "subject", "relation", "object"), row, strict=True)) for row in said]
        found = [
            (f'"{quote}"', subject, object_) for quote, subject, relation, object_ in said if relation != IS_A
        ]
        return {
            "answer": json.dumps({"triples": rows}, ensure_ascii=False),
            "entities": _lines(self.entities),
            "relations": _lines(found),
            "triples": "\n".join(f"[{' | '.join(row[1:])}]" for row in said) or "none",
        }


def _lines(rows: Iterable[Row]) -> str:
    return "\n".join(" | ".join(row) for row in rows) or "none"


def load_examples(folder: Path | None) -> tuple[tuple[Example, ...], str]:
    """The examples in order and the version of their file. Raises `PromptError` with the line."""
    source, place = read_source(EXAMPLES, folder)
    lines = [(number, line) for number, line in enumerate(source.split("\n"), start=1) if line.strip()]
    return tuple(_example(place, number, line) for number, line in lines), digest_of(source)


def _example(place: str, number: int, line: str) -> Example:
    try:
        row = json.loads(line)
        return Example(
            text=str(row["text"]),
            classes=tuple(map(str, row["classes"])),
            relations=_rows(row["relations"], 4),
            entities=_rows(row["entities"], 2),
            triples=_rows(row["triples"], 4),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise PromptError(
            f"{place if place.endswith(EXAMPLES) else EXAMPLES}, line {number} is no example ({error!r}): it "
            "needs text, classes, relations, entities and triples, as the shipped ones have."
        ) from error


def _rows(value: Any, width: int) -> tuple[Row, ...]:
    rows = tuple(tuple(map(str, row)) for row in value)
    if any(len(row) != width for row in rows):
        raise ValueError(f"rows of {width} are needed")
    return rows


_ALL: Final = 1_000_000
_SNIPPET: Final = 100
"""So many classes and relations are shown of an ontology that is too long to be shown whole."""


@dataclass(frozen=True)
class KnownTerms:
    """What the prompts say of the ontology for one text, and the terms that a reply may use.

    `classes` and `relations` are those that the words name, `of` counts the relations of an ontology that is
    too long to be shown whole. `kinds`: "is a" is among the relations. Without `closed` a reply may use words
    of its own.
    """

    words: str
    classes: tuple[str, ...] = ()
    relations: tuple[OntologyProperty, ...] = ()
    of: int = 0
    kinds: bool = True
    closed: bool = False

    @property
    def note(self) -> str:
        """For the trace: which part of the ontology a prompt shows; empty for the whole."""
        count = len(self.relations)
        return f" ({count} of {self.of} relations)" if count < self.of else ""

    def allowed(self, view: View | None = None) -> list[str] | None:
        """The relations that a reply may use, in a view those that belong to it; None for any words.

        A relation without a view belongs to all. What kind of thing something is belongs to the functional.
        """
        if not self.closed:
            return None
        kinds = [IS_A] if self.kinds and view in (None, "functional") else []
        terms = (term for term in self.relations if view is None or not term.views or view in term.views)
        return list(dict.fromkeys([*kinds, *(term.label for term in terms)]))


class Ontologist:
    """Words the ontology as a method wants it: whole and the same for every text, or what fits a text.

    An ontology of more than `maximum_knowledge` characters of prompt is shown in part.
    """

    def __init__(self, method: Method, profile: ProfileSettings, prompts: Path | None) -> None:
        """Read the prompts; raises `PromptError`."""
        self._method = method
        self._profile = profile
        self._whole: tuple[Schema, KnownTerms] | None = None
        known = "block-knowledge" if method.format == "context" else "knowledge"
        name = "no-knowledge" if method.ontology == "none" else known
        self.prompt: Prompt = load_prompt(name, prompts)

    def terms(self, schema: Schema, text: str, most: int | None = None) -> KnownTerms:
        """The whole ontology, or at most `most` classes and relations that fit the text."""
        if self._method.ontology == "none":
            return KnownTerms(self.prompt.text({}), kinds=self._method.kinds)
        if self._method.ontology == "snippet":
            limits = (self._profile.maximum_classes, self._profile.maximum_properties)
            return self._terms(
                schema, text, *(limit if most is None else min(limit, most) for limit in limits)
            )
        if self._whole is None or self._whole[0] is not schema:
            self._whole = (schema, self._terms(schema, "", _ALL, _ALL))
        whole = self._whole[1]
        if most is None and len(whole.words) <= self._profile.maximum_knowledge:
            return whole
        limit = _SNIPPET if most is None else most
        return replace(self._terms(schema, text, limit, limit), of=len(whole.relations))

    def _terms(self, schema: Schema, text: str, classes: int, properties: int) -> KnownTerms:
        snippet = schema.snippet(text, classes, properties)
        terms = [term for term in snippet.properties if term.label and term.label != IS_A]
        lines = [IS_A_DEFINITION] if self._method.kinds else []
        lines += [definition_of(schema, term) for term in terms]
        names = [one.label for one in snippet.classes]
        return KnownTerms(
            self.worded(names, lines),
            tuple(names),
            tuple(terms),
            kinds=self._method.kinds,
            # A schema that allows no relation at all would allow no reply.
            closed=self._method.closed and bool(lines),
        )

    def worded(self, classes: list[str], definitions: list[str]) -> str:
        """The words for these terms; those of an example are its own."""
        if self._method.ontology == "none":
            return self.prompt.text({})
        return self.prompt.text(
            {"classes": "; ".join(classes) or "any", "definitions": "\n".join(definitions) or "none"}
        )


AnswerT = TypeVar("AnswerT")
ReadReply = Callable[[Reply], tuple[AnswerT, str | None]]
"""Reads a reply, and says what is wrong with one that can be used in part. Raises `ModelReplyError`."""


@dataclass
class Talk:
    """The turns of a dialog behind its `opening`, the system message and examples.

    They are sent as turns (ICL), or with `block` as one block in one message (Context; Nie et al., figure 3).
    `temperatures` are those of the first question and of a repeated one. `note` goes with the version of each
    prompt into the trace. `failure` is that of the last question.
    """

    model: ChatModel
    opening: Sequence[Message]
    maximum_tokens: int
    temperatures: tuple[float, ...]
    block: Prompt | None = None
    note: str = ""
    messages: list[Message] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    failure: ModelError | None = None

    async def ask(
        self,
        stage: str,
        prompt: Prompt,
        message: Message,
        read: ReadReply[AnswerT],
        schema: Mapping[str, Any] | None = None,
    ) -> AnswerT | None:
        """Ask, and return what was read; None, with the `failure` kept, where no reply could be used.

        Raises `ModelUnavailable` and `ModelTimeout`.
        """
        self.messages.append(message)
        sent, version = self._sent(), prompt.version + self.note
        for temperature in self.temperatures:
            reply: Reply | None = None
            try:
                reply, refusal = await self._complete(sent, schema, temperature, read)
                answer, flaw = read(reply)
            except (ModelUnavailable, ModelTimeout):
                raise
            except ModelError as error:
                self.failure = error
                self.turns.append(Turn(stage, version, sent, reply, str(error)))
                if not isinstance(error, ModelReplyError):
                    break
                continue
            self.failure = None
            self.turns.append(Turn(stage, version, sent, reply, refusal or flaw))
            self.messages.append(Message("assistant", reply.text.strip()))
            return answer
        return None

    def reading(self, triples: Sequence[ReplyTriple] | None = None) -> Reading:
        """What came of the dialog."""
        return Reading(tuple(triples or ()), tuple(self.turns), self.failure)

    async def _complete(
        self,
        sent: Sequence[Message],
        schema: Mapping[str, Any] | None,
        temperature: float,
        read: ReadReply[AnswerT],
    ) -> tuple[Reply, str | None]:
        """Get a reply; one that the adapter refused, but that can be used, comes with the reason."""
        begin = time.monotonic()
        try:
            reply = await self.model.complete(
                sent, schema=schema, max_tokens=self.maximum_tokens, temperature=temperature
            )
        except ModelReplyError as error:
            # The adapter keeps the words of what it refuses, and not what they cost.
            refused = Reply(error.reply, "length", 0, 0, time.monotonic() - begin, self.model.name, None)
            try:
                read(refused)
            except ModelReplyError:
                raise error from None
            return refused, str(error)
        return reply, None

    def _sent(self) -> tuple[Message, ...]:
        if self.block is None:
            return (*self.opening, *self.messages)
        parts = [("Example", message) for message in self.opening]
        parts += [("Test", message) for message in (*self.messages, Message("assistant", ""))]
        shown = (
            rendered.content.rstrip()
            for part, message in parts
            for rendered in self.block.messages({"part": part, "content": message.content}, message.role)
        )
        return (Message("user", "\n\n".join(shown)),)


def triples_in(reply: Reply) -> tuple[tuple[ReplyTriple, ...], str | None]:
    """The triples of a JSON reply; of a cut-off one those before the cut."""
    return as_triples(parse(reply), reply)


def as_triples(parsed: ParsedReply, reply: Reply) -> tuple[tuple[ReplyTriple, ...], str | None]:
    """The triples that were read, and whether more were cut off."""
    if not parsed.truncated:
        return parsed.triples, None
    flaw = (
        f"The model's reply was cut off; {len(parsed.triples)} complete triples were read from it: raise "
        "maximum_tokens, or make the windows smaller."
    )
    if not parsed.triples:
        raise ModelReplyError(flaw, reply.text)
    return parsed.triples, flaw


def words_in(reply: Reply) -> tuple[str, str | None]:
    """The plain words of a reply; one that was cut off counts as far as it goes."""
    text = reply.text.strip()
    if not text:
        raise ModelReplyError("The model's reply is empty: ask again, or configure another model.", text)
    flaw = "The model's reply was cut off: raise maximum_tokens." if reply.finish_reason == "length" else None
    return text, flaw
