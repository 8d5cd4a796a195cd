"""Reading a window as a method says: one pass or several views, their union, then refinement."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from extractors.errors import ModelReplyError, ModelRequestRefused
from extractors.models.chat import ChatModel, Message, Reply
from extractors.prompting.methods import Method, View
from extractors.prompting.prompt import IS_A, Prompt, extraction_schema, load_prompt, types_schema
from extractors.prompting.reply import ReplyTriple, evidenced, parse_headed
from extractors.readers.dialogs import (
    KnownTerms,
    Ontologist,
    Talk,
    as_triples,
    load_examples,
    triples_in,
    words_in,
)
from extractors.readers.reading import Reading, Turn, merged, union
from extractors.readers.refinement import Refinement, kinds_stated, misfits
from extractors.settings import ExtractionSettings
from extractors.text.chunking import ChunkSize, sentences
from ontology.schema import Schema

_FEWEST_RELATIONS: Final = 4
_MOST_TYPES: Final = 40
"""Of each list that a model writes in words of its own."""


class StagedReader:
    """Reads with any chat model by any method; the model's profile says how much it is shown at once."""

    def __init__(self, model: ChatModel, method: Method, settings: ExtractionSettings) -> None:
        """Read the prompts; raises `PromptError`."""
        self._method = method
        self._profile = settings.profiles[model.prompt_profile]
        self._model = model
        self._temperatures = (0.0, settings.retry_temperature)
        self._most: int | None = None
        self._ontologist = Ontologist(method, self._profile, settings.prompts)
        self._prompts = {name: load_prompt(name, settings.prompts) for name in _names(method)}
        suffix = "-in-words" if method.updates == "words" else ""
        self._refinement = Refinement(
            method.updates,
            load_prompt(f"verify{suffix}", settings.prompts),
            load_prompt(f"update{suffix}", settings.prompts),
        )
        examples, version = load_examples(settings.prompts)
        self._examples = examples[: method.shots]
        used = [
            self._ontologist.prompt,
            *self._prompts.values(),
            self._refinement.verify,
            self._refinement.update,
        ]
        parts = [repr(method), *(prompt.version for prompt in used), version]
        self._version = f"{method.name}@{hashlib.sha256(' '.join(parts).encode()).hexdigest()[:10]}"

    @property
    def prompt_version(self) -> str:
        """The method's name and a hash of all its prompts and settings."""
        return self._version

    @property
    def chunk_size(self) -> ChunkSize:
        """As much as the model's profile allows."""
        return self._profile.chunk_size

    async def read(self, window_text: str, schema: Schema) -> Reading:
        """Read a window: a view without a usable reply is left out, unless it is so with all.

        Where the ontology is too long for the model, the half of it that fits the text better is shown, and
        so on; later windows begin with as much as fitted. Where a reply is cut off, the window is read again
        in two halves, as long as it has several sentences.
        """
        terms = self._ontologist.terms(schema, window_text, self._most)
        turns: tuple[Turn, ...] = ()
        while True:
            reading = await self._read(window_text, schema, terms)
            turns += reading.turns
            if not _too_long(reading) or len(terms.relations) <= _FEWEST_RELATIONS:
                break
            self._most = len(terms.relations) // 2
            terms = self._ontologist.terms(schema, window_text, self._most)
        whole = replace(reading, turns=turns)
        spans = sentences(window_text)
        if len(spans) < 2 or not any(_is_cut_off(turn) for turn in turns):
            return whole
        middle = spans[len(spans) // 2].start
        halves = (window_text[:middle], window_text[middle:])
        return union([whole, *[await self.read(half, schema) for half in halves]])

    async def _read(self, text: str, schema: Schema, terms: KnownTerms) -> Reading:
        if self._method.views:
            read = union([await self._view(view, text, terms) for view in self._method.views])
        else:
            read = await self._at_once(text, terms)
        if read.failure is not None:
            return read
        triples, turns = merged(read.triples), read.turns
        answers = "\n".join(turn.reply.text for turn in turns if turn.reply is not None)
        for _ in range(self._method.refinement):
            known = self._method.ontology != "none"
            findings = misfits(triples, schema, kinds_stated(triples, answers)) if known else ()
            talk = self._talk(terms, self._system(terms))
            values = {"text": text, "knowledge": terms.words}
            refined = await self._refinement.round(talk, values, triples, findings, terms.allowed())
            turns += tuple(talk.turns)
            if refined is None:
                break
            triples = refined
        return Reading(merged(triples), turns)

    async def _at_once(self, text: str, terms: KnownTerms) -> Reading:
        """All facts in one dialog: one question, or the three steps of a chain of thought in turns."""
        thought = self._method.chain_of_thought
        prompt = self._prompts[_QUESTIONS[thought]]
        asked = prompt.messages({"text": text, "knowledge": terms.words}, "user")
        talk = self._talk(terms, [*self._system(terms, *prompt.messages({}, "system")), *self._shown(prompt)])
        for stage, message in zip(("entities", "relations"), asked[:-1], strict=False):
            if await talk.ask(stage, prompt, message, words_in) is None:
                return talk.reading()
        if thought == "instruction":
            return talk.reading(await talk.ask("triples", prompt, asked[-1], _headed))
        schema = extraction_schema(terms.allowed())
        return talk.reading(await talk.ask("triples", prompt, asked[-1], triples_in, schema))

    async def _view(self, view: View, text: str, terms: KnownTerms) -> Reading:
        """One view: its types, which the triples are then held to (UrbanKGent, section 4.2.1)."""
        prompt, offered = self._prompts["view"], terms.allowed(view)
        talk = self._talk(terms, self._system(terms))
        if offered == []:
            return talk.reading()
        values = {
            "text": text,
            "knowledge": terms.words,
            "view": self._prompts[f"view-{view}"].text({}),
            "relations": f"The relations of this view: {'; '.join(offered)}.\n" if offered else "",
        }
        first, reasoning, last = prompt.messages(values, "user")
        kinds = [IS_A] if terms.kinds and view == "functional" else []
        reading = partial(_types_in, terms=terms, offered=offered, kinds=kinds)
        types = await talk.ask("types", prompt, first, reading, types_schema(terms.classes, offered))
        if types is None or not types[1]:
            return talk.reading()
        lines: str | None = ""
        if self._method.chain_of_thought != "none":
            lines = await talk.ask("reasoning", prompt, reasoning, words_in)
        if lines is None:
            return talk.reading()
        entities, relations = types
        schema = extraction_schema(relations, entities)
        triples = await talk.ask("triples", prompt, last, triples_in, schema)
        return talk.reading(evidenced(triples or (), lines, text))

    def _talk(self, terms: KnownTerms, opening: Sequence[Message]) -> Talk:
        block = self._prompts["block"] if self._method.format == "context" else None
        return Talk(self._model, opening, self._profile.maximum_tokens, self._temperatures, block, terms.note)

    def _system(self, terms: KnownTerms, *more: Message) -> list[Message]:
        messages = (*self._prompts["rules"].messages({"knowledge": terms.words}), *more)
        return [Message("system", "\n\n".join(message.content for message in messages))]

    def _shown(self, prompt: Prompt) -> list[Message]:
        """The examples as turns; each has a small ontology of its own, which stands before its question."""
        shown: list[Message] = []
        for example in self._examples:
            kinds = self._method.kinds
            known = self._ontologist.worded(list(example.classes), example.definitions(kinds=kinds))
            values = {"text": example.text, "knowledge": known, **example.answers(kinds=kinds)}
            first, *rest = prompt.messages(values, "user", "assistant")
            lead = f"An example, with an ontology of its own.\n{known}\n\n"
            shown += [Message("user", lead + first.content), *rest]
        return shown


_QUESTIONS: Final = {"none": "question", "instruction": "cot", "turns": "cot-turns"}


def _names(method: Method) -> list[str]:
    """The prompts of a method, without those of the ontology and of refinement."""
    questions = [_QUESTIONS[method.chain_of_thought]]
    if method.views:
        questions = ["view", *(f"view-{view}" for view in method.views)]
    return ["rules", *questions, *(["block"] if method.format == "context" else [])]


def _types_in(
    reply: Reply, terms: KnownTerms, offered: Sequence[str] | None, kinds: Sequence[str]
) -> tuple[tuple[list[str], list[str]], None]:
    """The types of entities and of relations that a view's first turn answers with, among those offered.

    They are in the ontology's order, so that servers find the grammar of the same types compiled already. In
    words of the model's own, `kinds` ("is a") are relations too.
    """
    try:
        value = json.loads(reply.text)
        entities, relations = (
            list(dict.fromkeys(words for one in value[name] if (words := " ".join(str(one).split()))))
            for name in ("entity_types", "relations")
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ModelReplyError(f"The model's reply names no types ({error!r}).", reply.text) from error
    entities = [name for name in terms.classes if name in entities] or entities[:_MOST_TYPES]
    if offered is None:
        found = [*relations[:_MOST_TYPES], *kinds]
    else:
        found = [name for name in offered if name in relations]
    # Without a type of entity there is no kind that something could be said to be.
    return (entities, [name for name in found if entities or name != IS_A]), None


def _headed(reply: Reply) -> tuple[tuple[ReplyTriple, ...], str | None]:
    """The triples under the headings of a chain of thought, or as JSON, which some models write instead."""
    try:
        return as_triples(parse_headed(reply), reply)
    except ModelReplyError as error:
        try:
            return triples_in(reply)
        except ModelReplyError:
            raise error from None


def _is_cut_off(turn: Turn) -> bool:
    return turn.stage == "triples" and turn.reply is not None and turn.reply.finish_reason == "length"


def _too_long(reading: Reading) -> bool:
    return isinstance(reading.failure, ModelRequestRefused) and reading.failure.too_long
