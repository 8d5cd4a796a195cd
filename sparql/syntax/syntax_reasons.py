"""Why a text is no SPARQL, in words that say what to do.

The engine reports how far it could read and every character that it would have accepted there. The most
frequent mistakes are seen in the tokens: a bracket or a string left open, a prefix that is not declared, a
first word that begins nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

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


def reason_for(what: str, text: str, offset: int, complaint: str) -> tuple[int, str]:
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


def offset_of(text: str, line: int, column: int) -> int:
    """The offset of a place; lines and columns count from 1, columns in characters."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    return min(start + column - 1, len(text))


def place_of(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, counted from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


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
