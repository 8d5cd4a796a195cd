"""Facts about a request's text that must be known before it runs.

Whether it is a query or an update, its form, where it reaches out (SERVICE, LOAD), whether it ranges over
named graphs. The facts come from the text's tokens, read by SPARQL's own lexical rules, never from a search
for a word: a SERVICE in a string, a comment or an IRI is none. Whether a text is valid SPARQL is for the
engine to say; where the two could disagree on a token, the reading here is the one that sees more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from urllib.parse import urljoin

from sparql.model.errors import RemoteAccessRefused, SyntaxProblem
from sparql.syntax.tokens import Token, TokenKind, read_tokens


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
            written = _unescape_codepoints(token.text[1:-1])
            return _resolved(self.base, written)
        if token.kind is TokenKind.PREFIXED_NAME:
            prefix, _, local = token.text.partition(":")
            namespace = self.prefixes.get(prefix)
            return None if namespace is None else namespace + _LOCAL_ESCAPE.sub(r"\1", local)
        return None


_SPACE = r"(?:[ \t\r\n]|\#[^\r\n]*(?:[\r\n]|\Z))*"
_DECLARATION = re.compile(
    rf"""{_SPACE}(?:
        BASE{_SPACE}<(?P<base>[^<>"{{}}|^`\x00-\x20]*)>
      | PREFIX{_SPACE}(?P<prefix>[^\s:<>]*):{_SPACE}<(?P<namespace>[^<>"{{}}|^`\x00-\x20]*)>
      | VERSION{_SPACE}(?:"[^"\r\n]*"|'[^'\r\n]*')
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_FIRST_WORD = re.compile(
    rf"{_SPACE}(?:(?P<query>SELECT|ASK|CONSTRUCT|DESCRIBE)"
    r"|(?P<update>INSERT|DELETE|WITH|LOAD|CLEAR|DROP|CREATE|ADD|MOVE|COPY))",
    re.IGNORECASE,
)
_NEEDS_TOKENS = ("SERVICE", "LOAD", "GRAPH", "FROM", "USING", "WITH")
_LOCAL_ESCAPE = re.compile(r"\\([_~.\-!$&'()*+,;=/?#@%])")
_CODEPOINT = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_CACHED_LENGTH = 16_384


def _resolved(base: str | None, written: str) -> str:
    """An IRI against the base (RFC 3986, 5.2). An absolute one stays as it is written, and an empty fragment
    stays too: `http://e/ns#` names another thing than `http://e/ns`, which is what `urljoin` makes of it."""
    if not base or _ABSOLUTE.match(written):
        return written
    return urljoin(base, written) + ("#" if written.endswith("#") else "")


def facts_of(text: str) -> RequestFacts:
    """What is known of a request from its text alone; texts that repeat are remembered."""
    return _remembered(text) if len(text) <= _CACHED_LENGTH else _read(text)


def read_prologue(text: str, position: int = 0, outer: Prologue | None = None) -> Prologue:
    """The BASE, PREFIX and VERSION declarations from ``position`` on, added to those of ``outer``."""
    prefixes = dict(outer.prefixes) if outer else {}
    base = outer.base if outer else None
    while found := _DECLARATION.match(text, position):
        if (written := found["base"]) is not None:
            base = _resolved(base, _unescape_codepoints(written))
        elif (prefix := found["prefix"]) is not None:
            namespace = _unescape_codepoints(found["namespace"])
            prefixes[prefix] = _resolved(base, namespace)
        position = found.end()
    return Prologue(MappingProxyType(prefixes), base, position)


def names_iri(text: str, iri: str, base: str | None = None) -> bool:
    """Whether an IRI is in a query or an operation, however it is written; the text need not parse."""
    prologue = read_prologue(text, 0, Prologue({}, base, 0))
    return any(prologue.expand(token) == iri for token in read_tokens(text, prologue.end))


def syntax_problem(what: str, complaint: str, text: str) -> SyntaxProblem:
    """The engine's complaint ("error at 2:15: expected ...") about a text, with a place and a reason."""
    found = re.match(r"(?:.*?)error at (\d+):(\d+): (.*)", complaint, re.DOTALL)
    if found is None:
        return SyntaxProblem(f"The {what} does not parse: {complaint}")
    # Imported here, as it is seldom needed.
    from sparql.syntax.syntax_reasons import offset_of, place_of, reason_for

    offset, reason = reason_for(what, text, offset_of(text, int(found[1]), int(found[2])), found[3])
    line, column = place_of(text, offset)
    return SyntaxProblem(
        f"The {what} does not parse at line {line}, column {column}: {reason}.", line, column
    )


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


def _unescape_codepoints(text: str) -> str:
    if "\\" not in text:
        return text
    return _CODEPOINT.sub(lambda found: chr(int(found[1] or found[2], 16)), text)
