"""The words of a question, and the forms under which words are compared."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from ontology.labels import singular

__all__ = ["Token", "english", "idle_words", "inflection", "key_of", "tokens_of"]

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
