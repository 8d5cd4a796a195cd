"""SPARQL text as tokens (SPARQL 1.1 and 1.2 Query, 19.8, terminals).

The one place where the terminals need context is ``<``: after an operand inside an expression it compares,
elsewhere it opens an IRI. ``FILTER(?a<?b&&?c='x>')`` would otherwise be read as an IRI followed by an open
string, which could hide what comes next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import NamedTuple


class TokenKind(Enum):
    """The kinds of terminals that matter to a reader of requests."""

    IRI = "iri"
    PREFIXED_NAME = "prefixed name"
    VARIABLE = "variable"
    BLANK_NODE = "blank node"
    STRING = "string"
    LANGUAGE = "language"
    NUMBER = "number"
    WORD = "word"
    PUNCTUATION = "punctuation"


class Token(NamedTuple):
    """One terminal; ``start`` and ``end`` are offsets in characters into the request's text."""

    kind: TokenKind
    text: str
    start: int
    end: int

    def is_word(self, *words: str) -> bool:
        """Whether this is one of the keywords (given in upper case)."""
        return self.kind is TokenKind.WORD and self.text.upper() in words

    def is_word_ending(self, word: str) -> bool:
        """Whether this word ends with the keyword: the engine reads ``trueGRAPH`` as two words."""
        return self.kind is TokenKind.WORD and self.text.upper().endswith(word)


_ASCII_LETTERS = "A-Za-z"
_LETTERS = (
    r"A-Za-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C\u200D\u2070-\u218F"
    r"\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD\U00010000-\U000EFFFF"
)
_EXTENDERS = r"\u00B7\u0300-\u036F\u203F\u2040"


@dataclass(frozen=True)
class _Patterns:
    """A token after its spaces, and the pieces of a RUN."""

    token: re.Pattern[str]
    piece: re.Pattern[str]


