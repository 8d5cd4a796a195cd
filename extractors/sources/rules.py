"""Cleaning before use: what is removed from a text, and which texts are dropped (UrbanKGent, section 2.2).

Nothing goes in silence: each record keeps the rule that dropped its text and what was stripped from it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, Final

from shapely.geometry.base import BaseGeometry

from extractors.errors import SourceError
from extractors.grounding.linking import normalize
from extractors.sources.record import SourceRecord
from extractors.text.cleaning import MAXIMUM_CHARACTERS, detect_language, readable
from extractors.text.stripping import gibberish_share, strip_gibberish, strip_markup, strip_urls, tidied

__all__ = ["CleanRecord", "Cleaner", "Rule", "Rules"]


class Rule(StrEnum):
    """Why a text is not used."""

    NULL = "null"
    NAME_ONLY = "only the name"
    SHORT = "too few words"
    LONG = "too long"
    GIBBERISH = "gibberish"
    LANGUAGE = "another language"
    DUPLICATE = "duplicate"


@dataclass(frozen=True)
class Rules:
    """Which rules are in force; a rule is switched off by 0, false or an empty list.

    `minimum_words` counts words after stripping. `gibberish_share` is the part of a text's tokens (0 to 1)
    from which on it is gibberish; `languages` are ISO 639-1 codes.
    """

    minimum_words: int = 10
    maximum_characters: int = MAXIMUM_CHARACTERS
    name_only: bool = True
    strip_markup: bool = True
    strip_urls: bool = True
    strip_gibberish: bool = True
    gibberish_share: float = 0.3
    languages: tuple[str, ...] = ("en",)
    duplicates: bool = True

    @classmethod
    def of(cls, table: Mapping[str, Any], languages: tuple[str, ...]) -> Rules:
        """The rules of a mapping's table; `languages` where it names none.

        Raises SourceError for a rule that there is not, and for a value of another kind.
        """
        kinds = {one.name: type(getattr(cls(), one.name)) for one in fields(cls)}
        for name, value in table.items():
            if name not in kinds:
                raise SourceError(f"[cleaning] has the key '{name}'. Known are {', '.join(sorted(kinds))}.")
            fits = (
                (list, tuple)
                if kinds[name] is tuple
                else (int, float)
                if kinds[name] is float
                else kinds[name]
            )
            if not isinstance(value, fits) or (isinstance(value, bool) and kinds[name] is not bool):
                raise SourceError(f"[cleaning] {name} = {value!r}: it takes a {kinds[name].__name__}.")
        given: dict[str, Any] = {
            name: tuple(value) if kinds[name] is tuple else value for name, value in table.items()
        }
        return replace(cls(languages=languages), **given)


@dataclass(frozen=True)
class CleanRecord:
    """A record after cleaning: `record.text` is empty where a rule dropped the text.

    `dropped` is that rule and `original` the text before; `stripped` names what was taken out. `repeated`
    says that the whole record came before, its place included.
    """

    record: SourceRecord
    original: str
    dropped: Rule | None = None
    stripped: tuple[str, ...] = ()
    repeated: bool = False

    @property
    def kept_place(self) -> bool:
        """Whether the record still says where something is."""
        return bool(self.record.name) and self.record.geometry is not None and not self.repeated


_STRIPPERS: Final[tuple[tuple[str, str, Callable[[str], str]], ...]] = (
    ("strip_markup", "markup", strip_markup),
    ("strip_urls", "addresses", strip_urls),
    ("strip_gibberish", "gibberish", strip_gibberish),
)


class Cleaner:
    """Cleans record after record; remembers the texts it has seen, to find repeated ones."""

    def __init__(self, rules: Rules | None = None) -> None:
        self.rules = rules or Rules()
        self._texts: set[bytes] = set()
        self._places: set[bytes] = set()

    def clean(self, record: SourceRecord) -> CleanRecord:
        """The record with a clean text, or with none and the rule that says why."""
        text, stripped = readable(record.text), []
        for setting, name, strip in _STRIPPERS:
            if getattr(self.rules, setting):
                after = strip(text)
                if after != text:
                    stripped.append(name)
                text = after
        text = tidied(text)
        dropped = self._why_not(text, record)
        repeated = self._is_repeated(record, text)
        kept = replace(record, text="" if dropped else text)
        return CleanRecord(kept, record.text, dropped, tuple(stripped), repeated)

    def _why_not(self, text: str, record: SourceRecord) -> Rule | None:
        rules = self.rules
        if not text or text.casefold() in _NOTHING:
            return Rule.NULL
        if rules.name_only and record.name and _is_name_only(text, record):
            return Rule.NAME_ONLY
        if len(text.split()) < rules.minimum_words:
            return Rule.SHORT
        if rules.maximum_characters and len(text) > rules.maximum_characters:
            return Rule.LONG
        if rules.gibberish_share and gibberish_share(text) >= rules.gibberish_share:
            return Rule.GIBBERISH
        if rules.languages:
            found = detect_language(text, expected=rules.languages)
            if found is not None and found not in rules.languages:
                return Rule.LANGUAGE
        if rules.duplicates and _is_known(self._texts, normalize(text)):
            return Rule.DUPLICATE
        return None

    def _is_repeated(self, record: SourceRecord, text: str) -> bool:
        if not self.rules.duplicates:
            return False
        return _is_known(self._places, record.name, record.type, _wkb(record.geometry), normalize(text))


_NOTHING: Final = frozenset(("null", "none", "nan", "n/a", "na", "-", "nil", "undefined", "unknown"))


def _is_name_only(text: str, record: SourceRecord) -> bool:
    """Whether nothing but the name and the type is there, however often."""
    said = set(normalize(text).split())
    return said <= set(normalize(f"{record.name} {record.type}").split())


def _wkb(geometry: BaseGeometry | None) -> str:
    return "" if geometry is None else geometry.wkb_hex


def _is_known(seen: set[bytes], *parts: str) -> bool:
    """Whether the parts came before; they are remembered by a digest, since files are long."""
    key = hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=12).digest()
    if key in seen:
        return True
    seen.add(key)
    return False
