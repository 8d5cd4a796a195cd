"""Facts about a request's text that must be known before it runs.

Whether it is a query or an update, its form, where it reaches out (SERVICE, LOAD), whether it ranges over
named graphs. The facts come from the text's tokens, read by SPARQL's own lexical rules, never from a search
for a word: a SERVICE in a string, a comment or an IRI does not count. Whether a text is valid SPARQL is for
the engine to say; where the two could disagree on a token, the reading here is the one that sees more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType

from sparql.model.errors import RemoteAccessRefused
from sparql.syntax.tokens import Token, TokenKind, read_prologue, read_tokens


class Kind(StrEnum):
    """What a request asks for (the two start symbols of the SPARQL grammar, 19.8)."""

    QUERY = "query"
    UPDATE = "update"


class QueryForm(StrEnum):
    """The four query forms (SPARQL 1.1 Query, 16)."""

    SELECT = "select"
    ASK = "ask"
    CONSTRUCT = "construct"
    DESCRIBE = "describe"

    @property
    def gives_graph(self) -> bool:
        """Whether the answer is a graph rather than a table or a truth value."""
        return self in (QueryForm.CONSTRUCT, QueryForm.DESCRIBE)


@dataclass(frozen=True)
class RequestFacts:
    """What is known of a request's text.

    ``kind`` is None when the text is neither a query nor an update (the engine will say why). ``services``
    and ``loads`` hold the targets as written. ``dataset_clause`` is true for FROM, USING or WITH;
    ``graph_variable`` of a GRAPH over a variable. ``iris`` are the absolute IRIs the text names; they are
    collected only where GRAPH, SERVICE, LOAD or a dataset clause may occur.
    """

    kind: Kind | None
    form: QueryForm | None = None
    prefixes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    base: str | None = None
    services: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    dataset_clause: bool = False
    graph_variable: bool = False
    iris: frozenset[str] = frozenset()

    def refuse_remote_access(self) -> None:
        """Raise RemoteAccessRefused when the request would reach another host."""
        if self.services:
            raise RemoteAccessRefused("SERVICE", self.services[0])
        if self.loads:
            raise RemoteAccessRefused("LOAD", self.loads[0])


_SPACE = r"(?:[ \t\r\n]|\#[^\r\n]*(?:[\r\n]|\Z))*"
_FIRST_WORD = re.compile(
    rf"{_SPACE}(?:(?P<query>SELECT|ASK|CONSTRUCT|DESCRIBE)"
    r"|(?P<update>INSERT|DELETE|WITH|LOAD|CLEAR|DROP|CREATE|ADD|MOVE|COPY))",
    re.IGNORECASE,
)
_NEEDS_TOKENS = ("SERVICE", "LOAD", "GRAPH", "FROM", "USING", "WITH")
_CACHED_LENGTH = 16_384
_MAYBE_STAR = re.compile(r"SELECT\s*(?:(?:DISTINCT|REDUCED)\s*)?(?:#|\*)", re.IGNORECASE)
_STAR_AT_ONCE = re.compile(r"\s*SELECT\s*(?:(?:DISTINCT|REDUCED)\s*)?\*", re.IGNORECASE)


def facts_of(text: str) -> RequestFacts:
    """What is known of a request from its text alone; texts that repeat are remembered."""
    return _remembered(text) if len(text) <= _CACHED_LENGTH else _read(text)


@lru_cache(maxsize=2048)
def _remembered(text: str) -> RequestFacts:
    return _read(text)


def _read(text: str) -> RequestFacts:
    prologue = read_prologue(text)
    first = _FIRST_WORD.match(text, prologue.end)
    if first is None:
        return RequestFacts(None, prefixes=prologue.prefixes, base=prologue.base)
    kind = Kind.QUERY if first["query"] else Kind.UPDATE
    form = QueryForm(first["query"].lower()) if first["query"] else None
    rest = text[first.start() :].upper()
    if not any(word in rest for word in _NEEDS_TOKENS):
        return RequestFacts(kind, form, prologue.prefixes, prologue.base)
    tokens = list(read_tokens(text, prologue.end))
    return RequestFacts(
        kind,
        form,
        prologue.prefixes,
        prologue.base,
        services=_targets("SERVICE", tokens),
        loads=_targets("LOAD", tokens) if kind is Kind.UPDATE else (),
        dataset_clause=any(_is_dataset_word(token) for token in tokens),
        graph_variable=any(
            token.is_word_ending("GRAPH") and following.kind is TokenKind.VARIABLE
            for token, following in pairwise(tokens)
        ),
        iris=frozenset(iri for token in tokens if (iri := prologue.expand(token)) is not None),
    )


def _targets(keyword: str, tokens: list[Token]) -> tuple[str, ...]:
    """What follows each occurrence of a keyword.

    The engine's grammar needs no space around keywords: ``trueSERVICE``, ``SERVICESILENT`` and, before a
    group, ``SERVICEex:name`` are read by it as SERVICE, so they are here.
    """
    found = []
    for index, token in enumerate(tokens):
        if token.kind is TokenKind.WORD and keyword in token.text.upper():
            rest = [later for later in tokens[index + 1 : index + 3] if later.text.upper() != "SILENT"]
            found.append(rest[0].text if rest else "")
        elif token.kind is TokenKind.PREFIXED_NAME and keyword in token.text.partition(":")[0].upper():
            before = tokens[index - 1].text.upper() if index else ""
            after = tokens[index + 1].text if index + 1 < len(tokens) else ""
            if before not in _WORDS_BEFORE_GRAPH_NAME and (after == "{" or keyword == "LOAD"):
                found.append(token.text)
    return tuple(found)


_WORDS_BEFORE_GRAPH_NAME = frozenset({"GRAPH", "FROM", "NAMED", "WITH", "USING", "INTO", "TO", "PREFIX"})


def _is_dataset_word(token: Token) -> bool:
    if token.kind is not TokenKind.WORD:
        return False
    word = token.text.upper()
    return word in ("FROM", "USING", "WITH") or word.endswith(("FROM", "FROMNAMED", "USINGNAMED"))


def with_columns(text: str, columns: Callable[[], Iterable[str]]) -> str:
    """The query with these names in place of the `*` of its outer SELECT; as it is where that has none.

    The engine sorts the columns of `*` by name. SPARQL leaves the order open (18.2.1), but who writes `*`
    expects subject before object, as in other stores.
    """
    place = _star(text) if _MAYBE_STAR.search(text) else None
    shown = " ".join("?" + name for name in columns()) if place is not None else ""
    return f"{text[:place]} {shown} {text[place + 1 :]}" if place is not None and shown else text


def as_in(text: str, names: Iterable[str]) -> list[str]:
    """The names of variables in the order of their first appearance in a text; others come last."""
    wanted = set(names)
    named = (token.text[1:] for token in read_tokens(text) if token.kind is TokenKind.VARIABLE)
    ordered = [name for name in dict.fromkeys(named) if name in wanted]
    return ordered + sorted(wanted.difference(ordered))


def _star(text: str) -> int | None:
    """Where the `*` of the outer SELECT is."""
    if (found := _STAR_AT_ONCE.match(text)) is not None:
        return found.end() - 1
    selecting = False
    for token in read_tokens(text):
        if selecting and not token.is_word("DISTINCT", "REDUCED"):
            return token.start if token.text == "*" else None
        if token.is_word("CONSTRUCT", "DESCRIBE", "ASK"):
            return None
        selecting = selecting or token.is_word("SELECT")
    return None