def _patterns(letters: str, extenders: str) -> _Patterns:
    """With these letters in names, and these characters that may follow them beside digits and `-`."""
    name = rf"{letters}_0-9\-{extenders}"
    local = rf"(?:[{name}:]|%[0-9A-Fa-f]{{2}}|\\[_~.\-!$&'()*+,;=/?#@%])"
    number = r"(?P<NUMBER>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    token = rf"""(?>(?:[ \t\r\n]+|\#[^\r\n]*)*)(?:
      (?P<IRI><[^<>"{{}}|^`\x00-\x20]*>)
    | (?P<STRING>\"\"\"(?:[^"\\]++|\\.|\"{{1,2}}(?!\"))*+\"\"\"|'''(?:[^'\\]++|\\.|'{{1,2}}(?!'))*+'''
        |"(?:[^"\\\r\n]++|\\.)*+"|'(?:[^'\\\r\n]++|\\.)*+')
    | (?P<VARIABLE>[?$][{letters}_0-9{extenders}]+)
    | (?P<LANGUAGE>@[A-Za-z]+(?:-[A-Za-z0-9]+)*(?:--[A-Za-z]+)?)
    | (?P<BLANK_NODE>_:[{letters}_0-9](?:[{name}.]*[{name}])?)
    | (?P<PREFIXED_NAME>(?:[{letters}](?:[{name}.]*[{name}])?)?:
        (?:(?!-){local}(?:(?:{local}|\.)*{local})?)?)
    | {number}
    | (?P<WORD>[{letters}_][{letters}_0-9]*+(?![\-.{extenders}]))
    | (?P<RUN>[{letters}_](?:[{name}.]*[{name}])?)
    | (?P<PUNCTUATION><<\(|\)>>|<<|>>|\{{\||\|\}}|\^\^|&&|\|\||!=|<=|>=|[^ \t\r\n])
    )"""
    # What a RUN is made of: it was read to its end in search of a prefix's colon, so it is cut up at once. To
    # look for a colon again after each of its dots would take time in the square of its length.
    piece = rf"""{number}
    | (?P<WORD>[{letters}_][{letters}_0-9]*)
    | (?P<PUNCTUATION>.)"""
    flags = re.VERBOSE | re.DOTALL
    return _Patterns(re.compile(token, flags), re.compile(piece, flags))


@cache
def _patterns_for(is_ascii: bool) -> _Patterns:
    """Both find the same in ASCII, and the one with all letters takes long to compile."""
    return _patterns(_ASCII_LETTERS, "") if is_ascii else _patterns(_LETTERS, _EXTENDERS)


_KINDS = {kind.name: kind for kind in TokenKind}
_OPERANDS = frozenset(
    {
        TokenKind.IRI,
        TokenKind.PREFIXED_NAME,
        TokenKind.VARIABLE,
        TokenKind.BLANK_NODE,
        TokenKind.STRING,
        TokenKind.LANGUAGE,
        TokenKind.NUMBER,
    }
)
# After these words a parenthesis holds an expression even where a name is before it: after FILTER once,
# after the others until a brace or one of the closing words.
_ONE_EXPRESSION = "FILTER"
_MANY_EXPRESSIONS = ("HAVING", "BY", "SELECT", "DISTINCT", "REDUCED")
_NO_EXPRESSIONS = frozenset({"WHERE", "FROM", "LIMIT", "OFFSET", "VALUES"})
# A parenthesis after these words is a list of terms; after any other word it is an expression.
_BEFORE_LISTS = frozenset({"A", "VALUES", "TRUE", "FALSE", "UNDEF", "TRIPLE"})


def read_tokens(text: str, start: int = 0) -> Iterator[Token]:
    """The tokens of a request from ``start`` on; spaces and comments between them are left out."""
    context = _Context()
    patterns = _patterns_for(text.isascii())
    position, end = start, len(text)
    while position < end:
        found = patterns.token.match(text, position)
        if found is None:
            return
        name = found.lastgroup or ""
        if name == "RUN":
            for piece in patterns.piece.finditer(text, found.start(name), found.end(name)):
                token = Token(_KINDS[piece.lastgroup or ""], piece[0], *piece.span())
                context.pass_over(token)
                yield token
            position = found.end()
            continue
        kind, written, begin, position = _KINDS[name], found[name], found.start(name), found.end(name)
        if kind is TokenKind.IRI and context.compares():
            kind, written, position = TokenKind.PUNCTUATION, "<", begin + 1
        token = Token(kind, written, begin, position)
        context.pass_over(token)
        yield token


class _Follow(Enum):
    """How many of the parentheses that follow hold expressions."""

    NONE = 0
    ONE = 1
    MANY = 2


class _Context:
    """The position in a request: inside which brackets, and whether those hold expressions."""

    def __init__(self) -> None:
        self._brackets: list[tuple[str, _Follow]] = []
        self._follow = _Follow.NONE
        self._before: Token | None = None

    def compares(self) -> bool:
        """Whether a ``<`` here compares two values."""
        before = self._before
        if before is None or not self._brackets or self._brackets[-1][0] != "expression":
            return False
        return before.kind in _OPERANDS or before.text == ")" or before.is_word("TRUE", "FALSE")

    def pass_over(self, token: Token) -> None:
        """Take note of a token."""
        if token.kind is TokenKind.PUNCTUATION:
            self._pass_punctuation(token.text)
        elif token.kind is TokenKind.WORD:
            word = token.text.upper()
            if word.endswith(_ONE_EXPRESSION):
                self._follow = _Follow.ONE
            elif word.endswith(_MANY_EXPRESSIONS):
                self._follow = _Follow.MANY
            elif word in _NO_EXPRESSIONS:
                self._follow = _Follow.NONE
        self._before = token

    def _pass_punctuation(self, text: str) -> None:
        if text in ("(", "<<("):
            kind = "expression" if self._opens_expression() else "list"
            if kind == "expression" and self._follow is _Follow.ONE:
                self._follow = _Follow.NONE
            self._brackets.append((kind, self._follow))
        elif text in ("{", "["):
            self._brackets.append((text, self._follow))
            self._follow = _Follow.NONE
        elif text in (")", ")>>", "}", "]") and self._brackets:
            self._follow = self._brackets.pop()[1]

    def _opens_expression(self) -> bool:
        if self._brackets and self._brackets[-1][0] == "expression":
            return True
        before = self._before
        if before is not None and before.kind is TokenKind.WORD:
            return before.text.upper() not in _BEFORE_LISTS
        return self._follow is not _Follow.NONE
