"""Reads a query's text into the tree of `sparql.rewriting.nodes`, by recursive descent over its tokens.

It reads SPARQL 1.1 queries. What it does not know (RDF 1.2 terms, keywords run together) it does not guess:
`NotUnderstood` says what, and the query is left as it is. Whether a query is valid is for the engine to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from sparql.rewriting import nodes as n
from sparql.rewriting.literals import read_number, read_string
from sparql.syntax import Prologue, QueryForm, read_prologue
from sparql.tokens import Token, TokenKind, read_tokens
from sparql.vocabulary import RDF

_RELATIONS = frozenset({"=", "!=", "<", ">", "<=", ">="})
_MODIFIERS = frozenset({"GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES"})
_DEEPEST = 60
_CACHED_QUERIES = 512
_LONGEST_CACHED = 16_384


class NotUnderstood(Exception):
    """The text is not read here; `reason` says where it stopped."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ParsedQuery:
    """A query's text with its tree and its prologue."""

    def __init__(self, text: str, prologue: Prologue, query: n.Query) -> None:
        self.text = text
        self.prologue = prologue
        self.query = query


def parse_query(text: str, base: str | None = None) -> ParsedQuery:
    """The tree of a query; texts that repeat are remembered. Raises NotUnderstood."""
    found = _remembered(text, base) if len(text) <= _LONGEST_CACHED else _parse(text, base)
    if isinstance(found, NotUnderstood):
        raise NotUnderstood(found.reason)
    return found


@lru_cache(maxsize=_CACHED_QUERIES)
def _remembered(text: str, base: str | None) -> ParsedQuery | NotUnderstood:
    return _parse(text, base)


def _parse(text: str, base: str | None) -> ParsedQuery | NotUnderstood:
    prologue = read_prologue(text, 0, Prologue({}, base, 0))
    try:
        return ParsedQuery(text, prologue, _Parser(text, prologue).query())
    except NotUnderstood as error:
        return error


