"""Reads a query's text into the tree of `sparql.rewriting.ast.nodes`, by recursive descent over its tokens.

It reads SPARQL 1.1 queries. What it does not know (RDF 1.2 terms, keywords run together) it does not guess:
`NotUnderstood` says what, and the query is left as it is. Whether a query is valid is for the engine to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.pattern_reader import PatternReader
from sparql.rewriting.ast.term_reader import NotUnderstood
from sparql.rewriting.ast.writing import write
from sparql.syntax.request_facts import Prologue, QueryForm, read_prologue
from sparql.syntax.tokens import Token, TokenKind

_MODIFIERS = frozenset({"GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES"})
_CACHED_QUERIES = 512
_LONGEST_CACHED = 16_384


@dataclass(frozen=True)
class ParsedQuery:
    """A client's text with its prologue and its tree, or with a tree that a rewriting made of it."""

    text: str
    prologue: Prologue
    query: n.Query

    def with_query(self, query: n.Query) -> ParsedQuery:
        """Another tree in place of this one."""
        return ParsedQuery(self.text, self.prologue, query)

    def written(self) -> str:
        """The query as text: byte for byte the client's, but for what rewritings replaced."""
        query = self.query
        return f"{self.text[: query.start]}{write(query, self.text)}{self.text[query.end :]}"

    def text_of(self, node: n.Node) -> str:
        """One node as text."""
        return write(node, self.text)


def parse_query(text: str, base: str | None = None) -> ParsedQuery:
    """The tree of a query; texts that repeat are remembered. Raises NotUnderstood."""
    if len(text) > _LONGEST_CACHED:
        return read_query(text, base)
    found = _remembered(text, base)
    if isinstance(found, NotUnderstood):
        raise NotUnderstood(found.reason)
    return found


@lru_cache(maxsize=_CACHED_QUERIES)
def _remembered(text: str, base: str | None) -> ParsedQuery | NotUnderstood:
    try:
        return read_query(text, base)
    except NotUnderstood as error:
        return error


def read_query(text: str, base: str | None = None) -> ParsedQuery:
    """As `parse_query`, without remembering."""
    prologue = read_prologue(text, 0, Prologue({}, base, 0))
    return ParsedQuery(text, prologue, _QueryReader(text, prologue).query())


