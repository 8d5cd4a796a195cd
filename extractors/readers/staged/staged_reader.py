"""Reading a window as a method says: one pass or several views, their union, then refinement."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from extractors.errors import ModelRequestRefused
from extractors.models.chat import ChatModel
from extractors.prompting.methods import Method, View
from extractors.prompting.reply import ReplyTriple
from extractors.prompting.templates import Prompt, load_prompt
from extractors.readers.asking import Asking
from extractors.readers.examples import load_examples
from extractors.readers.reading import Reading, Turn
from extractors.readers.staged.conformance import kinds_stated, misfits
from extractors.readers.staged.knowledge import KnownTerms, Ontologist
from extractors.readers.staged.refinement import Refinement
from extractors.readers.staged.steps import Dialog, Step
from extractors.settings import ExtractionSettings
from extractors.text.chunking import ChunkSize
from ontology.schema import Schema

__all__ = ["StagedReader", "merged", "union"]

_FEWEST_RELATIONS: Final = 4


class StagedReader:
    """Reads with any chat model by any method; the model's profile says how much it is shown at once."""

    def __init__(self, model: ChatModel, method: Method, settings: ExtractionSettings) -> None:
        """Read the prompts; raises `PromptError`."""
        self._method = method
        self._profile = settings.profiles[model.prompt_profile]
        self._asking = Asking(
            model,
            maximum_tokens=self._profile.maximum_tokens,
            retry_temperature=settings.retry_temperature,
        )
        self._used: dict[str, Prompt] = {}
        self._most: int | None = None
        self._prompts = settings.prompts
        self._ontologist = Ontologist(method, self._profile, settings.prompts)
        self._used[self._ontologist.prompt.name] = self._ontologist.prompt
        self._views = {view: self._prompt(f"view-{view}").text({}) for view in method.views}
        self._dialog = Dialog(self._prompt("rules"), self._steps(), self._prompt("block"), method.format)
        self._refinement = Refinement(
            method.refinement,
            self._prompt("rules"),
            self._prompt("verify"),
            self._prompt("update"),
            self._prompt("block"),
            method.format,
        )
        examples, version = load_examples(settings.prompts)
        self._examples = examples[: method.shots]
        parts = [repr(method), *(prompt.version for prompt in self._used.values()), version]
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
        so on; later windows begin with as much as fitted.
        """
        terms = self._ontologist.terms(schema, window_text, self._most)
        turns: tuple[Turn, ...] = ()
        while True:
            reading = await self._read(window_text, schema, terms)
            turns += reading.turns
            if not _too_long(reading) or terms.relations <= _FEWEST_RELATIONS:
                return replace(reading, turns=turns)
            self._most = terms.relations // 2
            terms = self._ontologist.terms(schema, window_text, self._most)

    async def _read(self, window_text: str, schema: Schema, terms: KnownTerms) -> Reading:
        values = {"text": window_text, "knowledge": terms.words}
        passes: list[Reading] = []
        entities: list[str] = []
        for view in self._method.views or (None,):
            reading, said = await self._pass(view, values, terms)
            passes.append(reading)
            entities.append(said.get("entities", ""))
        read = union(passes)
        if read.failure is not None or not self._method.refinement:
            return read
        kinds = kinds_stated(read.triples, "\n".join(entities))
        findings = () if self._method.ontology == "none" else tuple(misfits(read.triples, schema, kinds))
        refined = await self._refinement.refine(self._asking, read, values, terms.reply_schema, findings)
        return Reading(merged(refined.triples), refined.turns, refined.failure)

    async def _pass(
        self, view: View | None, values: Mapping[str, str], terms: KnownTerms
    ) -> tuple[Reading, Mapping[str, str]]:
        kinds = self._method.kinds
        examples = [
            (
                {
                    "text": example.text,
                    "knowledge": self._ontologist.worded(
                        list(example.classes), example.definitions(kinds=kinds)
                    ),
                },
                example.answers(kinds=kinds),
            )
            for example in self._examples
        ]
        seen = {**values, "view": self._views[view]} if view else values
        return await self._dialog.read(self._asking, seen, examples, terms.reply_schema, terms.note)

    def _steps(self) -> Sequence[Step]:
        method = self._method
        if method.views:
            reasoning = [Step("reasoning", self._prompt("view-reasoning"))] if method.chain_of_thought else []
            types = Step("types", self._prompt("view-types"))
            return [types, *reasoning, Step("triples", self._prompt("view-triples"))]
        if method.chain_of_thought:
            last = "cot-triples" if method.ontology == "none" else "cot-mapping"
            return [
                Step("entities", self._prompt("cot-entities")),
                Step("relations", self._prompt("cot-relations")),
                Step("triples", self._prompt(last)),
            ]
        return [Step("triples", self._prompt("question"))]

    def _prompt(self, name: str) -> Prompt:
        self._used.setdefault(name, load_prompt(name, self._prompts))
        return self._used[name]


def _too_long(reading: Reading) -> bool:
    return isinstance(reading.failure, ModelRequestRefused) and reading.failure.too_long


def union(passes: Sequence[Reading]) -> Reading:
    """All readings together; a failure only where all failed."""
    turns = tuple(turn for reading in passes for turn in reading.turns)
    failures = [reading.failure for reading in passes if reading.failure is not None]
    if len(failures) == len(passes):
        return Reading((), turns, failures[-1])
    return Reading(merged(triple for reading in passes for triple in reading.triples), turns)


def merged(triples: Iterable[ReplyTriple]) -> tuple[ReplyTriple, ...]:
    """The triples without those said before in the same words; of the same, the surest stays."""
    found: dict[tuple[str, ...], ReplyTriple] = {}
    for triple in triples:
        words = (triple.subject, triple.relation, triple.object)
        key = tuple(" ".join(one.casefold().split()) for one in words)
        if key not in found or (found[key].confidence or 0.0) < (triple.confidence or 0.0):
            found[key] = triple
    return tuple(found.values())
