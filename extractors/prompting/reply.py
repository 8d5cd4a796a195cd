"""Reads a model's reply: triples with their position and confidence, in JSON or as lines, and verdicts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

from extractors.errors import ModelReplyError
from extractors.models.chat import Reply, Token

_OPENING = re.compile(r'"triples"\s*:\s*\[\s*')
_BARE_OPENING = re.compile(r'\[\s*(?=\{\s*"(?:quote|subject)")')
_MOST_OPENINGS = 20
_MOST_BRACES = 50
_BETWEEN = re.compile(r"\s*,\s*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_KEYS = ("subject", "relation", "object")
_SURROGATE = re.compile("[\ud800-\udfff]")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class ReplyTriple:
    """A triple in the model's words, stripped; `raw` is the JSON it was read from.

    `quote` is the run of the text that the model says it rests on, empty where it gave none. `confidence` is
    the geometric mean of the probabilities of the tokens that carry subject, relation and object, or None
    when the server gave none.
    """

    subject: str
    relation: str
    object: str
    raw: str
    confidence: float | None
    quote: str = ""


@dataclass(frozen=True)
class ParsedReply:
    """The triples of a reply in order; `truncated` when it was cut off and these came before the cut."""

    triples: tuple[ReplyTriple, ...]
    truncated: bool


def parse(reply: Reply) -> ParsedReply:
    """Read `{"triples": [{"subject", "relation", "object"}, ...]}` out of a reply.

    The object may be surrounded by prose or a code fence if the server ignores the schema; of several the
    last counts. A bare array of triples is read too. Of a reply that ran into its token limit the complete
    triples are kept. Anything else raises `ModelReplyError`. Triples with an empty end are dropped.
    """
    truncated = reply.finish_reason == "length"
    raw_triples = _whole_triples(reply.text)
    if raw_triples is not None:
        truncated = False
    elif truncated:
        raw_triples = _cut_triples(reply.text)
    if raw_triples is None:
        raise ModelReplyError(_complaint(reply), reply.text)
    spans = _token_spans(reply.text, reply.tokens)
    triples = [_triple(reply, spans, start, value) for start, value in raw_triples]
    return ParsedReply(tuple(t for t in triples if t.subject and t.relation and t.object), truncated)


_Placed = list[tuple[tuple[int, int], Any]]
"""The members of an array, each with its span in the text."""


def _whole_triples(text: str) -> _Placed | None:
    """Return the members of the last whole array of triples, or None."""
    for opening in reversed(list(_OPENING.finditer(text))[-_MOST_OPENINGS:]):
        if _closes(text, opening.start()):
            return _members(text, opening.end())
    for opening in reversed(list(_BARE_OPENING.finditer(text))[-_MOST_OPENINGS:]):
        if isinstance(_decoded(text, opening.start()), list):
            return _members(text, opening.end())
    return None


def _cut_triples(text: str) -> _Placed | None:
    """Return the complete members of the last, possibly cut-off, array of triples, or None."""
    openings = list(_OPENING.finditer(text)) or list(_BARE_OPENING.finditer(text))
    return _members(text, openings[-1].end()) if openings else None


def _closes(text: str, key: int) -> bool:
    """Whether the object around a key is whole JSON, with an array under the key."""
    brace = text.rfind("{", 0, key)
    for _ in range(_MOST_BRACES):
        if brace < 0:
            return False
        value = _decoded(text, brace)
        if isinstance(value, dict):
            return isinstance(value.get("triples"), list)
        brace = text.rfind("{", 0, brace)
    return False


def _decoded(text: str, position: int) -> Any:
    try:
        return _DECODER.raw_decode(text, position)[0]
    except (ValueError, RecursionError):
        return None


def _members(text: str, position: int) -> _Placed:
    """Decode an array's members one by one, as far as they go."""
    found: _Placed = []
    while True:
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return found
        found.append(((position, end), value))
        separator = _BETWEEN.match(text, end)
        if separator is None:
            return found
        position = separator.end()


