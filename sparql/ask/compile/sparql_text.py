"""Readable SPARQL text: prefixed names, property paths, variables named after things."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

from pyoxigraph import NamedNode

__all__ = ["Variables", "Writer", "path"]

STANDARD_PREFIXES: Final[Mapping[str, str]] = {
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "geo": "http://www.opengis.net/ont/geosparql#",
    "geof": "http://www.opengis.net/def/function/geosparql/",
    "uom": "http://www.opengis.net/def/uom/OGC/1.0/",
}
_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_LOCAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_TAKEN: Final = frozenset(
    {"label", "name", "place", "geometry", "wkt", "count", "size", "result", "of", "number"}
)


class Writer:
    """Writes IRIs as prefixed names where that is safe, and records the prefixes used."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        usable = {
            prefix: space
            for prefix, space in prefixes.items()
            if _PREFIX.fullmatch(prefix) and prefix not in STANDARD_PREFIXES and _is_iri(space)
        }
        everything = {**usable, **STANDARD_PREFIXES}
        self._by_length = sorted(everything.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        self._used: dict[str, str] = {}

    def iri(self, iri: NamedNode) -> str:
        """Return `prefix:local`, or `<iri>` where the local part would need escapes."""
        for prefix, space in self._by_length:
            if iri.value.startswith(space) and _LOCAL.fullmatch(iri.value[len(space) :]):
                self._used[prefix] = space
                return f"{prefix}:{iri.value[len(space) :]}"
        return str(iri)

    def header(self) -> str:
        """Return the PREFIX lines for everything written so far."""
        return "".join(f"PREFIX {prefix}: <{space}>\n" for prefix, space in sorted(self._used.items()))


def _is_iri(text: str) -> bool:
    try:
        NamedNode(text)
    except ValueError:
        return False
    return True


def path(steps: Iterable[str], *, repeated: bool = False) -> str:
    """Return a property path of alternatives, in brackets where SPARQL needs them."""
    alternatives = list(dict.fromkeys(steps))
    joined = "|".join(alternatives)
    if repeated:
        return f"({joined})+"
    plain = len(alternatives) == 1 and not joined.startswith("^")
    return joined if plain else f"({joined})"


class Variables:
    """Names variables after words: "subway station" is `?subwayStation`."""

    def __init__(self) -> None:
        self._taken: set[str] = set(_TAKEN)

    def name(self, words: str) -> str:
        """Return a new variable, with its question mark."""
        plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()
        parts = re.findall(r"[A-Za-z0-9]+", plain)[:4]
        stem = "".join([part.lower() if i == 0 else part.capitalize() for i, part in enumerate(parts)])
        stem = stem if stem[:1].isalpha() else f"item{stem.capitalize()}"
        found, number = stem, 2
        while found in self._taken:
            found, number = f"{stem}{number}", number + 1
        self._taken.add(found)
        return f"?{found}"
