"""Reading a window by filling in a form: one field for every relation of the ontology that fits the text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from extractors.calibration import Calibration
from extractors.errors import ModelReplyError, ModelRequestRefused
from extractors.form import NONE, Field, field_of, opening
from extractors.models.chat import Message, Reply, Token
from extractors.models.forms import FilledField, FilledForm, FormModel
from extractors.prompting import IS_A
from extractors.readers.reading import Reading, Turn
from extractors.reply import ReplyTriple
from extractors.windows import WindowSize
from ontology.schema import Schema

__all__ = ["FormReader", "FormSettings", "SpokenPair", "pairs_of"]

_STAGE = "form"
_VERSION = "form-1"


@dataclass(frozen=True)
class FormSettings:
    """How forms are asked.

    A field whose answer is less probable than `least_presence` is left empty. `maximum_properties` relations
    are asked, those that fit the text best; an answer has at most `maximum_tokens` tokens. `kinds`: ask what
    kind of thing each name is as well.
    """

    window: WindowSize = field(default_factory=lambda: WindowSize(sentences=2, words=60))
    least_presence: float = 0.2
    maximum_properties: int = 20
    maximum_tokens: int = 96
    kinds: bool = True


@dataclass(frozen=True)
class SpokenPair:
    """A pair of an answer, the line it stands in, and the probability of just these words, 0 to 1."""

    subject: str
    object: str
    raw: str
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
            found[key] = SpokenPair(*key, raw.strip(), score)
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
    """Fills in the form of a window; `calibration` turns the score of an answer into a probability."""

    prompt_version = _VERSION

    def __init__(
        self, model: FormModel, settings: FormSettings, calibration: Calibration | None = None
    ) -> None:
        self._model = model
        self._settings = settings
        self._calibration = calibration

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
        head = opening(window_text)
        try:
            form = await self._model.fill(
                head,
                [field.heading for field in fields],
                least_presence=self._settings.least_presence,
                max_tokens=self._settings.maximum_tokens,
            )
        except (ModelReplyError, ModelRequestRefused) as error:
            return Reading((), (_turn(head, fields, None, str(error)),), error)
        triples = tuple(
            ReplyTriple(pair.subject, field.label, pair.object, pair.raw, self._confidence(pair.score))
            for field, filled in zip(fields, form.fields, strict=True)
            for pair in pairs_of(filled)
        )
        return Reading(triples, (_turn(head, fields, form, None),))

    def _confidence(self, score: float) -> float:
        return self._calibration.probability(score) if self._calibration else score


def _turn(head: str, fields: Sequence[Field], form: FilledForm | None, error: str | None) -> Turn:
    asked = head + "\n".join(field.heading for field in fields)
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
