"""Reading a window by filling in a form: one field for every relation of the ontology that fits the text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from extractors.errors import ModelReplyError, ModelRequestRefused
from extractors.models.chat import ChatModel, Message, Reply, Token
from extractors.models.forms import BlankField, BlankForm, FilledField, FilledForm, FormModel, fill_with
from extractors.prompting.answer_grammar import answer_grammar
from extractors.prompting.form import NONE, VERSION, Field, field_of, opening
from extractors.prompting.prompt import IS_A
from extractors.prompting.reply import ReplyTriple
from extractors.readers.reading import Reading, Turn
from extractors.settings import FormSettings
from extractors.text.chunking import ChunkSize
from ontology.schema import Schema

__all__ = ["FormReader", "SpokenPair", "pairs_of", "shown_form"]

_STAGE = "form"


@dataclass(frozen=True)
class SpokenPair:
    """A pair of an answer, and the probability of just these words, 0 to 1."""

    subject: str
    object: str
    score: float


def pairs_of(filled: FilledField) -> tuple[SpokenPair, ...]:
    """Read the pairs of an answer; a line that is no pair is passed over, and so is one said twice."""
    found: dict[tuple[str, str], SpokenPair] = {}
    for line in _lines(filled.tokens):
        raw = "".join(token.text for token in line)
        subject, bar, value = raw.partition("|")
        key = (" ".join(subject.split()), " ".join(value.split()))
        if bar and all(key) and key not in found:
            score = math.exp(min(0.0, math.fsum(token.logprob for token in line)))
            found[key] = SpokenPair(*key, score)
    return tuple(found.values())


def _lines(tokens: Sequence[Token]) -> Iterable[list[Token]]:
    line: list[Token] = []
    for token in tokens:
        line.append(token)
        if "\n" in token.text:
            yield line
            line = []
    if line:
        yield line


class FormReader:
    """Fills in the form of a window."""

    prompt_version = VERSION

    def __init__(self, model: ChatModel | FormModel, settings: FormSettings) -> None:
        self._model = model
        self._settings = settings

    @property
    def chunk_size(self) -> ChunkSize:
        """As long as the texts of the training."""
        return self._settings.chunk_size

    async def read(self, window_text: str, schema: Schema) -> Reading:
        """Ask what kind of thing each name is, and every relation that fits."""
        fields = _fields(schema, window_text, self._settings)
        text = window_text if self._settings.parts.copied else ""
        copied, classified = answer_grammar(text), answer_grammar(text, free_value=True)
        blank = BlankForm(
            opening(window_text),
            tuple(
                BlankField(f.heading, classified, free_value=True)
                if f.label == IS_A
                else BlankField(f.heading, copied)
                for f in fields
            ),
            self._settings.least_presence,
            self._settings.maximum_tokens,
        )
        try:
            form = await fill_with(self._model, blank)
        except (ModelReplyError, ModelRequestRefused) as error:
            return Reading((), (_turn(blank, None, str(error)),), error)
        triples = tuple(
            _triple(field, pair)
            for field, filled in zip(fields, form.fields, strict=True)
            for pair in pairs_of(filled)
            if pair.score >= self._settings.least_score
        )
        return Reading(triples, (_turn(blank, form, None),))


def shown_form(schema: Schema, text: str, settings: FormSettings) -> str:
    """The form of a text as a model gets it, with every answer left blank."""
    fields = _fields(schema, text, settings)
    return opening(text) + "\n".join(field.heading for field in fields) + "\n"


def _fields(schema: Schema, text: str, settings: FormSettings) -> list[Field]:
    """What kind of thing each name is, and every relation that fits."""
    most = len(schema.properties) if settings.parts.whole else settings.maximum_properties
    terms = schema.snippet(text, 1, most).properties
    fields = [field_of(schema, term) for term in terms if term.label and term.label != IS_A]
    if not settings.parts.sides:
        fields = [Field(field.label) for field in fields]
    if settings.kinds:
        fields.insert(0, Field(IS_A))
    return list({field.label: field for field in fields}.values())


def _triple(field: Field, pair: SpokenPair) -> ReplyTriple:
    said = {"subject": pair.subject, "relation": field.label, "object": pair.object}
    raw = json.dumps(said, ensure_ascii=False)
    return ReplyTriple(pair.subject, field.label, pair.object, raw, pair.score)


def _turn(blank: BlankForm, form: FilledForm | None, error: str | None) -> Turn:
    asked = blank.opening + "\n".join(field.heading for field in blank.fields)
    reply = None
    if form is not None:
        lines = [f"{filled.heading}{filled.text or NONE} [{filled.presence:.3f}]" for filled in form.fields]
        reply = Reply(
            "\n".join(lines),
            "stop",
            form.prompt_tokens,
            form.completion_tokens,
            form.seconds,
            form.model,
            form.adapter,
        )
    return Turn(_STAGE, VERSION, (Message("user", asked),), reply, error)
