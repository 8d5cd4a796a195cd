"""New IRIs for what a text names and the graph does not know."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable

from pyoxigraph import NamedNode

from extractors.grounding.linking import normalize

__all__ = ["IriMinter", "slug"]

_LONGEST_SLUG = 60
_HASH_DIGITS = 8


def slug(words: str) -> str:
    """Return words as lower-case ASCII joined by hyphens; empty when nothing of them can be so written."""
    plain = unicodedata.normalize("NFKD", words.casefold()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"['`]", "", plain)).strip("-")[:_LONGEST_SLUG].strip("-")


class IriMinter:
    """Mints IRIs under a base: the same name gives the same IRI, and never one that is in use.

    The hash after the readable part separates names that look alike in ASCII. It depends on the name and
    on nothing else, so that extracting a text again before anything was committed changes nothing.
    """

    def __init__(self, base: str, exists: Callable[[NamedNode], bool]) -> None:
        self.base = base
        self._exists = exists

    def entity(self, name: str) -> NamedNode:
        """Mint the IRI of a new entity of this name."""
        key = normalize(name) or name
        attempt = 0
        while True:
            seed = key if attempt == 0 else f"{key}\n{attempt}"
            digest = hashlib.sha256(seed.encode()).hexdigest()[:_HASH_DIGITS]
            iri = NamedNode(f"{self.base}{slug(name) or 'entity'}-{digest}")
            if not self._exists(iri):
                return iri
            attempt += 1

    def term(self, words: str) -> NamedNode:
        """Mint the IRI under which an unknown relation is proposed; the same words give the same one."""
        digest = hashlib.sha256(words.encode()).hexdigest()[:_HASH_DIGITS]
        return NamedNode(f"{self.base}term/{slug(words) or digest}")
