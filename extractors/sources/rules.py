"""Cleaning before use: what is removed from a text, and which texts are dropped (UrbanKGent, section 2.2).

Nothing goes in silence: each record keeps the rule that dropped its text and what was stripped from it, and
the report counts them with examples.
"""

from __future__ import annotations

import hashlib
import html
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any, Final

from shapely.geometry.base import BaseGeometry

from extractors.errors import SourceError
from extractors.grounding.linking import normalize
from extractors.sources.records import BrokenRecord, SourceRecord
from extractors.text.cleaning import MAXIMUM_CHARACTERS, detect_language, readable

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<!--|<!DOCTYPE", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[a-zA-Z]{2,31});")
_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)")
_NOTE = re.compile(r"\[(?:\d{1,3}|[a-z]|note \d{1,3}|citation needed|edit)\]", re.IGNORECASE)
_HEADING = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|={2,6}[ \t]*)(.*?)[ \t]*(?:#+|={2,6})?[ \t]*$", re.MULTILINE)
_EMPHASIS = re.compile(r"(\*{1,3}|_{2,3}|'{2,5}|`+)(?=\S)(.+?)(?<=\S)\1")
_URL = re.compile(r"(?:https?://|ftp://|www\.)[^\s<>\"]*[^\s<>\".,;:!?)\]}'’”]", re.IGNORECASE)
_MAIL = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
_EMPTY_BRACKETS = re.compile(r"\(\s*[,;]?\s*\)|\[\s*\]")
_REPEATED = re.compile(r"([^\w\s.])\1{3,}|(\w)\2{4,}|\.{4,}")
_UNREADABLE = re.compile("[\ufffd\ue000-\uf8ff]+")
_BLOB = re.compile(r"(?<!\S)(?=\S*[a-z])(?=\S*[A-Z])(?=\S*\d)[\w+/=%&;#-]{20,}(?!\S)")
_SPACES = re.compile(r"[ \t\u00a0]+")
_BEFORE_STOP = re.compile(r"[ \t]+([.,;:!?)])(?=\s|$)")
_LINES = re.compile(r"\s*\n\s*")
_TOKEN = re.compile(r"\S+")
_LATIN_WORD = re.compile(r"[a-z]+")
_VOWELS: Final = frozenset("aeiouy")
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{6,}")
_BLOCKS: Final = frozenset(
    """address article aside blockquote br dd div dl dt figcaption footer form h1 h2 h3 h4 h5 h6 header hr
    li main nav ol p pre section table td th tr ul""".split()
)
_UNSEEN: Final = frozenset(("script", "style", "noscript", "template", "head", "svg"))


def strip_markup(text: str) -> str:
    """The words of a text in HTML, Markdown or wiki markup; scripts, styles and note marks go."""
    if _TAG.search(text):
        reader = _Words()
        reader.feed(text)
        reader.close()
        text = "".join(reader.parts)
    elif _ENTITY.search(text):
        text = html.unescape(text)
    text = _LINK.sub(r"\1", _WIKI_LINK.sub(r"\1", text))
    text = _HEADING.sub(r"\1", _NOTE.sub("", text))
    return _EMPHASIS.sub(r"\2", text)


def strip_urls(text: str) -> str:
    """The text without web and mail addresses, and without brackets that held nothing else."""
    return _EMPTY_BRACKETS.sub(" ", _MAIL.sub(" ", _URL.sub(" ", text)))


def strip_gibberish(text: str) -> str:
    """The text without unreadable characters, long encoded runs and characters repeated for show."""
    text = _BLOB.sub(" ", _UNREADABLE.sub(" ", text))
    return _REPEATED.sub(lambda run: run.group()[:3] if run.group()[0] == "." else run.group()[0], text)


def tidied(text: str) -> str:
    """The text with one blank where several were, and one line break."""
    text = _SPACES.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _BEFORE_STOP.sub(r"\1", _LINES.sub("\n", text)).strip()


def gibberish_share(text: str) -> float:
    """Which part of a text's tokens no language would write, from 0 to 1: `xkqzrt`, `###`, `a8f3e9`.

    Words in other scripts than the Latin, capitals and numbers are taken as they are.
    """
    tokens = _TOKEN.findall(text)
    return sum(map(_is_gibberish, tokens)) / len(tokens) if tokens else 0.0


def _is_gibberish(token: str) -> bool:
    if token.isupper() or not token.isascii():
        return False
    core = token.casefold().strip(".,;:!?()[]{}'\"-–—&/%$€£*")
    if not core:
        return len(token) > 3
    if not any(character.isalnum() for character in core):
        return True
    if not _LATIN_WORD.fullmatch(core):
        letters = sum(character.isalpha() for character in core)
        digits = sum(character.isdigit() for character in core)
        return len(core) > 40 or (letters > 1 and digits > 2 and _alternates(core))
    return (len(core) > 4 and _VOWELS.isdisjoint(core)) or bool(_CONSONANTS.search(core)) or len(core) > 40


def _alternates(token: str) -> bool:
    """Whether letters and digits change places more often than in `A1`, `42nd` or `M15-SBS`."""
    kinds = [character.isdigit() for character in token if character.isalnum()]
    return sum(a != b for a, b in pairwise(kinds)) > 3


class _Words(HTMLParser):
    """Gathers what a browser would show."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._unseen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._unseen.append(tag)
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._unseen:
            del self._unseen[self._unseen.index(tag) :]
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.parts.append(data)


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


_EXCERPT = 100


@dataclass(frozen=True)
class Example:
    """Where something was dropped, and what it was."""

    place: str
    excerpt: str


@dataclass
class CleaningReport:
    """Counts, and the first `examples` of each: texts dropped by rule, texts stripped, records not read."""

    examples: int = 3
    records: int = 0
    texts: int = 0
    places: int = 0
    repeated: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    stripped: Counter[str] = field(default_factory=Counter)
    broken: list[BrokenRecord] = field(default_factory=list)
    broken_count: int = 0
    shown: dict[str, list[Example]] = field(default_factory=dict)

    def add(self, one: CleanRecord) -> None:
        """Count a record that was read."""
        self.records += 1
        self.texts += bool(one.record.text)
        self.places += one.kept_place
        self.repeated += one.repeated
        if one.dropped is not None:
            self.dropped[one.dropped.value] += 1
            self._show(one.dropped.value, one)
        for name in one.stripped:
            self.stripped[name] += 1
            self._show(f"stripped {name}", one)

    def add_broken(self, one: BrokenRecord) -> None:
        """Count one that could not be read; the first hundred are kept with their reason."""
        self.broken_count += 1
        if len(self.broken) < 100:
            self.broken.append(one)

    def _show(self, rule: str, one: CleanRecord) -> None:
        held = self.shown.setdefault(rule, [])
        if len(held) < self.examples:
            words = " ".join(one.original.split()) or "(no text)"
            name = f"{one.record.name}: " if one.record.name else ""
            cut = words if len(words) <= _EXCERPT else words[: _EXCERPT - 1] + "…"
            held.append(Example(one.record.place, name + cut))

    def lines(self) -> Iterator[str]:
        """The report for people."""
        yield (
            f"{self.records} records read, {self.broken_count} not readable; "
            f"{self.texts} texts and {self.places} places with geometry are used"
        )
        for rule, count in self.dropped.most_common():
            yield f"text dropped, {rule}: {count}"
            yield from self._examples(rule)
        for name, count in self.stripped.most_common():
            yield f"{name} stripped from: {count}"
            yield from self._examples(f"stripped {name}")
        if self.repeated:
            yield f"the same record again: {self.repeated}"
        for one in self.broken:
            yield f"not readable: {one.place}: {one.reason}"
        if self.broken_count > len(self.broken):
            yield f"... and {self.broken_count - len(self.broken)} more"

    def _examples(self, rule: str) -> Iterator[str]:
        return (f"    {one.place}: {one.excerpt}" for one in self.shown.get(rule, ()))

    def json(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "records": self.records,
            "texts": self.texts,
            "places": self.places,
            "repeated": self.repeated,
            "dropped": dict(self.dropped),
            "stripped": dict(self.stripped),
            "not_readable": self.broken_count,
            "examples": {
                rule: [{"place": one.place, "excerpt": one.excerpt} for one in held]
                for rule, held in self.shown.items()
            },
            "broken": [{"place": one.place, "reason": one.reason} for one in self.broken],
        }
