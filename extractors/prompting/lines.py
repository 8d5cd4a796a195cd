"""Triples that a model writes as lines: the parts of a chain of thought, and a view's lines of reasoning."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from extractors.errors import ModelReplyError
from extractors.models.chat import Reply
from extractors.prompting.reply import ParsedReply, ReplyTriple, plain, probability

__all__ = ["evidenced", "numbered_line", "parse_headed"]

_TRIPLES: Final = re.compile(r"^\W*TRIPLES\W*$", re.MULTILINE | re.IGNORECASE)
_TRIPLE: Final = re.compile(
    r"^[\s\-*\d.\[(]*(?P<subject>[^|\n]+?)\s*\|\s*(?P<relation>[^|\n]+?)\s*\|\s*(?P<object>[^|\n]+?)[\s\])]*$",
    re.MULTILINE,
)
_RELATED: Final = re.compile(
    r'"(?P<quote>[^"\n]+)"\s*\|\s*(?P<one>[^|\n]+?)\s*\|\s*(?P<other>[^|\n]+?)\s*$', re.MULTILINE
)
_REASONED: Final = re.compile(
    r'"([^"\n]+)"\s*(?:->|→)\s*([^;\n]+?)\s*;\s*([^;\n]+?)\s*;\s*([^\n]+?)\s*$', re.MULTILINE
)


def parse_headed(reply: Reply) -> ParsedReply:
    """Read the lines under TRIPLES, `[subject | relation | object]`, of a chain of thought.

    Their quotes are those under RELATIONS about the same two. Of a reply that was cut off, the last line is
    left out. Raises `ModelReplyError` for a reply without that heading.
    """
    headings = list(_TRIPLES.finditer(reply.text))
    truncated = reply.finish_reason == "length"
    if not headings:
        raise ModelReplyError(
            "The model's reply has no heading TRIPLES: ask a larger model, or take a method without chain of "
            "thought.",
            reply.text,
        )
    end = max(headings[-1].end(), reply.text.rfind("\n")) if truncated else len(reply.text)
    quotes = {
        frozenset((_folded(line["one"]), _folded(line["other"]))): line["quote"]
        for line in _RELATED.finditer(reply.text[: headings[-1].start()])
    }
    triples = []
    for line in _TRIPLE.finditer(reply.text, headings[-1].end(), end):
        words = line.groupdict()
        quote = quotes.get(frozenset((_folded(words["subject"]), _folded(words["object"]))), "")
        raw = json.dumps({"quote": quote, **words}, ensure_ascii=False)
        sure = probability(reply, line.start("subject"), line.end("object"), mean=True)
        triples.append(ReplyTriple(**words, raw=raw, confidence=sure, quote=quote))
    return ParsedReply(tuple(triples), truncated)


def numbered_line(number: int, triple: ReplyTriple) -> str:
    """A triple as verifiers see it, in the form of a line of reasoning."""
    quote = f'"{triple.quote}" -> ' if triple.quote else ""
    return f"{number}. {quote}{triple.subject}; {triple.relation}; {triple.object}"


def evidenced(triples: Iterable[ReplyTriple], lines: str, text: str) -> tuple[ReplyTriple, ...]:
    """The triples, with the quote of the line of reasoning for each whose own is not in the text."""
    said = {tuple(map(_folded, words)): quote for quote, *words in _REASONED.findall(lines)}
    return tuple(
        replace(triple, quote=said[plain(triple)])
        if plain(triple) in said and (not triple.quote or _folded(triple.quote) not in _folded(text))
        else triple
        for triple in triples
    )


def _folded(words: str) -> str:
    return " ".join(words.casefold().split())
