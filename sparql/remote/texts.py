"""Adapts query texts to a remote store: system graphs are hidden, wrapped datatypes renamed."""

from __future__ import annotations

from collections.abc import Sequence
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
