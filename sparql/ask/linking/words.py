"""The words of a question, the forms under which they are compared, and the form of the question.

"Could you tell me which ...", "..., right?" and "..., and which ones?" say what kind of answer is wanted. A
question whose asking word comes late ("The museum is in which borough?") means the same with it first.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from extractors.english.quantities import unit_of
from ontology.labels import singular

_TOKEN = re.compile(
    r"\d+(?:,\d+)*(?:\.\d+)?(?=(?:km2?|mi|m|ft)\b|\W|$)|[^\W_]+(?:-(?=\w*\d)\w+)*|[$€£°%,]", re.UNICODE
)
_POSSESSIVE = re.compile(r"['’]s?(?=\W|$)")
_VOWELS: Final = frozenset("aeiouy")


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the question: its text in lower case, as written, and its span in code points."""

    text: str
    raw: str
    start: int
    end: int

    @property
    def capital(self) -> bool:
        return self.raw[:1].isupper() or self.raw[:1].isdigit()


def tokens_of(question: str) -> list[Token]:
    """Return the words of a question; "isn't" is "is" and "not", a possessive "'s" is dropped."""
    return list(_tokens(question))


def _tokens(question: str) -> Iterator[Token]:
    position = 0
    while match := _TOKEN.search(question, position):
        raw, end = match[0], match.end()
        rest = question[end:]
        if rest[:2] in ("'t", "’t") and raw.lower().endswith("n") and raw.lower() not in ("can",):
            yield Token(raw[:-1].lower(), raw[:-1], match.start(), end - 1)
            yield Token("not", rest[:2], end - 1, end + 2)
            position = end + 2
            continue
        # "US" in capitals is not "us".
        shouted = raw.isupper() and len(raw) > 1 and not question.isupper()
        yield Token(raw if shouted else raw.lower(), raw, match.start(), end)
        possessive = _POSSESSIVE.match(rest)
        position = end + (possessive.end() if possessive else 0)


@cache
def english() -> Mapping[str, Any]:
    """Return the function words of English (`english.toml`)."""
    return tomllib.loads((Path(__file__).parent / "english.toml").read_text(encoding="utf-8"))


def idle_words(extra: Path | None = None) -> frozenset[str]:
    """Return the words that a plan need not use; a file adds some, one a line, "#" begins a comment."""
    words = frozenset(english()["idle"].split()) | {","}
    if extra is None or not extra.is_file():
        return words
    lines = (
        line.partition("#")[0].strip().lower() for line in extra.read_text(encoding="utf-8").splitlines()
    )
    return words | {line for line in lines if line}