class _QueryReader(PatternReader):
    """Reads a whole query."""

    def query(self) -> n.Query:
        found = self._query(outermost=True)
        if self._peek() is not None:
            raise self._stop(self._peek())
        return found

    def _query(self, *, outermost: bool) -> n.Query:
        start = self._next()
        if start.is_word("SELECT"):
            return self._select(start)
        if not outermost:
            raise self._stop(start)
        if start.is_word("ASK"):
            return self._with_modifiers(QueryForm.ASK, start, *self._dataset_and_where())
        if start.is_word("CONSTRUCT"):
            return self._construct(start)
        if start.is_word("DESCRIBE"):
            return self._describe(start)
        raise self._stop(start)

    def _select(self, start: Token) -> n.Query:
        distinct = self._take_word("DISTINCT", "REDUCED")
        projection: list[n.Projection] | None = []
        grouped = False
        if self._take("*"):
            projection = None
        else:
            assert projection is not None
            while (token := self._peek()) is not None and not (
                token.is_word("FROM", "WHERE") or self._at("{")
            ):
                if token.kind is TokenKind.VARIABLE:
                    projection.append(n.Projection(self._variable()))
                    continue
                self._expect("(")
                expression = self._expression()
                self._expect_word("AS")
                projection.append(n.Projection(self._variable(), expression))
                self._expect(")")
                grouped = grouped or _aggregates(expression)
        dataset, where = self._dataset_and_where()
        return self._with_modifiers(
            QueryForm.SELECT,
            start,
            dataset,
            where,
            projection=None if projection is None else tuple(projection),
            distinct=distinct,
            grouped=grouped,
        )

    def _construct(self, start: Token) -> n.Query:
        template = self._group() if self._at("{") else None
        names = () if template is None else tuple(n.names_in(template))
        dataset, where = self._dataset_and_where()
        return self._with_modifiers(
            QueryForm.CONSTRUCT, start, dataset, where, short=template is None, names=names
        )

    def _describe(self, start: Token) -> n.Query:
        names: list[str] = []
        if not self._take("*"):
            while (token := self._peek()) is not None and token.kind in (
                TokenKind.VARIABLE,
                TokenKind.IRI,
                TokenKind.PREFIXED_NAME,
            ):
                self._position += 1
                names += [token.text[1:]] if token.kind is TokenKind.VARIABLE else []
        dataset = self._dataset()
        where = self._group() if self._at("{") or self._take_word("WHERE") else None
        return self._with_modifiers(QueryForm.DESCRIBE, start, dataset, where, names=tuple(names))

    def _dataset(self) -> bool:
        found = False
        while self._take_word("FROM"):
            self._take_word("NAMED")
            self._iri()
            found = True
        return found

    def _dataset_and_where(self) -> tuple[bool, n.Group]:
        dataset = self._dataset()
        self._take_word("WHERE")
        return dataset, self._group()

    def _with_modifiers(
        self,
        form: QueryForm,
        start: Token,
        dataset: bool,
        where: n.Group | None,
        *,
        projection: tuple[n.Projection, ...] | None = (),
        distinct: bool = False,
        grouped: bool = False,
        short: bool = False,
        names: tuple[str, ...] = (),
    ) -> n.Query:
        order: list[n.OrderKey] = []
        limit: int | None = None
        offset = 0
        values: n.Values | None = None
        conditions: list[n.Expression] = []
        named: list[str] = []
        while (token := self._peek()) is not None and token.is_word(*_MODIFIERS):
            self._position += 1
            match token.text.upper():
                case "GROUP":
                    self._expect_word("BY")
                    grouped = True
                    conditions += self._conditions(named)
                case "HAVING":
                    grouped = True
                    conditions += self._conditions(named)
                case "ORDER":
                    self._expect_word("BY")
                    order = self._order()
                case "LIMIT":
                    limit = int(self._number())
                case "OFFSET":
                    offset = int(self._number())
                case _:
                    values = self._values(token)
        return n.Query(
            form,
            where,
            start.start,
            self._end(),
            projection,
            distinct,
            dataset,
            grouped,
            tuple(order),
            limit,
            offset,
            values,
            short=short,
            conditions=tuple(conditions),
            names=(*names, *named),
        )

    def _conditions(self, named: list[str]) -> list[n.Expression]:
        """Keys of GROUP BY or HAVING, at least one; `named` gets the variables of AS."""
        found: list[n.Expression] = []
        while (token := self._peek()) is not None and not token.is_word(*_MODIFIERS) and token.text != "}":
            if self._take("("):
                found.append(self._expression())
                if self._take_word("AS"):
                    named.append(self._variable())
                self._expect(")")
            else:
                found.append(self._primary())
        if not found:
            raise self._stop(self._peek())
        return found

    def _order(self) -> list[n.OrderKey]:
        keys: list[n.OrderKey] = []
        while (token := self._peek()) is not None and not token.is_word(*_MODIFIERS) and token.text != "}":
            descending = token.is_word("DESC")
            if token.is_word("ASC", "DESC"):
                self._position += 1
            keys.append(n.OrderKey(self._primary(), descending))
        return keys


_AGGREGATES = frozenset({"COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"})


def _aggregates(expression: n.Expression) -> bool:
    """Whether an expression has an aggregate; a function of geof: whose name says so is one too."""
    return any(
        (isinstance(part, n.Operation) and part.name in _AGGREGATES)
        or (isinstance(part, n.Call) and "/agg" in part.iri.value)
        for part in n.walk_expressions(expression)
    )
