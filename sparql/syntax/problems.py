"""Why a text is no SPARQL, and calls of functions that are not defined, in words that say what to do.

The engine reports how far it could read and every character that it would have accepted there. The most
frequent mistakes are seen in the tokens: a bracket or a string left open, a prefix that is not declared, a
first word that begins nothing.

Calls of undefined functions are errors of their expression (SPARQL 1.1 Query, 17.6), and the engine refuses a
whole query for one of them. It names the function when it does, so the query is run again with a function of
that name that gives nothing, which is how the engine sees an error. An aggregate that nobody knows is more
than an error: without it there is no group, and the answer would have a row for each solution instead of one.
What the namespace of GeoSPARQL names like an aggregate is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, TypeVar

from pyoxigraph import NamedNode, Store

from geo.vocabulary import GEOF
from sparql.model.errors import SyntaxProblem, UnknownFunction
from sparql.model.vocabulary import DCTERMS, GEO, OWL, PROV, RDF, RDFS, SH, SKOS, XSD
from sparql.syntax.tokens import Token, TokenKind, read_tokens

_PAIRS = {"(": ")", "{": "}", "[": "]"}
_KNOWN = {
    "dcterms": DCTERMS, "geo": GEO, "owl": OWL, "prov": PROV, "rdf": RDF, "rdfs": RDFS, "sh": SH,
    "skos": SKOS, "xsd": XSD,
}  # fmt: skip
_FORMS = {
    "query": ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE"),
    "update": (*("INSERT", "DELETE", "WITH", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY"),),
}
_ONE_MARK = re.compile(r'expected "([^"\w\s]+)"')
_SENTENCE = re.compile(r"(?:expected (?:one of )?|, )([A-Z][^,\[\"]* [a-z]+ [a-z]+[^,\[\"]*)")
_LONGEST_SHOWN = 40


def syntax_problem(what: str, complaint: str, text: str) -> SyntaxProblem:
    """The engine's complaint ("error at 2:15: expected ...") about a text, with a place and a reason."""
    found = re.match(r"(?:.*?)error at (\d+):(\d+): (.*)", complaint, re.DOTALL)
    if found is None:
        return SyntaxProblem(f"The {what} does not parse: {complaint}")
    offset, reason = _reason_for(what, text, _offset_of(text, int(found[1]), int(found[2])), found[3])
    line, column = text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
    return SyntaxProblem(
        f"The {what} does not parse at line {line}, column {column}: {reason}.", line, column
    )


def _reason_for(what: str, text: str, offset: int, complaint: str) -> tuple[int, str]:
    """Where the mistake of a query or update is, and what it is.

    `offset` (in characters) is how far the engine could read, and `complaint` its message.
    """
    tokens = list(read_tokens(text))
    declared, begin = _prologue(tokens)
    for one in tokens:
        if one.text in ("'", '"'):
            return one.start, "the string that begins here does not end on its line"
    if "Prefix not found" in complaint:
        for one in tokens[begin:]:
            if one.kind is TokenKind.PREFIXED_NAME and _prefix(one) not in declared:
                return one.start, _undeclared(_prefix(one))
    if begin == len(tokens) or not tokens[begin].text.upper().startswith(_FORMS[what]):
        found = _shown(tokens[begin]) if begin < len(tokens) else "this"
        start = tokens[begin].start if begin < len(tokens) else len(text)
        return start, f"{found} begins no {what}; one begins with {_listed(_FORMS[what])}"
    if (bracket := _wrong_bracket(tokens)) is not None:
        return bracket
    if (variable := _variable_in_data(tokens)) is not None:
        return variable.start, f"the variable {variable.text} cannot stand in DATA; use a WHERE clause"
    return offset, _stopped(tokens, offset, complaint)


