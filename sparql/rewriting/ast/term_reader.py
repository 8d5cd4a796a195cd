"""Reads the tokens of a query one by one, and the terms that they make."""

from __future__ import annotations

from collections.abc import Sequence

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from sparql.model.vocabulary import RDF
from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.literals import read_number, read_string
from sparql.syntax.request_facts import Prologue
from sparql.syntax.tokens import Token, TokenKind, read_tokens

LABELED = "label"
"""How the names of blank nodes begin that have a label in the text; those of others begin otherwise."""
#: Groups and expressions that nest deeper are not read: each level is a call.
DEEPEST = 60


class NotUnderstood(Exception):
    """The text is not read here; `reason` says where it stopped."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TermReader:
    """A place among the tokens of a query's text, after its prologue."""

    def __init__(self, text: str, prologue: Prologue) -> None:
        self._text = text
        self._prologue = prologue
        self._tokens: Sequence[Token] = list(read_tokens(text, prologue.end))
        self._position = 0
        self._depth = 0
        self._anonymous = 0

    def _peek(self, ahead: int = 0) -> Token | None:
        position = self._position + ahead
        return self._tokens[position] if position < len(self._tokens) else None

    def _next(self) -> Token:
        token = self._peek()
        if token is None:
            raise NotUnderstood("the text ends too early")
        self._position += 1
        return token

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

    def _term(self) -> n.Term:
        token = self._peek()
        if token is None:
            raise self._stop(token)
        if token.kind is TokenKind.VARIABLE:
            return Variable(self._variable())
        if token.kind is TokenKind.BLANK_NODE:
            self._position += 1
            return BlankNode(LABELED + token.text[2:].encode().hex())
        return self._constant()

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
                if "--" in following.text:
                    raise self._stop(following)
                return Literal(value, language=following.text[1:])
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

    def _number(self) -> str:
        token = self._next()
        if token.kind is not TokenKind.NUMBER:
            raise self._stop(token)
        return token.text
