"""SPARQL text as tokens, and the terms that they make (SPARQL 1.1 and 1.2 Query, 19.8, terminals).

The one place where the terminals need context is ``<``: after an operand inside an expression it compares,
elsewhere it opens an IRI. ``FILTER(?a<?b&&?c='x>')`` would otherwise be read as an IRI followed by an open
string, which could hide what comes next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urljoin

from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode, Variable

from sparql.model.vocabulary import RDF, XSD


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


LABELED = "label"
"""How the names of blank nodes begin that have a label in the text; those of others begin otherwise."""

_SPACE = r"(?:[ \t\r\n]|\#[^\r\n]*(?:[\r\n]|\Z))*"
_DECLARATION = re.compile(
    rf"""{_SPACE}(?:
        BASE{_SPACE}<(?P<base>[^<>"{{}}|^`\x00-\x20]*)>
      | PREFIX{_SPACE}(?P<prefix>[^\s:<>]*):{_SPACE}<(?P<namespace>[^<>"{{}}|^`\x00-\x20]*)>
      | VERSION{_SPACE}(?:"[^"\r\n]*"|'[^'\r\n]*')
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_LOCAL_ESCAPE = re.compile(r"\\([_~.\-!$&'()*+,;=/?#@%])")
_CODEPOINT = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_PLAIN = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


@dataclass(frozen=True)
class Prologue:
    """The declarations at the head of a request or of one operation; ``end`` is where they stop."""

    prefixes: Mapping[str, str]
    base: str | None
    end: int

    def as_text(self) -> str:
        """The declarations on one line, in the form that both SPARQL and Turtle read."""
        base = "" if self.base is None else f"BASE <{self.base}> "
        return base + " ".join(f"PREFIX {name}: <{iri}>" for name, iri in self.prefixes.items())

    def expand(self, token: Token) -> str | None:
        """The absolute IRI of an IRI or prefixed-name token; None for other tokens."""
        if token.kind is TokenKind.IRI:
            return _resolved(self.base, _unescape_codepoints(token.text[1:-1]))
        if token.kind is TokenKind.PREFIXED_NAME:
            prefix, _, local = token.text.partition(":")
            namespace = self.prefixes.get(prefix)
            return None if namespace is None else namespace + _LOCAL_ESCAPE.sub(r"\1", local)
        return None


def read_prologue(text: str, position: int = 0, outer: Prologue | None = None) -> Prologue:
    """The BASE, PREFIX and VERSION declarations from ``position`` on, added to those of ``outer``."""
    prefixes = dict(outer.prefixes) if outer else {}
    base = outer.base if outer else None
    while found := _DECLARATION.match(text, position):
        if (written := found["base"]) is not None:
            base = _resolved(base, _unescape_codepoints(written))
        elif (prefix := found["prefix"]) is not None:
            prefixes[prefix] = _resolved(base, _unescape_codepoints(found["namespace"]))
        position = found.end()
    return Prologue(MappingProxyType(prefixes), base, position)


def names_iri(text: str, iri: str, base: str | None = None) -> bool:
    """Whether an IRI is in a query or an operation, however it is written; the text need not parse."""
    prologue = read_prologue(text, 0, Prologue({}, base, 0))
    return any(prologue.expand(token) == iri for token in read_tokens(text, prologue.end))


def read_string(written: str) -> str | None:
    """The value of a quoted string (SPARQL 1.1 Query, 4.1.2 and 19.7); None where an escape is unknown."""
    quotes = 3 if written[:3] in ('"""', "'''") and len(written) >= 6 else 1
    inner = written[quotes:-quotes]
    if "\\" not in inner:
        return inner

    def unescape(found: re.Match[str]) -> str:
        return chr(int(found[1] or found[2], 16)) if found[1] or found[2] else _PLAIN[found[3]]

    try:
        return _ESCAPE.sub(unescape, inner)
    except (KeyError, ValueError):
        return None


def read_number(written: str) -> Literal:
    """A number in its datatype: integer, decimal or, with an exponent, double."""
    if "e" in written.lower():
        return Literal(written, datatype=XSD.double)
    return Literal(written, datatype=XSD.decimal if "." in written else XSD.integer)


def _resolved(base: str | None, written: str) -> str:
    """An IRI against the base (RFC 3986, 5.2). An absolute one stays as it is written, and an empty fragment
    stays too: `http://e/ns#` names another thing than `http://e/ns`, which is what `urljoin` makes of it."""
    if not base or _ABSOLUTE.match(written):
        return written
    return urljoin(base, written) + ("#" if written.endswith("#") else "")


def _unescape_codepoints(text: str) -> str:
    if "\\" not in text:
        return text
    return _CODEPOINT.sub(lambda found: chr(int(found[1] or found[2], 16)), text)


class NotUnderstood(Exception):
    """The text is not read here; `reason` says where it stopped."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TermReader:
    """A place among the tokens of a text, after its prologue. What it cannot read raises NotUnderstood."""

    def __init__(self, text: str, prologue: Prologue, tokens: Sequence[Token] | None = None) -> None:
        self._text = text
        self._prologue = prologue
        self._tokens: Sequence[Token] = list(read_tokens(text, prologue.end)) if tokens is None else tokens
        self._position = 0

    def _peek(self, ahead: int = 0) -> Token | None:
        position = self._position + ahead
        return self._tokens[position] if position < len(self._tokens) else None

    def _next(self) -> Token:
        token = self._peek()
        if token is None:
            raise self._stop(token)
        self._position += 1
        return token

    def _here(self) -> int:
        token = self._peek()
        return self._end() if token is None else token.start

    def _end(self) -> int:
        return self._tokens[self._position - 1].end if self._position else self._prologue.end

    def _at(self, sign: str) -> bool:
        token = self._peek()
        return token is not None and token.kind is TokenKind.PUNCTUATION and token.text == sign

    def _take(self, sign: str) -> bool:
        if self._at(sign):
            self._position += 1
            return True
        return False

    def _expect(self, sign: str) -> Token:
        token = self._next()
        if token.kind is not TokenKind.PUNCTUATION or token.text != sign:
            raise self._stop(token)
        return token

    def _at_word(self, *words: str) -> bool:
        token = self._peek()
        return token is not None and token.is_word(*words)

    def _take_word(self, *words: str) -> bool:
        if self._at_word(*words):
            self._position += 1
            return True
        return False

    def _expect_word(self, word: str) -> None:
        if not self._take_word(word):
            raise self._stop(self._peek())

    def _stop(self, token: Token | None) -> NotUnderstood:
        if token is None:
            return NotUnderstood("the text ends too early")
        line = self._text.count("\n", 0, token.start) + 1
        return NotUnderstood(f"{token.text[:40]!r} in line {line} is not read here")

    def _constant(self) -> NamedNode | Literal:
        token = self._peek()
        if token is None:
            raise self._stop(token)
        if token.kind in (TokenKind.IRI, TokenKind.PREFIXED_NAME):
            return self._iri()
        if token.kind is TokenKind.STRING:
            return self._string()
        if token.is_word("TRUE", "FALSE"):
            self._position += 1
            return Literal(token.text.lower() == "true")
        if token.kind is TokenKind.NUMBER or token.text in ("+", "-"):
            sign = self._next().text if token.text in ("+", "-") else ""
            return read_number(sign + self._number())
        raise self._stop(token)

    def _string(self) -> Literal:
        token = self._next()
        value = read_string(token.text)
        if value is None:
            raise self._stop(token)
        following = self._peek()
        try:
            if following is not None and following.kind is TokenKind.LANGUAGE:
                self._position += 1
                tag, _, direction = following.text[1:].partition("--")
                return Literal(value, language=tag, direction=BaseDirection(direction) if direction else None)
            return Literal(value, datatype=self._iri()) if self._take("^^") else Literal(value)
        except ValueError:
            raise self._stop(token) from None

    def _iri(self) -> NamedNode:
        token = self._next()
        if token.is_word("A") and token.text == "a":
            return RDF.type
        iri = self._prologue.expand(token)
        if iri is None:
            raise self._stop(token)
        try:
            return NamedNode(iri)
        except ValueError:
            raise self._stop(token) from None

    def _variable(self) -> str:
        token = self._next()
        if token.kind is not TokenKind.VARIABLE:
            raise self._stop(token)
        return token.text[1:]

    def _blank_node(self) -> BlankNode:
        return BlankNode(LABELED + self._next().text[2:].encode().hex())

    def _name(self) -> NamedNode | Variable:
        token = self._peek()
        is_variable = token is not None and token.kind is TokenKind.VARIABLE
        return Variable(self._variable()) if is_variable else self._iri()

    def _number(self) -> str:
        token = self._next()
        if token.kind is not TokenKind.NUMBER:
            raise self._stop(token)
        return token.text
