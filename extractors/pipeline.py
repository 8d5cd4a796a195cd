"""The pipeline from a text to candidate statements: windows, questions to the model, replies, statements."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyoxigraph import NamedNode

from extractors.candidates import Candidate, Entity, Extraction, WindowTrace
from extractors.cleaning import MAXIMUM_CHARACTERS, check_text, readable
from extractors.errors import ModelError, ModelReplyError, ModelTimeout, ModelUnavailable
from extractors.grounding import GroundedText
from extractors.linking import Labels, Linker
from extractors.minting import Minter
from extractors.models.chat import ChatModel, PromptProfile, Reply
from extractors.prompting import ExtractionPrompt, extraction_prompt, load_prompt, prompt_name
from extractors.reply import ParsedReply, parse
from extractors.statements import Said, StatementBuilder
from extractors.windows import Span, Window, WindowSize, windows
from ontology.schema import Schema

__all__ = ["ExtractionSettings", "Pipeline", "ProfileSettings"]


@dataclass(frozen=True)
class ProfileSettings:
    """How a kind of model is asked: how much text and ontology at once, and how long it may answer."""

    window: WindowSize
    maximum_tokens: int
    maximum_classes: int = 20
    maximum_properties: int = 20


def _profiles() -> Mapping[PromptProfile, ProfileSettings]:
    """The compact windows are as long as the texts of the training; the full ones hold some sixteen facts."""
    return {
        "compact": ProfileSettings(WindowSize(sentences=2, words=60), maximum_tokens=640),
        "full": ProfileSettings(WindowSize(sentences=6, words=150), maximum_tokens=2048),
    }


@dataclass(frozen=True)
class ExtractionSettings:
    """What can be set about extraction.

    `base` is the IRI under which entities are minted. `languages` are the ISO 639-1 codes that texts may be
    in (empty: any); the first one tags the labels of new entities. `prompts` is a folder whose templates
    replace ours. A broken reply is asked for once more at `retry_temperature`.
    """

    base: str = "https://w3id.org/urbankg/id/"
    languages: tuple[str, ...] = ("en",)
    maximum_characters: int = MAXIMUM_CHARACTERS
    minimum_confidence: float = 0.0
    concurrency: int = 4
    retry_temperature: float = 0.3
    prompts: Path | None = None
    profiles: Mapping[PromptProfile, ProfileSettings] = field(default_factory=_profiles)


@dataclass(frozen=True)
class _Question:
    window: Window
    prompt: ExtractionPrompt


@dataclass(frozen=True)
class _Answer:
    """What one window yielded; `failure` is set when nothing of the last reply could be used."""

    said: tuple[Said, ...]
    traces: tuple[WindowTrace, ...]
    failure: ModelError | None


def _none_exists(_: NamedNode) -> bool:
    return False


class Pipeline:
    """Extracts candidate statements from texts; stateless between texts, so texts may run side by side.

    `schema` is a schema or gives the one in force, since the ontology can be switched while the server
    runs: each text is worked on with one schema from end to end. `exists` tells whether an IRI is already in
    use, and is called from a worker thread, as `labels` are.
    """

    def __init__(
        self,
        *,
        schema: Schema | Callable[[], Schema],
        labels: Labels,
        model: ChatModel,
        settings: ExtractionSettings | None = None,
        exists: Callable[[NamedNode], bool] = _none_exists,
        linker: Callable[[Labels, Schema], Linker] = Linker,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model = model
        self.settings = settings or ExtractionSettings()
        self._schema = schema
        self._labels = labels
        self._exists = exists
        self._linker = linker
        self._clock = clock

    @property
    def schema(self) -> Schema:
        """The schema that the next text is extracted with."""
        return self._schema if isinstance(self._schema, Schema) else self._schema()

    async def extract(self, text: str) -> Extraction:
        """Extract the statements of a text; they are candidates, and their problems stand beside them.

        Raises `TextError` when the text cannot be worked on, `ModelUnavailable` or `ModelTimeout` as soon as
        the model fails so, and another `ModelError` when not one window could be read.
        """
        started = self._clock()
        schema = self.schema
        questions, version = await asyncio.to_thread(self._questions, text, schema)
        answers = await self._ask_all(questions)
        failures = [answer.failure for answer in answers if answer.failure is not None]
        if failures and len(failures) == len(answers):
            raise failures[-1]
        said = [one for answer in answers for one in answer.said]
        candidates, entities = await asyncio.to_thread(self._state, text, schema, said)
        traces = tuple(trace for answer in answers for trace in answer.traces)
        replies = [trace.reply for trace in traces if trace.reply is not None]
        return Extraction(
            candidates,
            entities,
            traces,
            model=replies[-1].model if replies else self.model.name,
            adapter=replies[-1].adapter if replies else None,
            prompt_version=version,
            seconds=self._clock() - started,
        )

    def _questions(self, text: str, schema: Schema) -> tuple[list[_Question], str]:
        settings = self.settings
        check_text(text, maximum_characters=settings.maximum_characters, languages=settings.languages)
        profile = settings.profiles[self.model.prompt_profile]
        prompt = load_prompt(prompt_name(self.model.prompt_profile), settings.prompts)
        shown = readable(text)
        questions = [
            _Question(
                window,
                extraction_prompt(
                    prompt,
                    schema,
                    _shown(shown, window),
                    maximum_classes=profile.maximum_classes,
                    maximum_properties=profile.maximum_properties,
                ),
            )
            for window in windows(shown, profile.window)
        ]
        return questions, prompt.version

    async def _ask_all(self, questions: Sequence[_Question]) -> list[_Answer]:
        """Ask in order, several at a time; the first model that is down or slow ends it for all."""
        answers: dict[int, _Answer] = {}
        waiting = iter(enumerate(questions))

        async def work() -> None:
            for number, question in waiting:
                answers[number] = await self._ask(question)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.settings.concurrency, len(questions))):
                    group.create_task(work())
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return [answers[number] for number in sorted(answers)]

    async def _ask(self, question: _Question) -> _Answer:
        """Ask about one window, once more when the reply is broken; keep what a cut-off reply still says."""
        traces: list[WindowTrace] = []
        failure: ModelError | None = None
        for temperature in (0.0, self.settings.retry_temperature):
            reply: Reply | None = None
            try:
                reply, refusal = await self._complete(question.prompt, temperature)
                parsed = parse(reply)
                if parsed.truncated and not parsed.triples:
                    raise ModelReplyError(_cut_off(parsed), reply.text)
            except (ModelUnavailable, ModelTimeout):
                raise
            except ModelError as error:
                failure = error
                traces.append(self._trace(question, reply, str(error)))
                if not isinstance(error, ModelReplyError):
                    break
                continue
            flaw = refusal or (_cut_off(parsed) if parsed.truncated else None)
            traces.append(self._trace(question, reply, flaw))
            span = Span(question.window.start, question.window.end)
            said = tuple(Said(triple, span) for triple in parsed.triples)
            return _Answer(said, tuple(traces), None)
        return _Answer((), tuple(traces), failure)

    async def _complete(self, prompt: ExtractionPrompt, temperature: float) -> tuple[Reply, str | None]:
        """Get a reply; one that the adapter refused, but that holds whole triples, comes with the reason."""
        maximum_tokens = self.settings.profiles[self.model.prompt_profile].maximum_tokens
        try:
            reply = await self.model.complete(
                prompt.messages, schema=prompt.schema, max_tokens=maximum_tokens, temperature=temperature
            )
        except ModelReplyError as error:
            refused = Reply(error.reply, "length", 0, 0, 0.0, self.model.name, None)
            try:
                usable = bool(parse(refused).triples)
            except ModelReplyError:
                usable = False
            if not usable:
                raise
            return refused, str(error)
        return reply, None

    def _trace(self, question: _Question, reply: Reply | None, error: str | None) -> WindowTrace:
        window = question.window
        return WindowTrace(window.start, window.end, question.prompt.messages, reply, error)

    def _state(
        self, text: str, schema: Schema, said: Sequence[Said]
    ) -> tuple[tuple[Candidate, ...], tuple[Entity, ...]]:
        settings = self.settings
        builder = StatementBuilder(
            GroundedText(text),
            schema,
            self._linker(self._labels, schema),
            Minter(settings.base, self._exists),
            language=settings.languages[0] if settings.languages else "",
            minimum_confidence=settings.minimum_confidence,
        )
        return builder.build(said)


def _shown(text: str, window: Window) -> str:
    lead = f"{text[window.lead.start : window.lead.end]} " if window.lead else ""
    return lead + text[window.start : window.end]


def _cut_off(parsed: ParsedReply) -> str:
    return (
        f"The model's reply was cut off; {len(parsed.triples)} complete triples were read from it: raise "
        "maximum_tokens, or make the windows smaller."
    )
