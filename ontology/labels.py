"""Words of labels: normalized for comparison (case, diacritics, camel case, plurals), and their article."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_DROPPED_FIRST = frozenset({"a", "an", "the"})
_VOWELS = frozenset("aeiouy")
_BRITISH = re.compile(r"([a-z]{3,}[^aeiou])is(e|ed|es|er|ers|ing|ation)$")
_IRREGULAR = {"men": "man", "women": "woman", "children": "child", "buses": "bus", "campuses": "campus"}


def local_name(iri: str) -> str:
    """The last part of an IRI: what follows its last '#', '/' or ':'."""
    return re.split(r"[#/:]", iri.rstrip("#/"))[-1]


def split_camel_case(name: str) -> str:
    """`SubwayStation` as "subway station"; runs of capitals stay together."""
    return " ".join(_CAMEL.sub(" ", name).split()).lower()


def readable(label: str) -> str:
    """A label as people write it: `birthPlace` and `birth_place` as "birth place", others as they are."""
    label = label.strip()
    if not label or any(character.isspace() for character in label):
        return label
    parted = _CAMEL.sub(" ", label).split()
    return " ".join(part if part.isupper() else part.lower() for part in parted) if len(parted) > 1 else label


def words(text: str) -> list[str]:
    """The words of a text in lower case without diacritics; hyphens separate, apostrophes are dropped."""
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(character for character in decomposed if not unicodedata.combining(character))
    found = _WORD.findall(text.casefold())
    return [word.replace("'s", "").replace("’s", "").replace("'", "").replace("’", "") for word in found]


@lru_cache(maxsize=4_000)
def singular(word: str) -> str:
    """The English singular of a lower-case word by its ending; the word itself where none applies."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    return word.removesuffix("s")


def normalize(text: str) -> tuple[str, ...]:
    """The form in which labels are compared: singular words, a leading article dropped."""
    found = words(text)
    if len(found) > 1 and found[0] in _DROPPED_FIRST:
        found = found[1:]
    return tuple(singular(word) for word in found)


@lru_cache(maxsize=8_000)
def stem(word: str) -> str:
    """A common short form of the inflections of a lower-case English word.

    Endings of number, tense and agent are removed ("designed", "designs", "designer", "designing" ->
    "design"), and "modernised" is as "modernized". It is meant for scoring: it may join words that a
    dictionary separates.
    """
    word = singular(word)
    word = _BRITISH.sub(r"\1iz\2", word)
    for ending in ("ings", "ing", "ers", "ed", "er", "or", "ion", "ment"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 2 and not _VOWELS.isdisjoint(rest):
            word = rest
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouyls":
        word = word[:-1]
    if len(word) > 3 and word[-1] in "ey":
        word = word[:-1]
    return word


_VOWEL_LETTERS: Final = "aeiou"
_CONSONANTS: Final = ("uni", "use", "usu", "uti", "euro", "one", "once")
"""Words that begin with the letter of a vowel and the sound of a consonant."""
_SILENT: Final = ("hour", "honor", "honour", "honest", "heir")


def with_article(noun: str) -> str:
    """Return a noun with "a" or "an"."""
    word = noun.casefold()
    vowel = word[:1] in _VOWEL_LETTERS and not word.startswith(_CONSONANTS)
    return f"{'an' if vowel or word.startswith(_SILENT) else 'a'} {noun}"