def _complaint(reply: Reply) -> str:
    start = reply.text[:80].replace("\n", " ")
    if reply.finish_reason == "length":
        return (
            f"The model's reply was cut off after {reply.completion_tokens} tokens, before its first triple "
            f"({start!r}): raise max_tokens, or make the windows smaller."
        )
    return (
        f"The model's reply is not the requested JSON ({start!r}): check that the server honors "
        "JSON schemas and that the adapter belongs to the model."
    )


def _triple(
    reply: Reply, spans: Sequence[tuple[int, int]], place: tuple[int, int], value: Any
) -> ReplyTriple:
    raw = reply.text[place[0] : place[1]]
    words = [value.get(key) if isinstance(value, dict) else None for key in _KEYS]
    if not all(isinstance(word, str | int | float) for word in words):
        raise ModelReplyError(
            f"The model's reply holds {raw[:80]!r} where a triple of subject, relation and object as text "
            "was asked for: check that the server honors JSON schemas.",
            reply.text,
        )
    subject, relation, object_ = (_SURROGATE.sub("\ufffd", " ".join(str(word).split())) for word in words)
    quote = value.get("quote")
    return ReplyTriple(
        subject,
        relation,
        object_,
        raw,
        _confidence(reply.tokens, spans, place[0], raw),
        _SURROGATE.sub("\ufffd", " ".join(quote.split())) if isinstance(quote, str) else "",
    )


def _confidence(
    tokens: Sequence[Token], spans: Sequence[tuple[int, int]], offset: int, raw: str
) -> float | None:
    strings = list(_STRING.finditer(raw))
    values = [
        (offset + value.start() + 1, offset + value.end() - 1)
        for key, value in pairwise(strings)
        if key.group()[1:-1] in _KEYS and raw[key.end() : value.start()].strip() == ":"
    ]
    carrying = [
        token.logprob
        for token, (start, end) in zip(tokens, spans, strict=True)
        if any(start < stop and end > begin for begin, stop in values)
    ]
    if not carrying:
        return None
    mean = math.fsum(carrying) / len(carrying)
    return min(1.0, math.exp(mean)) if mean == mean else None


