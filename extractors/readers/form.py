"""Reading a window by filling in a form: a text, and under it one field for each relation.

Every field is a question of its own about the same text, `relation (domain > range):`, and is answered by
`none` or by lines of `subject | object`. The fields do not see each other, so what is said about one relation
depends neither on the number of other fields nor on their order, and the probability of `none` says how sure
the model is. The same words are used in training and in extraction: this module is the only place of them.

A grammar in GBNF, the language of llama.cpp, lets the model write only runs of the text's words. A small
model otherwise misspells the names that it copies and makes up years.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pyoxigraph import NamedNode

from extractors.errors import ModelReplyError, ModelRequestRefused
from extractors.models.chat import (
    NONE,
    BlankField,
    BlankForm,
    ChatModel,
    FilledField,
    FilledForm,
    FormModel,
    Message,
    Reply,
    Token,
    fill_with,
)
from extractors.prompting.prompt import IS_A
from extractors.prompting.reply import ReplyTriple
from extractors.readers.reading import Reading, Turn
from extractors.settings import FormSettings
from extractors.text.chunking import ChunkSize
from extractors.text.cleaning import LETTER
from ontology.labels import readable
from ontology.schema import Schema
from ontology.terms import OntologyProperty, PropertyKind
from ontology.vocabulary import XSD

_UNIT: Final = re.compile(rf"{LETTER}+|[^\w\s]")
_STARTS: Final = re.compile(r"""[\w"'“‘(\[#$€£¥@&+-]""")
_FREE: Final = "[^|\\n]+"
_BAR: Final = "|"


def answer_grammar(text: str, *, free_value: bool = False) -> str:
    """The grammar of an answer about `text`: lines of `subject | object`, after a space.

    Both are runs of the text's words, broken only where words end, and without the bar that divides them;
    with `free_value` the object is not. For a text without words all words are free.
    """
    line = " ".join(text.split())
    units = list(_UNIT.finditer(line))
    starts = [number for number, unit in enumerate(units) if _STARTS.match(unit.group())]
    if not starts:
        return f'root ::= " " pair ("\\n" pair)*\npair ::= {_FREE} " | " {_FREE}\n'
    rules = [
        'root ::= " " pair ("\\n" pair)*',
        f'pair ::= run " | " {_FREE if free_value else "run"}',
        "run ::= " + " | ".join(f"u{number}" for number in starts),
    ]
    for number, unit in enumerate(units):
        if unit.group() == _BAR:
            continue
        rest = ""
        if number + 1 < len(units) and units[number + 1].group() != _BAR:
            gap = line[unit.end() : units[number + 1].start()]
            rest = f" ({_literal(gap)} u{number + 1})?" if gap else f" u{number + 1}?"
        rules.append(f"u{number} ::= {_literal(unit.group())}{rest}")
    return "\n".join(rules) + "\n"


def _literal(words: str) -> str:
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'


VERSION = "form-1"
"""Of these words; they are part of what a model was trained on, so no file of the user's replaces them."""

Pair = tuple[str, str]


@dataclass(frozen=True)
class Field:
    """A relation as the form shows it; `domain` and `range` are class labels, empty where nothing is said."""

    label: str
    domain: str = ""
    range: str = ""

    @property
    def heading(self) -> str:
        """The words before the answer; they end with a colon, and the answer begins with a space.

        Names in camel case are parted into words, since the models were trained on words.
        """
        label, domain, range_ = readable(self.label), readable(self.domain), readable(self.range)
        if not domain and not range_:
            return f"{label}:"
        sides = f"{domain} > {range_}" if range_ else domain
        return f"{label} ({sides.strip()}):"


def opening(text: str) -> str:
    """Give the part of the form that all fields share."""
    return f"Text: {' '.join(text.split())}\n"


def answer(pairs: Iterable[Pair]) -> str:
    """Write the answer of a field; without pairs it is `none`."""
    lines = [f"{subject} | {value}" for subject, value in pairs]
    return " " + "\n".join(lines) if lines else NONE


def read_answer(words: str) -> tuple[Pair, ...]:
    """Read the pairs of an answer; a line that is no pair is passed over."""
    found: list[Pair] = []
    for line in words.splitlines():
        subject, bar, value = line.partition("|")
        pair = (subject.strip(), value.strip())
        if bar and all(pair) and pair not in found:
            found.append(pair)
    return tuple(found)


_NUMBERS = frozenset({"integer", "decimal", "double", "float", "nonNegativeInteger", "positiveInteger"})
_MOST_CLASSES = 2


def field_of(schema: Schema, term: OntologyProperty) -> Field:
    """Show a property with its domain and range; of many alternatives none is shown."""
    domain, classes = _classes(schema, term.domains), _classes(schema, term.ranges)
    if classes or term.kind is PropertyKind.OBJECT:
        return Field(term.label, domain, classes)
    kinds = {iri.value.removeprefix(XSD) for iri in term.ranges}
    if any(kind.startswith(("date", "gYear")) for kind in kinds):
        return Field(term.label, domain, "date")
    return Field(term.label, domain, "number" if kinds & _NUMBERS else "")


def _classes(schema: Schema, classes: Iterable[NamedNode]) -> str:
    labels = sorted(schema.classes[iri].label for iri in classes if iri in schema.classes)
    return " or ".join(labels) if len(labels) <= _MOST_CLASSES else ""


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