@lru_cache(maxsize=20_000)
def inflection(word: str) -> str:
    """Return a form that the inflections of an English verb or noun share: "opened", "opens" -> "open".

    Only the endings of number and tense are removed, so that no word becomes another: "former" stays.
    """
    base = english()["verbs"].get(word)
    if base is not None:
        return inflection(base)
    word = singular(word)
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 2 and not _VOWELS.isdisjoint(rest):
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lse" else rest
            break
    if word.endswith("i") and len(word) > 2:
        word = word[:-1] + "y"
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def key_of(words: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """Return the form under which phrases are compared."""
    return tuple(inflection(word.lower()) for word in words)


ASKING: Final = frozenset({"what", "which", "who", "whom", "where", "when", "how"})
AUXILIARIES: Final = frozenset(
    {"is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would"}
)
BEFORE: Final = frozenset(
    {"in", "of", "to", "on", "at", "by", "from", "through", "for", "with", "within", "inside", "near", "into"}
)
_ONWARD: Final = frozenset({"on", "onward", "onwards", "forward"})
_WORDS_OF_TIME: Final = 3
"""Most words between "from" and "onward": "the 19th century"."""
_DEGREES: Final = ("er", "est")
_MODALS: Final = tuple(
    (word,) for word in ("can", "could", "would", "will", "may", "might", "should", "do", "does")
)


@dataclass(frozen=True)
class Form:
    """The words to be linked, in the order that is tried.

    `whether`: it is a statement that is to be confirmed. `lists`: of what it asks whether there is any, the
    things are wanted.
    """

    tokens: Sequence[Token]
    whether: bool = False
    lists: bool = False


def forms_of(question: str) -> Iterator[Form]:
    """Yield the question without its courtesies, then with the asking word first, or a preposition last."""
    form = _plain(tokens_of(question))
    yield form
    if form.whether:
        return
    order = _asking_first(form.tokens) or form.tokens
    if order is not form.tokens:
        yield replace(form, tokens=order)
    if len(order) > 2 and order[0].text in BEFORE and order[1].text in ASKING:
        # "Through which parks does it run?": "which parks does it run through?"
        yield replace(form, tokens=[*order[1:], order[0]])
    last = _unit_last(order)
    if last is not order:
        yield replace(form, tokens=last)


def _plain(tokens: Sequence[Token]) -> Form:
    phrases = _phrases()
    rest, whether, lists = list(tokens), False, False
    rest = _without_openings(rest, phrases["openings"])
    for name in ("confirming", "listing"):
        for phrase in phrases[name]:
            size = len(phrase)
            before = rest[-size - 1].text if len(rest) > size + 1 else ""
            fits = before and before not in AUXILIARIES | BEFORE
            if fits and tuple(t.text for t in rest[-size:]) == phrase:
                rest = rest[:-size]
                while rest and rest[-1].text in (",", "and"):
                    rest.pop()
                whether, lists = whether or name == "confirming", lists or name == "listing"
                break
    for phrase in phrases["claiming"]:
        if len(rest) > len(phrase) and tuple(t.text for t in rest[: len(phrase)]) == phrase:
            rest, whether = rest[len(phrase) :], True
            break
    rest = _since(list(_without_fillers(rest, phrases["fillers"])))
    while len(rest) > 1 and rest[-1].text == ",":
        rest.pop()
    asking = whether and not any(token.text in ASKING for token in rest)
    return Form(_as_question(rest) if asking else rest, whether, lists)


def _without_openings(tokens: list[Token], openings: Sequence[tuple[str, ...]]) -> list[Token]:
    """Leave out "Could you tell me", where a question follows."""
    while True:
        texts = [token.text for token in tokens]
        found = next((p for p in openings if len(texts) > len(p) + 1 and tuple(texts[: len(p)]) == p), None)
        if found is None:
            return tokens
        tokens = tokens[len(found) :]
        while len(tokens) > 1 and tokens[0].text == ",":
            tokens = tokens[1:]


def _without_fillers(tokens: Sequence[Token], fillers: Sequence[tuple[str, ...]]) -> Iterator[Token]:
    n = 0
    while n < len(tokens):
        rest = tuple(token.text for token in tokens[n:])
        doing = _doing(rest) if n else 0
        if doing and n + doing < len(tokens):
            n += doing
            continue
        found = next((p for p in fillers if rest[: len(p)] == p and len(tokens) > len(p)), None)
        if found is not None and not (len(found) == 1 and tokens[n].capital and n):
            n += len(found)
        elif n and _stands_for_thing(tokens, n):
            n += 1
        else:
            yield tokens[n]
            n += 1


def _unit_last(tokens: Sequence[Token]) -> Sequence[Token]:
    """Say "the distance between X and Y in miles" for "the distance in miles between X and Y"."""
    for n, token in enumerate(tokens[:-2]):
        first, both = (unit_of(" ".join(word.text for word in tokens[n + 1 : n + k])) for k in (2, 3))
        if token.text == "in" and (first or both):
            end = n + 2 if both == first else n + 3
            return [*tokens[:n], *tokens[end:], *tokens[n:end]]
    return tokens


def _since(tokens: list[Token]) -> list[Token]:
    """Say "since 1950" for "from 1950 on"."""
    for n, token in enumerate(tokens):
        if token.text != "from":
            continue
        for end in range(n + 2, min(len(tokens), n + 2 + _WORDS_OF_TIME)):
            numbered = any(word.text[:1].isdigit() or word.text == "century" for word in tokens[n + 1 : end])
            last = end + 1 == len(tokens) or tokens[end + 1].text == ","
            if numbered and tokens[end].text in _ONWARD and (last or tokens[end].text != "on"):
                return [*tokens[:n], replace(token, text="since"), *tokens[n + 1 : end], *tokens[end + 1 :]]
    return tokens


def _doing(texts: Sequence[str]) -> int:
    """Return how many words say what people do with places: "can you visit", "that I could walk to"."""
    phrases = _phrases()
    start = 1 if texts[:1] in (("that",), ("which",)) else 0
    for first, second in ((_MODALS, phrases["people"]), (phrases["people"], _MODALS)):
        end = start
        for listed in (first, second, phrases["doing"]):
            found = next((p for p in listed if texts[end : end + len(p)] == p), None)
            if found is None:
                break
            end += len(found)
        else:
            return end
    return 0


def _stands_for_thing(tokens: Sequence[Token], n: int) -> bool:
    """Whether a word only repeats what is there: "the older one", "a 3 km radius of"."""
    text, before = tokens[n].raw, tokens[n - 1].text
    following = tokens[n + 1].text if n + 1 < len(tokens) else ""
    if text == "one":
        return (before == "which" or before.endswith(_DEGREES)) and following not in ("of", "or", "and")
    return text == "radius" and unit_of(before) is not None and following in ("of", "around", "from")


def _as_question(tokens: Sequence[Token]) -> list[Token]:
    """Return a statement as the question whether it holds: its auxiliary comes first."""
    first = next((n for n, token in enumerate(tokens) if token.text in AUXILIARIES), None)
    if first is None:
        return [Token("does", "does", 0, 0), *tokens]
    return [tokens[first], *tokens[:first], *tokens[first + 1 :]]


def _asking_first(tokens: Sequence[Token]) -> list[Token] | None:
    """Return the words with what follows the asking word first; None where it is first already."""
    at = next((n for n, token in enumerate(tokens) if token.text in ASKING), None)
    if at is None:
        return None
    if at and tokens[at - 1].text in BEFORE:
        at -= 1
    if at == 0:
        return None
    before = list(tokens[:at])
    while before and before[-1].text in (",", "and"):
        before.pop()
    return [*tokens[at:], *before] if before else None


@cache
def _phrases() -> dict[str, list[tuple[str, ...]]]:
    """The phrases of `english.toml`, the longest first."""
    return {
        name: sorted((tuple(phrase.split()) for phrase in listed), key=len, reverse=True)
        for name, listed in english()["phrases"].items()
    }