def _token_spans(text: str, tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Place each token in the text; one that is not found (half a character, say) gets an empty span."""
    spans: list[tuple[int, int]] = []
    position = 0
    for token in tokens:
        found = text.find(token.text, position, position + len(token.text) + 8) if token.text else -1
        if found < 0:
            spans.append((position, position))
        else:
            position = found + len(token.text)
            spans.append((found, position))
    return spans


def triple_finder(reply: Reply) -> Callable[[Any], ReplyTriple | None]:
    """Find the triples of a JSON reply that stand anywhere in it, by their decoded JSON.

    What is found has the confidence of its place; None for JSON that is no triple, or one with an empty end.
    """
    spans = _token_spans(reply.text, reply.tokens)
    places: dict[str, tuple[int, int]] = {}
    for brace in re.finditer(r"\{", reply.text):
        try:
            value, end = _DECODER.raw_decode(reply.text, brace.start())
        except (ValueError, RecursionError):
            continue
        if _KEYS[0] in value:
            places.setdefault(json.dumps(value, sort_keys=True), (brace.start(), end))

    def find(value: Any) -> ReplyTriple | None:
        place = places.get(json.dumps(value, sort_keys=True))
        try:
            triple = None if place is None else _triple(reply, spans, place, value)
        except ModelReplyError:
            return None
        return triple if triple and triple.subject and triple.relation and triple.object else None

    return find


def plain(triple: ReplyTriple) -> tuple[str, str, str]:
    """The words of a triple as triples are compared: without case and spacing."""
    subject, relation, object_ = (
        " ".join(words.casefold().split()) for words in (triple.subject, triple.relation, triple.object)
    )
    return subject, relation, object_


def probability(reply: Reply, start: int, end: int, *, mean: bool = False) -> float | None:
    """The probability of the words of a reply between two places; None where the server gave none.

    With `mean` it is the geometric mean of the probabilities of their tokens.
    """
    spans = _token_spans(reply.text, reply.tokens)
    carrying = [
        token.logprob
        for token, (first, last) in zip(reply.tokens, spans, strict=True)
        if first < end and last > start
    ]
    if not carrying:
        return None
    total = math.fsum(carrying)
    return min(1.0, math.exp(total / len(carrying) if mean else total))


_TRIPLES: Final = re.compile(r"^\W*TRIPLES\W*$", re.MULTILINE | re.IGNORECASE)
_TRIPLE: Final = re.compile(
    r"^[\s\-*\d.\[(]*(?P<subject>[^|\n]+?)\s*\|\s*(?P<relation>[^|\n]+?)\s*\|\s*(?P<object>[^|\n]+?)[\s\])]*$",
    re.MULTILINE,
)
_RELATED: Final = re.compile(
    r'"(?P<quote>[^"\n]+)"\s*\|\s*(?P<one>[^|\n]+?)\s*\|\s*(?P<other>[^|\n]+?)\s*$', re.MULTILINE
)
_REASONED: Final = re.compile(
    r'"([^"\n]+)"\s*(?:->|→)\s*([^;\n]+?)\s*;\s*([^;\n]+?)\s*;\s*([^\n]+?)\s*$', re.MULTILINE
)


def parse_headed(reply: Reply) -> ParsedReply:
    """Read the lines under TRIPLES, `[subject | relation | object]`, of a chain of thought.

    Their quotes are those under RELATIONS about the same two. Of a reply that was cut off, the last line is
    left out. Raises `ModelReplyError` for a reply without that heading.
    """
    headings = list(_TRIPLES.finditer(reply.text))
    truncated = reply.finish_reason == "length"
    if not headings:
        raise ModelReplyError(
            "The model's reply has no heading TRIPLES: ask a larger model, or take a method without chain of "
            "thought.",
            reply.text,
        )
    end = max(headings[-1].end(), reply.text.rfind("\n")) if truncated else len(reply.text)
    quotes = {
        frozenset((_folded(line["one"]), _folded(line["other"]))): line["quote"]
        for line in _RELATED.finditer(reply.text[: headings[-1].start()])
    }
    triples = []
    for line in _TRIPLE.finditer(reply.text, headings[-1].end(), end):
        words = line.groupdict()
        quote = quotes.get(frozenset((_folded(words["subject"]), _folded(words["object"]))), "")
        raw = json.dumps({"quote": quote, **words}, ensure_ascii=False)
        sure = probability(reply, line.start("subject"), line.end("object"), mean=True)
        triples.append(ReplyTriple(**words, raw=raw, confidence=sure, quote=quote))
    return ParsedReply(tuple(triples), truncated)


def numbered_line(number: int, triple: ReplyTriple) -> str:
    """A triple as verifiers see it, in the form of a line of reasoning."""
    quote = f'"{triple.quote}" -> ' if triple.quote else ""
    return f"{number}. {quote}{triple.subject}; {triple.relation}; {triple.object}"


def evidenced(triples: Iterable[ReplyTriple], lines: str, text: str) -> tuple[ReplyTriple, ...]:
    """The triples, with the quote of the line of reasoning for each whose own is not in the text."""
    said = {tuple(map(_folded, words)): quote for quote, *words in _REASONED.findall(lines)}
    return tuple(
        replace(triple, quote=said[plain(triple)])
        if plain(triple) in said and (not triple.quote or _folded(triple.quote) not in _folded(text))
        else triple
        for triple in triples
    )


def _folded(words: str) -> str:
    return " ".join(words.casefold().split())


_VERDICT: Final = "this is a faithful trajectory"
_SENTENCES = re.compile(r"[.!?\n]+")


def is_faithful(words: str) -> bool:
    """Whether a verifier's reply ends with the faithful verdict, said as such.

    "Yes", praise, and the verdict in the middle of a reply, in a condition or in its denial, do not count;
    nor does the verdict after WRONG as the first word.
    """
    sentences = [part.strip(" \t\"'*_`“”()") for part in _SENTENCES.split(words)]
    said = [part.casefold() for part in sentences if part]
    return bool(said) and said[-1] == _VERDICT and said[0].split()[0] != "wrong"
