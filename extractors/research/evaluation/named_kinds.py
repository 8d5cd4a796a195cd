"""Kinds that a name says itself: "Golden Gate Bridge" is called a bridge wherever it is mentioned.

The rule of `urban_gold.md`, by which such statements are judged beside the strict score.
"""

from __future__ import annotations

from typing import Final

from ontology.labels import normalize

__all__ = ["says_kind"]

_AFTER_HEAD: Final = frozenset("of for in at on de du der la to".split())  # noqa: SIM905


def says_kind(name: str, kind: str) -> bool:
    """Whether a kind's words are the head of a name: its last words, or the last before "of" and the like.

    The name needs a word more than the kind; case and plurals do not count.
    """
    words, wanted = normalize(name), normalize(kind)
    end = next((place for place, word in enumerate(words) if place and word in _AFTER_HEAD), len(words))
    head = words[:end]
    return bool(wanted) and len(words) > len(wanted) and head[-len(wanted) :] == wanted
