"""Removes markup, addresses and gibberish from a source's text (UrbanKGent, section 2.2)."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import Final

__all__ = ["gibberish_share", "strip_gibberish", "strip_markup", "strip_urls", "tidied"]

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
    li main nav ol p pre section table td th tr ul""".split()  # noqa: SIM905
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