class _Parser:
    def __init__(self, text: str, prologue: Prologue) -> None:
        self._text = text
        self._prologue = prologue
        self._tokens: Sequence[Token] = list(read_tokens(text, prologue.end))
        self._position = 0
        self._depth = 0
        self._labels: set[str] = set()
        self._anonymous = 0

    # Tokens

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

    # Queries

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
        begin = self._end()
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
        span = (begin, self._end())
        dataset, where = self._dataset_and_where()
        return self._with_modifiers(
            QueryForm.SELECT,
            start,
            dataset,
            where,
            projection=None if projection is None else tuple(projection),
            span=span,
            distinct=distinct,
            grouped=grouped,
        )

    def _construct(self, start: Token) -> n.Query:
        if self._at("{"):
            labels = self._labels
            self._group()
            # Blank nodes of the template are made anew for each solution: they join with nothing.
            self._labels = labels
            return self._with_modifiers(QueryForm.CONSTRUCT, start, *self._dataset_and_where())
        dataset, where = self._dataset_and_where()
        return self._with_modifiers(QueryForm.CONSTRUCT, start, dataset, where, short=True)

    def _describe(self, start: Token) -> n.Query:
        if not self._take("*"):
            while (token := self._peek()) is not None and token.kind in (
                TokenKind.VARIABLE,
                TokenKind.IRI,
                TokenKind.PREFIXED_NAME,
            ):
                self._position += 1
        dataset = self._dataset()
        where = self._group() if self._at("{") or self._take_word("WHERE") else None
        return self._with_modifiers(QueryForm.DESCRIBE, start, dataset, where)

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
        span: tuple[int, int] = (0, 0),
        distinct: bool = False,
        grouped: bool = False,
        short: bool = False,
    ) -> n.Query:
        order: list[n.OrderKey] = []
        limit: int | None = None
        offset = 0
        values: n.Values | None = None
        while (token := self._peek()) is not None and token.is_word(*_MODIFIERS):
            self._position += 1
            match token.text.upper():
                case "GROUP":
                    self._expect_word("BY")
                    grouped = True
                    self._conditions()
                case "HAVING":
                    grouped = True
                    self._conditions()
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
            span,
            distinct,
            dataset,
            grouped,
            tuple(order),
            limit,
            offset,
            values,
            short,
            frozenset(self._labels),
        )

    def _conditions(self) -> None:
        """Keys of GROUP BY or HAVING: at least one."""
        count = 0
        while (token := self._peek()) is not None and not token.is_word(*_MODIFIERS) and token.text != "}":
            if self._take("("):
                self._expression()
                if self._take_word("AS"):
                    self._variable()
                self._expect(")")
            else:
                self._primary()
            count += 1
        if not count:
            raise self._stop(self._peek())

    def _order(self) -> list[n.OrderKey]:
        keys: list[n.OrderKey] = []
        while (token := self._peek()) is not None and not token.is_word(*_MODIFIERS) and token.text != "}":
            descending = token.is_word("DESC")
            if token.is_word("ASC", "DESC"):
                self._position += 1
            keys.append(n.OrderKey(self._primary(), descending))
        return keys

    # Patterns

    def _group(self) -> n.Group:
        start = self._expect("{").start
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotUnderstood(f"groups nest deeper than {_DEEPEST} levels")
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
        plain = not (self._at("[") or self._at("("))
        subject = self._node(collected)
        done = self._peek()
        if collected and _ends_statement(done):
            # A blank node property list may stand alone.
            return n.Statement(token.start, self._end(), tuple(collected), plain=False)
        plain = self._properties(subject, collected) and plain
        return n.Statement(token.start, self._end(), tuple(collected), plain)

    def _properties(self, subject: n.Term, collected: list[n.TriplePattern]) -> bool:
        """Verbs and objects of a subject; whether all objects are plain terms."""
        plain = True
        while True:
            verb_token = self._peek()
            verb = self._verb()
            verb_end = self._end()
            assert verb_token is not None
            begin, count = len(collected), 0
            while True:
                plain = plain and not (self._at("[") or self._at("("))
                inner: list[n.TriplePattern] = []
                value = self._node(inner)
                collected.append(
                    n.TriplePattern(subject, verb, value, verb_token.start, verb_end, self._end())
                )
                collected.extend(inner)
                count += 1
                if not self._take(","):
                    break
            if count > 1:
                collected[begin:] = [_shared(one) for one in collected[begin:]]
            more = False
            while self._take(";"):
                more = True
            if not more or (ahead := self._peek()) is None or ahead.text in (".", "]", "}", "{"):
                return plain
            if ahead.kind is TokenKind.WORD and not ahead.is_word("A"):
                return plain

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
                collected.append(_hidden(previous, RDF.rest, cell))
            inner: list[n.TriplePattern] = []
            collected.append(_hidden(cell, RDF.first, self._node(inner)))
            collected.extend(inner)
            previous = cell
        if previous is not None:
            collected.append(_hidden(previous, RDF.rest, RDF.nil))
        return head

    # Terms

    def _term(self) -> n.Term:
        token = self._peek()
        if token is None:
            raise self._stop(token)
        if token.kind is TokenKind.VARIABLE:
            return Variable(self._variable())
        if token.kind is TokenKind.BLANK_NODE:
            self._position += 1
            self._labels.add(token.text)
            return BlankNode("label" + token.text[2:].encode().hex())
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

    # Expressions

    def _expression(self) -> n.Expression:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotUnderstood(f"expressions nest deeper than {_DEEPEST} levels")
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


_AGGREGATES = frozenset({"COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"})


def _aggregates(expression: n.Expression) -> bool:
    """Whether an expression has an aggregate; a function of geof: whose name says so is one too."""
    return any(
        (isinstance(part, n.Operation) and part.name in _AGGREGATES)
        or (isinstance(part, n.Call) and "/agg" in part.iri.value)
        for part in n.walk_expressions(expression)
    )


def _ends_statement(token: Token | None) -> bool:
    if token is None or token.text in (".", "}", "{"):
        return True
    return token.kind is TokenKind.WORD and not token.is_word("A")


def _shared(triple: n.TriplePattern) -> n.TriplePattern:
    return n.TriplePattern(
        triple.subject,
        triple.verb,
        triple.object,
        triple.verb_start,
        triple.verb_end,
        triple.object_end,
        alone=False,
    )


def _hidden(subject: n.Term, predicate: NamedNode, value: n.Term) -> n.TriplePattern:
    return n.TriplePattern(subject, n.Link(predicate), value, 0, 0, 0, alone=False)
