"""Reads a query's text into the tree of `sparql.syntax.nodes`, by recursive descent (SPARQL 1.1 Query, 19.8).

What it does not know (keywords run together) it does not guess: `NotUnderstood` says what, and the query is
left as it is. Whether a query is valid is for the engine to say. Triple terms, reifiers and annotations of
RDF 1.2 are read as the triple patterns that they stand for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pyoxigraph import BlankNode, NamedNode, Variable

from sparql.model.vocabulary import RDF
from sparql.syntax import nodes as n
from sparql.syntax.request_facts import QueryForm
from sparql.syntax.tokens import NotUnderstood, Prologue, TermReader, Token, TokenKind, read_prologue
from sparql.syntax.writing import write

_DEEPEST: Final = 60
"""Groups, expressions and terms that nest deeper are not read: each level is a call."""
_MODIFIERS: Final = frozenset({"GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES"})
_RELATIONS: Final = frozenset({"=", "!=", "<", ">", "<=", ">="})
_AGGREGATES: Final = frozenset({"COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"})
_CACHED_QUERIES: Final = 512
_LONGEST_CACHED: Final = 16_384
_REIFIES: Final = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies")
_Collected = list[n.TriplePattern]


@dataclass(frozen=True)
class ParsedQuery:
    """A client's text with its prologue and its tree, or with a tree that a rewriting made of it.

    `triple_terms` means that the text has what is new in RDF 1.2.
    """

    text: str
    prologue: Prologue
    query: n.Query
    triple_terms: bool = False

    def with_query(self, query: n.Query) -> ParsedQuery:
        """Another tree in place of this one."""
        return ParsedQuery(self.text, self.prologue, query, self.triple_terms)

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
    reader = QueryReader(text, prologue)
    return ParsedQuery(text, prologue, reader.query(), reader.triple_terms)


class QueryReader(TermReader):
    """Reads queries and groups."""

    triple_terms = False
    _depth = 0
    _anonymous = 0

    def query(self) -> n.Query:
        """All tokens as one query."""
        start = self._next()
        if start.is_word("SELECT"):
            found = self._select(start)
        elif start.is_word("ASK"):
            dataset, where = self._dataset_and_where()
            found = self._with_modifiers(QueryForm.ASK, start, dataset, where)
        elif start.is_word("CONSTRUCT"):
            found = self._construct(start)
        elif start.is_word("DESCRIBE"):
            found = self._describe(start)
        else:
            raise self._stop(start)
        if self._peek() is not None:
            raise self._stop(self._peek())
        return found

    def group(self) -> n.Group:
        """The group at the next brace."""
        start = self._expect("{").start
        self._deeper("groups")
        elements: list[n.Element] = []
        if self._at_word("SELECT"):
            begin = self._next()
            query = self._select(begin)
            elements.append(n.SubSelect(query, start=begin.start, end=self._end()))
        else:
            while not self._at("}"):
                if not self._take("."):
                    elements.append(self._element())
        self._expect("}")
        self._depth -= 1
        return n.Group(tuple(elements), start=start, end=self._end())

    def _deeper(self, what: str) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotUnderstood(f"{what} nest deeper than {_DEEPEST} levels")

    # Forms and modifiers, rule 7 on.

    def _select(self, start: Token) -> n.Query:
        distinct = self._take_word("DISTINCT", "REDUCED")
        projection: list[n.Projection] = []
        grouped = False
        every = self._take("*")
        while not (every or self._at_word("FROM", "WHERE") or self._at("{")):
            token = self._peek()
            if token is not None and token.kind is TokenKind.VARIABLE:
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
            projection=None if every else tuple(projection),
            distinct=distinct,
            grouped=grouped,
        )

    def _construct(self, start: Token) -> n.Query:
        template = self.group() if self._at("{") else None
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
        where = self.group() if self._take_word("WHERE") or self._at("{") else None
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
        return dataset, self.group()

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
            start=start.start,
            end=self._end(),
        )

    def _conditions(self, named: list[str]) -> list[n.Expression]:
        """Keys of GROUP BY or HAVING, at least one; `named` gets the variables of AS."""
        found: list[n.Expression] = []
        while not self._modifiers_end():
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
        while not self._modifiers_end():
            descending = self._at_word("DESC")
            self._take_word("ASC", "DESC")
            keys.append(n.OrderKey(self._primary(), descending))
        return keys

    def _modifiers_end(self) -> bool:
        return self._peek() is None or self._at_word(*_MODIFIERS) or self._at("}")

    # Groups, rule 53 on.

    def _element(self) -> n.Element:
        token = self._peek()
        if token is None:
            raise self._stop(token)
        word = token.text.upper() if token.kind is TokenKind.WORD else ""
        match word:
            case "FILTER":
                self._position += 1
                return n.Filter(self._primary(), start=token.start, end=self._end())
            case "BIND":
                return self._bind()
            case "VALUES":
                return self._values(self._next())
            case "OPTIONAL" | "MINUS" | "LATERAL":
                self._position += 1
                return n.Nested(word, (self.group(),), start=token.start, end=self._end())
            case "GRAPH" | "SERVICE":
                self._position += 1
                silent, name = self._take_word("SILENT"), self._name()
                group = self.group()
                return n.Nested(word, (group,), name, silent, start=token.start, end=self._end())
        if self._at("{"):
            groups = [self.group()]
            while self._take_word("UNION"):
                groups.append(self.group())
            return n.Nested("UNION", tuple(groups), start=token.start, end=self._end())
        return self._statement()

    def _bind(self) -> n.Bind:
        start = self._next().start
        self._expect("(")
        expression = self._expression()
        self._expect_word("AS")
        variable = self._variable()
        self._expect(")")
        return n.Bind(expression, variable, start=start, end=self._end())

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
                    row.append(self._cell())
                rows.append(tuple(row))
        else:
            names.append(self._variable())
            self._expect("{")
            while not self._take("}"):
                rows.append((self._cell(),))
        return n.Values(tuple(names), tuple(rows), start=token.start, end=self._end())

    def _cell(self) -> n.Term | None:
        return None if self._take_word("UNDEF") else self._term()

    # Triple patterns and paths, rule 75 on.

    def _statement(self) -> n.Statement:
        start = self._here()
        collected: _Collected = []
        subject = self._node(collected)
        # A blank node property list or a reified triple may be a statement by itself.
        if not (collected and self._statement_ends()):
            self._properties(subject, collected)
        return n.Statement(tuple(collected), start=start, end=self._end())

    def _statement_ends(self) -> bool:
        token = self._peek()
        if token is None or token.text in (".", "}", "{"):
            return True
        return token.kind is TokenKind.WORD and not token.is_word("A")

    def _properties(self, subject: n.Term, collected: _Collected) -> None:
        """Read verbs and objects of a subject."""
        while True:
            verb = self._verb()
            while True:
                inner: _Collected = []
                pattern = n.TriplePattern(subject, verb, self._node(inner))
                collected += (pattern, *inner)
                self._annotations(pattern, collected)
                if not self._take(","):
                    break
            more = False
            while self._take(";"):
                more = True
            if not more or (ahead := self._peek()) is None or ahead.text in (".", "]", "}", "{", "|}"):
                return
            if ahead.kind is TokenKind.WORD and not ahead.is_word("A"):
                return

    def _annotations(self, pattern: n.TriplePattern, collected: _Collected) -> None:
        """Reifiers and annotations behind an object (SPARQL 1.2, 4.1.5)."""
        reifier: n.Term | None = None
        while True:
            if self._take("~"):
                reifier = self._reifier(pattern, collected)
            elif self._take("{|"):
                self._properties(reifier or self._reify(pattern, self._anon(), collected), collected)
                self._expect("|}")
                reifier = None
            else:
                return

    def _reifier(self, pattern: n.TriplePattern, collected: _Collected) -> n.Term:
        token = self._peek()
        named = token is not None and token.kind in (
            *(TokenKind.VARIABLE, TokenKind.IRI, TokenKind.PREFIXED_NAME, TokenKind.BLANK_NODE),
        )
        node = self._term() if named else self._anon()
        if not named and self._take("["):
            self._expect("]")
        return self._reify(pattern, node, collected)

    def _reify(self, pattern: n.TriplePattern, reifier: n.Term, collected: _Collected) -> n.Term:
        self.triple_terms = True
        verb = pattern.verb
        if isinstance(verb, n.PathOperator):
            raise NotUnderstood("a path is reified")
        predicate = verb.iri if isinstance(verb, n.Link) else verb
        term = n.TripleTerm(pattern.subject, predicate, pattern.object)
        collected.append(_link(reifier, _REIFIES, term))
        return reifier

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
            self._deeper("paths")
            found = self._path()
            self._depth -= 1
            self._expect(")")
            return found
        if self._take("^"):
            return n.PathOperator("^", (self._path_primary(),))
        return n.Link(self._iri())

    def _node(self, collected: _Collected) -> n.Term:
        if not (self._at("[") or self._at("(") or self._at("<<")):
            return self._term()
        self._deeper("terms")
        if self._take("["):
            node: n.Term = self._anon()
            if not self._take("]"):
                self._properties(node, collected)
                self._expect("]")
        elif self._take("("):
            node = self._collection(collected)
        else:
            node = self._reified_triple(collected)
        self._depth -= 1
        return node

    def _reified_triple(self, collected: _Collected) -> n.Term:
        self._expect("<<")
        pattern = n.TriplePattern(self._node(collected), self._verb(), self._node(collected))
        if self._take("~"):
            reifier = self._reifier(pattern, collected)
        else:
            reifier = self._reify(pattern, self._anon(), collected)
        self._expect(">>")
        return reifier

    def _collection(self, collected: _Collected) -> n.Term:
        head: n.Term = RDF.nil
        previous: BlankNode | None = None
        while not self._take(")"):
            cell = self._anon()
            if previous is None:
                head = cell
            else:
                collected.append(_link(previous, RDF.rest, cell))
            inner: _Collected = []
            collected += (_link(cell, RDF.first, self._node(inner)), *inner)
            previous = cell
        if previous is not None:
            collected.append(_link(previous, RDF.rest, RDF.nil))
        return head

    def _anon(self) -> BlankNode:
        self._anonymous += 1
        return BlankNode(f"anon{self._anonymous}")

    def _term(self) -> n.Term:
        token = self._peek()
        if token is not None and token.kind is TokenKind.VARIABLE:
            return Variable(self._variable())
        if token is not None and token.kind is TokenKind.BLANK_NODE:
            return self._blank_node()
        return self._triple_term() if self._at("<<(") else self._constant()

    def _triple_term(self) -> n.TripleTerm:
        self.triple_terms = True
        self._deeper("triple terms")
        self._expect("<<(")
        found = n.TripleTerm(self._term(), self._name(), self._term())
        self._expect(")>>")
        self._depth -= 1
        return found

    # Expressions, rule 110 on.

    def _expression(self) -> n.Expression:
        self._deeper("expressions")
        found = self._chain("||", lambda: self._chain("&&", self._relation))
        self._depth -= 1
        return found

    def _chain(self, sign: str, part: Callable[[], n.Expression]) -> n.Expression:
        begin, parts = self._here(), [part()]
        while self._take(sign):
            parts.append(part())
        return parts[0] if len(parts) == 1 else self._operation(sign, begin, *parts)

    def _operation(self, name: str, begin: int, *arguments: n.Expression) -> n.Operation:
        return n.Operation(name, arguments, start=begin, end=self._end())

    def _relation(self) -> n.Expression:
        begin, left = self._here(), self._sum()
        token = self._peek()
        if token is not None and token.kind is TokenKind.PUNCTUATION and token.text in _RELATIONS:
            self._position += 1
            return self._operation(token.text, begin, left, self._sum())
        negated = self._take_word("NOT")
        if negated or self._at_word("IN"):
            self._expect_word("IN")
            return self._operation("NOT IN" if negated else "IN", begin, left, *self._arguments())
        return left

    def _sum(self) -> n.Expression:
        begin, found = self._here(), self._product()
        while self._at("+") or self._at("-"):
            found = self._operation(self._next().text, begin, found, self._product())
        return found

    def _product(self) -> n.Expression:
        begin, found = self._here(), self._unary()
        while self._at("*") or self._at("/"):
            found = self._operation(self._next().text, begin, found, self._unary())
        return found

    def _unary(self) -> n.Expression:
        token = self._peek()
        if token is not None and token.text in ("!", "+", "-") and token.kind is TokenKind.PUNCTUATION:
            following = self._peek(1)
            if token.text != "!" and following is not None and following.kind is TokenKind.NUMBER:
                return n.Constant(self._constant(), start=token.start, end=self._end())
            self._position += 1
            self._deeper("expressions")
            found = self._operation(f"unary {token.text}", token.start, self._unary())
            self._depth -= 1
            return found
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
            return n.VariableUse(self._variable(), start=token.start, end=self._end())
        if token.kind in (TokenKind.IRI, TokenKind.PREFIXED_NAME):
            iri = self._iri()
            if not self._at("("):
                return n.Constant(iri, start=token.start, end=self._end())
            return n.Call(iri, self._arguments(), start=token.start, end=self._end())
        if token.kind is TokenKind.WORD and not token.is_word("TRUE", "FALSE"):
            return self._built_in(token)
        term = self._triple_term() if self._at("<<(") else self._constant()
        return n.Constant(term, start=token.start, end=self._end())

    def _built_in(self, token: Token) -> n.Expression:
        self._position += 1
        negated = token.is_word("NOT")
        if negated:
            self._expect_word("EXISTS")
        if negated or token.is_word("EXISTS"):
            return n.Exists(self.group(), negated, start=token.start, end=self._end())
        return self._operation(token.text.upper(), token.start, *self._arguments())

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


def _link(subject: n.Term, predicate: NamedNode, value: n.Term) -> n.TriplePattern:
    return n.TriplePattern(subject, n.Link(predicate), value)


def _aggregates(expression: n.Expression) -> bool:
    """Whether an expression has an aggregate; a function of geof: whose name says so is one too."""
    return any(
        (isinstance(part, n.Operation) and part.name in _AGGREGATES)
        or (isinstance(part, n.Call) and "/agg" in part.iri.value)
        for part in n.walk_expressions(expression)
    )