def _offset_of(text: str, line: int, column: int) -> int:
    """The offset of a place; lines and columns count from 1, columns in characters."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    return min(start + column - 1, len(text))


def _prologue(tokens: Sequence[Token]) -> tuple[set[str], int]:
    """The prefixes that are declared before the first operation, and where that begins."""
    declared: set[str] = set()
    position = 0
    while position < len(tokens) and tokens[position].is_word("PREFIX", "BASE", "VERSION"):
        if tokens[position].is_word("PREFIX"):
            if position + 1 < len(tokens):
                declared.add(tokens[position + 1].text.partition(":")[0])
            position += 1
        position += 2
    return declared, position


def _prefix(token: Token) -> str:
    return token.text.partition(":")[0]


def _undeclared(prefix: str) -> str:
    namespace = _KNOWN.get(prefix)
    iri = namespace.iri if namespace else "..."
    return f"the prefix {prefix}: is not declared; begin with PREFIX {prefix}: <{iri}>"


def _wrong_bracket(tokens: Sequence[Token]) -> tuple[int, str] | None:
    """The first bracket that closes nothing or is never closed."""
    open_ones: list[Token] = []
    for token in tokens:
        if token.kind is not TokenKind.PUNCTUATION:
            continue
        if token.text in _PAIRS:
            open_ones.append(token)
        elif token.text in _PAIRS.values():
            if not open_ones:
                return token.start, f"this {token.text} closes nothing"
            if _PAIRS[open_ones[-1].text] != token.text:
                break
            open_ones.pop()
    if open_ones:
        return open_ones[-1].start, f"the {open_ones[-1].text} that opens here is never closed"
    return None


def _variable_in_data(tokens: Sequence[Token]) -> Token | None:
    """The first variable in INSERT DATA or DELETE DATA (SPARQL 1.1 Update, 3.1.1 and 3.1.2)."""
    inside = False
    for before, token in pairwise(tokens):
        if before.is_word("INSERT", "DELETE"):
            inside = token.is_word("DATA")
        elif inside and token.kind is TokenKind.VARIABLE:
            return token
    return None


def _stopped(tokens: Sequence[Token], offset: int, complaint: str) -> str:
    """What the engine says, or where it stopped: its lists of keywords are often misleading."""
    if "IRI parsing failed" in complaint:
        return "the IRI before this is relative, or has a character in it that an IRI may not have"
    if sentence := _SENTENCE.search(complaint):
        return sentence[1].strip().replace("The ", "the ", 1)
    token = next((one for one in tokens if one.end > offset), None)
    if token is None:
        return "something before the end of the text is wrong"
    mark = _ONE_MARK.fullmatch(complaint)
    return f"it can be read up to {_shown(token)} only" + (f"; expected {mark[1]}" if mark else "")


def _shown(token: Token) -> str:
    text = token.text if len(token.text) <= _LONGEST_SHOWN else f"{token.text[:_LONGEST_SHOWN]}..."
    return f"“{text}”"


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


Found = TypeVar("Found")
Functions = dict[NamedNode, Callable[..., Any]]

_COMPLAINT: Final = re.compile(r"The custom function <([^<>]*)> is not supported")
_MOST: Final = 64
"""So many unknown functions in one text are no oversight, and each makes the engine read the text again."""


def tolerating(
    run: Callable[[Functions | None], Found], functions: Functions | None
) -> tuple[Found, tuple[NamedNode, ...]]:
    """What `run` gives with these functions, and which others it called: those raise errors of expressions.

    `run` must fail before it does anything. Raises UnknownFunction for an aggregate, and what `run` raises
    for other reasons.
    """
    unknown: Functions = {}
    while True:
        try:
            return run({**(functions or {}), **unknown} if unknown else functions), tuple(unknown)
        except RuntimeError as error:
            found = _COMPLAINT.search(str(error))
            if found is None or len(unknown) == _MOST or NamedNode(found[1]) in unknown:
                raise
            if is_named_like_aggregate(found[1]):
                raise unknown_function(found[1]) from error
            unknown[NamedNode(found[1])] = _gives_nothing


def _gives_nothing(*arguments: object) -> None:
    """Unbound, whatever it is called with."""


def is_named_like_aggregate(iri: str) -> bool:
    """Whether the name can only be meant as that of an aggregate of GeoSPARQL."""
    return iri.startswith(GEOF) and iri.removeprefix(GEOF).lower().startswith("agg")


def unknown_function(iri: str) -> UnknownFunction:
    """The error for a function that is not here, with those of similar names."""
    # Imported here: the server starts without geometry.
    from geo.functions import AGGREGATES, FUNCTIONS

    # Of an aggregate, only another can be meant.
    offered = AGGREGATES if is_named_like_aggregate(iri) else (*FUNCTIONS, *AGGREGATES)
    names = {one.value.lower(): one.value for one in offered}
    return UnknownFunction(iri, [names[one] for one in get_close_matches(iri.lower(), names, 2, 0.9)])


def unknown_function_message(iri: str) -> str:
    """The message for a client whose query calls it."""
    return f"The function <{iri}> is not known here: its calls are errors."


@lru_cache(maxsize=512)
def is_known(iri: NamedNode) -> bool:
    """Whether we have a function or an aggregate of this name, or the engine has (a cast, say)."""
    from geo.functions import AGGREGATES, FUNCTIONS

    if iri in FUNCTIONS or iri in AGGREGATES:
        return True
    try:
        Store().query(f"SELECT ({iri}(1) AS ?x) {{}}")
    except RuntimeError:
        return False
    return True
