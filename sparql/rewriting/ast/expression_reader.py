"""Reads expressions: the conditions of filters, and what a query computes (SPARQL 1.1, 19.8, rule 110 on)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.term_reader import DEEPEST, NotUnderstood, TermReader
from sparql.syntax.tokens import Token, TokenKind

_RELATIONS = frozenset({"=", "!=", "<", ">", "<=", ">="})


class ExpressionReader(TermReader, ABC):
    """Reads expressions; the groups of EXISTS are read by what builds on it."""

    @abstractmethod
    def _group(self) -> n.Group: ...

    def _expression(self) -> n.Expression:
        self._depth += 1
        if self._depth > DEEPEST:
            raise NotUnderstood(f"expressions nest deeper than {DEEPEST} levels")
        found = self._chain("||", lambda: self._chain("&&", self._relation))
        self._depth -= 1
        return found

    def _here(self) -> int:
        token = self._peek()
        return self._end() if token is None else token.start

    def _chain(self, sign: str, part: Callable[[], n.Expression]) -> n.Expression:
        begin, parts = self._here(), [part()]
        while self._take(sign):
            parts.append(part())
        return parts[0] if len(parts) == 1 else n.Operation(sign, tuple(parts), begin, self._end())

    def _relation(self) -> n.Expression:
        begin, left = self._here(), self._sum()
        token = self._peek()
        if token is not None and token.kind is TokenKind.PUNCTUATION and token.text in _RELATIONS:
            self._position += 1
            right = self._sum()
            return n.Operation(token.text, (left, right), begin, self._end())
        negated = self._take_word("NOT")
        if negated or self._at_word("IN"):
            self._expect_word("IN")
            arguments = self._arguments()
            return n.Operation("NOT IN" if negated else "IN", (left, *arguments), begin, self._end())
        return left

    def _sum(self) -> n.Expression:
        begin, found = self._here(), self._product()
        while self._at("+") or self._at("-"):
            sign = self._next().text
            found = n.Operation(sign, (found, self._product()), begin, self._end())
        return found

    def _product(self) -> n.Expression:
        begin, found = self._here(), self._unary()
        while self._at("*") or self._at("/"):
            sign = self._next().text
            found = n.Operation(sign, (found, self._unary()), begin, self._end())
        return found

    def _unary(self) -> n.Expression:
        token = self._peek()
        if token is not None and token.text in ("!", "+", "-") and token.kind is TokenKind.PUNCTUATION:
            following = self._peek(1)
            if token.text != "!" and following is not None and following.kind is TokenKind.NUMBER:
                return n.Constant(self._constant(), token.start, self._end())
            self._position += 1
            return n.Operation(f"unary {token.text}", (self._unary(),), token.start, self._end())
        return self._primary()

    def _primary(self) -> n.Expression:
        token = self._peek()
        if token is None:
            raise self._stop(token)
        if self._take("("):
            found = self._expression()
            self._expect(")")
            return found
        if token.kind is TokenKind.VARIABLE:
            return n.VariableUse(self._variable(), token.start, self._end())
        if token.kind in (TokenKind.IRI, TokenKind.PREFIXED_NAME):
            iri = self._iri()
            if not self._at("("):
                return n.Constant(iri, token.start, self._end())
            return n.Call(iri, self._arguments(), token.start, self._end())
        if token.kind is TokenKind.WORD and not token.is_word("TRUE", "FALSE"):
            return self._built_in(token)
        return n.Constant(self._constant(), token.start, self._end())

    def _built_in(self, token: Token) -> n.Expression:
        self._position += 1
        negated = token.is_word("NOT")
        if negated:
            self._expect_word("EXISTS")
        if negated or token.is_word("EXISTS"):
            return n.Exists(self._group(), negated, token.start, self._end())
        return n.Operation(token.text.upper(), self._arguments(), token.start, self._end())

    def _arguments(self) -> tuple[n.Expression, ...]:
        self._expect("(")
        self._take_word("DISTINCT")
        if self._take("*"):
            self._expect(")")
            return ()
        found: list[n.Expression] = []
        while not self._take(")"):
            if found:
                if self._take(";"):
                    self._expect_word("SEPARATOR")
                    self._expect("=")
                    self._string()
                    continue
                self._expect(",")
            found.append(self._expression())
        return tuple(found)
