"""Reading a window by filling in a form: one field for every relation of the ontology that fits the text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from extractors.copying import answer_grammar
from extractors.errors import ModelReplyError, ModelRequestRefused
from extractors.form import NONE, Field, field_of, opening
from extractors.models.chat import ChatModel, Message, Reply, Token
from extractors.models.forms import BlankField, BlankForm, FilledField, FilledForm, FormModel, fill_with
from extractors.prompting import IS_A
from extractors.readers.reading import Reading, Turn
from extractors.reply import ReplyTriple
from extractors.settings import FormSettings
from extractors.windows import WindowSize
from ontology.schema import Schema

__all__ = ["FormReader", "SpokenPair", "pairs_of"]

_STAGE = "form"
_VERSION = "form-1"


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

    prompt_version = _VERSION

    def __init__(self, model: ChatModel | FormModel, settings: FormSettings) -> None:
        self._model = model
        self._settings = settings

    @property
    def window(self) -> WindowSize:
        """As long as the texts of the training."""
        return self._settings.window

    async def read(self, window_text: str, schema: Schema) -> Reading:
        """Ask what kind of thing each name is, and every relation that fits."""
        snippet = schema.snippet(window_text, 1, self._settings.maximum_properties)
        fields = [field_of(schema, term) for term in snippet.properties if term.label and term.label != IS_A]
        if self._settings.kinds:
            fields.insert(0, Field(IS_A))
        fields = list({field.label: field for field in fields}.values())
        copied, classified = answer_grammar(window_text), answer_grammar(window_text, free_value=True)
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
    return Turn(_STAGE, _VERSION, (Message("user", asked),), reply, error)
