"""Adapts query texts to a remote store: system graphs are hidden, wrapped datatypes renamed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sparql.model.vocabulary import GRAPH
from sparql.remote.terms import KEPT_APART, Terms
from sparql.syntax.request_facts import Prologue, read_prologue
from sparql.syntax.tokens import Token, TokenKind, read_tokens


def without_system_graphs(text: str) -> str:
    """The query with system graphs excluded from `GRAPH ?g { ... }`.

    A FILTER is added after the group; it applies to the surrounding group, in which every solution binds ?g
    or (in OPTIONAL and MINUS) which is evaluated by itself.
    """
    tokens = list(read_tokens(text, read_prologue(text).end))
    added: list[tuple[int, str]] = []
    for index, token in enumerate(tokens[:-2]):
        name = tokens[index + 1]
        if token.is_word_ending("GRAPH") and name.kind is TokenKind.VARIABLE:
            end = _closing(tokens, index + 2)
            if end is not None:
                filter_ = f' FILTER(!STRSTARTS(STR({name.text}), "{GRAPH.iri}")) '
                added.append((tokens[end].end, filter_))
    for position, filter_ in sorted(added, reverse=True):
        text = text[:position] + filter_ + text[position:]
    return text


def with_kept_apart(text: str, terms: Terms, base: str | None = None) -> str:
    """The query with wrapped datatypes of literals, as the store holds them."""
    if not terms.kept_apart or "^^" not in text:
        return text
    prologue = read_prologue(text, 0, Prologue({}, base, 0))
    tokens = list(read_tokens(text, prologue.end))
    names = {one.value for one in terms.kept_apart}
    changed = [
        (token, iri)
        for before, token in pairwise(tokens)
        if before.text.endswith("^") and (iri := prologue.expand(token)) in names
    ]
    for token, iri in reversed(changed):
        text = f"{text[: token.start]}<{KEPT_APART}{iri}>{text[token.end :]}"
    return text


def called_functions(text: str) -> list[str]:
    """The IRIs of the functions that a query calls, in stable order."""
    prologue = read_prologue(text)
    called = {
        prologue.expand(token)
        for token, following in pairwise(read_tokens(text, prologue.end))
        if following.text == "("
    }
    return sorted(iri for iri in called if iri is not None)


_ANY_GRAPH = "?"
"""A variable after GRAPH, which may be any of the graphs."""


@dataclass
class _Group:
    """An open brace: whether its triple patterns are matched in one of the graphs, and what opened it."""

    inside: bool
    is_pattern: bool = True
    parentheses: int = 0
    in_head: bool = False


def reads_beside(text: str, graphs: Collection[str]) -> bool:
    """Whether a query that names some of these graphs has triple patterns outside `GRAPH <name> { ... }`."""
    prologue = read_prologue(text)
    stack: list[_Group] = []
    opener = subject = ""
    for token in read_tokens(text, prologue.end):
        word = token.text.upper() if token.kind is TokenKind.WORD else ""
        group = stack[-1] if stack else None
        if token.text == "{" and token.kind is TokenKind.PUNCTUATION:
            inside = (
                subject in (*graphs, _ANY_GRAPH) if opener == "GRAPH" else group is not None and group.inside
            )
            stack.append(_Group(inside, is_pattern=opener not in ("VALUES", "CONSTRUCT")))
            opener = subject = ""
        elif token.text == "}" and token.kind is TokenKind.PUNCTUATION:
            if stack:
                stack.pop()
            opener = ""
        elif word in ("GRAPH", "VALUES", "CONSTRUCT", "FILTER"):
            opener = word
        elif group is not None and word == "SELECT":
            # What a sub-select projects and sorts by are no patterns; its own are in braces.
            group.in_head = True
        elif token.text in "()" and token.kind is TokenKind.PUNCTUATION:
            if group is not None:
                group.parentheses += 1 if token.text == "(" else -1
                opener = "" if group.parentheses == 0 and opener == "FILTER" else opener
        elif token.kind in (TokenKind.IRI, TokenKind.PREFIXED_NAME, TokenKind.VARIABLE):
            if opener == "GRAPH":
                subject = prologue.expand(token) or _ANY_GRAPH
            elif opener != "VALUES" and group is not None and _is_pattern_part(group, opener):
                return True
    return False


def _is_pattern_part(group: _Group, opener: str) -> bool:
    """Whether a name or variable there belongs to a triple pattern outside the graphs."""
    in_expression = group.parentheses > 0 or opener == "FILTER"
    return group.is_pattern and not (group.inside or group.in_head or in_expression)


def _closing(tokens: Sequence[Token], opening: int) -> int | None:
    if tokens[opening].text != "{":
        return None
    depth = 0
    for index in range(opening, len(tokens)):
        if tokens[index].kind is TokenKind.PUNCTUATION:
            depth += (tokens[index].text == "{") - (tokens[index].text == "}")
            if depth == 0:
                return index
    return None
