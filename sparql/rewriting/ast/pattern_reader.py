"""Reads group graph patterns: triples, paths and what nests in them (SPARQL 1.1, 19.8, rule 53 on)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from pyoxigraph import BlankNode, NamedNode, Variable

from sparql.model.vocabulary import RDF
from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.expression_reader import ExpressionReader
from sparql.rewriting.ast.term_reader import DEEPEST, NotUnderstood
from sparql.syntax.tokens import Token, TokenKind


class PatternReader(ExpressionReader, ABC):
    """Reads groups; sub-selects are read by what builds on it."""

    @abstractmethod
    def _query(self, *, outermost: bool) -> n.Query: ...

    def _group(self) -> n.Group:
        start = self._expect("{").start
        self._depth += 1
        if self._depth > DEEPEST:
            raise NotUnderstood(f"groups nest deeper than {DEEPEST} levels")
        elements: list[n.Element] = []
        if self._at_word("SELECT"):
            begin = self._peek()
            assert begin is not None
            query = self._query(outermost=False)
            elements.append(n.SubSelect(query, begin.start, self._end()))
        else:
            while not self._at("}"):
                if not self._take("."):
                    elements.append(self._element())
        self._expect("}")
        self._depth -= 1
        return n.Group(tuple(elements), start, self._end())

    def _element(self) -> n.Element:
        token = self._peek()
        assert token is not None or self._next()
        assert token is not None
        if token.kind is TokenKind.WORD:
            word = token.text.upper()
            if word == "FILTER":
                self._position += 1
                expression = self._primary()
                return n.Filter(expression, token.start, self._end())
            if word == "BIND":
                return self._bind(token)
            if word == "VALUES":
                self._position += 1
                return self._values(token)
            if word in ("OPTIONAL", "MINUS", "LATERAL"):
                self._position += 1
                return n.Nested(word, (self._group(),), token.start, self._end())
            if word in ("GRAPH", "SERVICE"):
                self._position += 1
                self._take_word("SILENT")
                name = self._term()
                return n.Nested(word, (self._group(),), token.start, self._end(), name)
        if self._at("{"):
            groups = [self._group()]
            while self._take_word("UNION"):
                groups.append(self._group())
            return n.Nested("UNION", tuple(groups), token.start, self._end())
        return self._statement()

    def _bind(self, token: Token) -> n.Bind:
        self._position += 1
        self._expect("(")
        expression = self._expression()
        self._expect_word("AS")
        variable = self._variable()
        self._expect(")")
        return n.Bind(expression, variable, token.start, self._end())

    def _values(self, token: Token) -> n.Values:
        names: list[str] = []
        rows: list[tuple[n.Term | None, ...]] = []
        if self._take("("):
            while not self._take(")"):
                names.append(self._variable())
            self._expect("{")
            while not self._take("}"):
                self._expect("(")
                row: list[n.Term | None] = []
                while not self._take(")"):
                    row.append(None if self._take_word("UNDEF") else self._term())
                rows.append(tuple(row))
        else:
            names.append(self._variable())
            self._expect("{")
            while not self._take("}"):
                rows.append((None if self._take_word("UNDEF") else self._term(),))
        return n.Values(tuple(names), tuple(rows), token.start, self._end())

    def _statement(self) -> n.Statement:
        token = self._peek()
        assert token is not None
        collected: list[n.TriplePattern] = []
        subject = self._node(collected)
        # A blank node property list may be a statement by itself.
        if not (collected and _ends_statement(self._peek())):
            self._properties(subject, collected)
        return n.Statement(tuple(collected), token.start, self._end())

    def _properties(self, subject: n.Term, collected: list[n.TriplePattern]) -> None:
        """Read verbs and objects of a subject."""
        while True:
            verb = self._verb()
            while True:
                inner: list[n.TriplePattern] = []
                collected.append(n.TriplePattern(subject, verb, self._node(inner)))
                collected.extend(inner)
                if not self._take(","):
                    break
            more = False
            while self._take(";"):
                more = True
            if not more or (ahead := self._peek()) is None or ahead.text in (".", "]", "}", "{"):
                return
            if ahead.kind is TokenKind.WORD and not ahead.is_word("A"):
                return

    def _verb(self) -> Variable | n.Path:
        token = self._peek()
        if token is not None and token.kind is TokenKind.VARIABLE:
            return Variable(self._variable())
        return self._path()

    def _path(self) -> n.Path:
        return self._path_of("|", lambda: self._path_of("/", self._path_step))

    def _path_of(self, operator: str, part: Callable[[], n.Path]) -> n.Path:
        parts = [part()]
        while self._take(operator):
            parts.append(part())
        return parts[0] if len(parts) == 1 else n.PathOperator(operator, tuple(parts))

    def _path_step(self) -> n.Path:
        if self._take("^"):
            return n.PathOperator("^", (self._path_step(),))
        if self._take("!"):
            return n.PathOperator("!", (self._path_primary(),))
        found = self._path_primary()
        for sign in ("*", "+", "?"):
            if self._take(sign):
                return n.PathOperator(sign, (found,))
        return found

    def _path_primary(self) -> n.Path:
        if self._take("("):
            found = self._path()
            self._expect(")")
            return found
        if self._take("^"):
            return n.PathOperator("^", (self._path_primary(),))
        return n.Link(self._iri())

    def _node(self, collected: list[n.TriplePattern]) -> n.Term:
        if self._take("["):
            self._anonymous += 1
            node = BlankNode(f"anon{self._anonymous}")
            if not self._take("]"):
                self._properties(node, collected)
                self._expect("]")
            return node
        if self._take("("):
            return self._collection(collected)
        return self._term()

    def _collection(self, collected: list[n.TriplePattern]) -> n.Term:
        head: n.Term = RDF.nil
        previous: BlankNode | None = None
        while not self._take(")"):
            self._anonymous += 1
            cell = BlankNode(f"anon{self._anonymous}")
            if previous is None:
                head = cell
            else:
                collected.append(_link(previous, RDF.rest, cell))
            inner: list[n.TriplePattern] = []
            collected.append(_link(cell, RDF.first, self._node(inner)))
            collected.extend(inner)
            previous = cell
        if previous is not None:
            collected.append(_link(previous, RDF.rest, RDF.nil))
        return head


def _ends_statement(token: Token | None) -> bool:
    if token is None or token.text in (".", "}", "{"):
        return True
    return token.kind is TokenKind.WORD and not token.is_word("A")


def _link(subject: n.Term, predicate: NamedNode, value: n.Term) -> n.TriplePattern:
    return n.TriplePattern(subject, n.Link(predicate), value)
