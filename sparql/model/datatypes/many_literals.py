"""The literals of many statements at once, for bulk loads: only the doubtful ones are looked at one by one.

What is found sound here is sound by `sparql.model.datatypes.literals` too (a test compares both); what is
doubtful may still be sound, and `literal_violations` decides.
"""

from collections.abc import Iterable
from functools import lru_cache

from pyoxigraph import Literal

from geo.vocabulary import GEOMETRY_LITERALS, WKT_LITERAL
from sparql.model.datatypes.lexical import Check, check_of
from sparql.model.vocabulary import XSD

_KEPT = 16_384
"""Verdicts on so many texts of a datatype are kept: years and small numbers repeat."""
_WKT = WKT_LITERAL.value
_GEOMETRIES = frozenset(one.value for one in GEOMETRY_LITERALS)


def doubtful(objects: Iterable[object]) -> list[int]:
    """The positions, in order, of the objects that are not surely in the lexical space of their datatype."""
    found: list[int] = []
    wkt: list[tuple[int, str]] = []
    for position, value in enumerate(objects):
        if type(value) is not Literal:
            continue
        datatype = value.datatype.value
        check = _check(datatype)
        if check is None or check(value.value):
            continue
        if datatype == _WKT:
            wkt.append((position, value.value))
        else:
            found.append(position)
    if wkt:
        # Imported with the first geometry: most loads have none.
        from geo.formats.many_literals import plainly_sound

        sound = plainly_sound([text for _, text in wkt])
        found += [position for (position, _), fine in zip(wkt, sound, strict=True) if not fine]
        found.sort()
    return found


@lru_cache(maxsize=1024)
def _check(datatype: str) -> Check | None:
    """Whether a text is surely a value of a datatype; None where every text is one."""
    if datatype in _GEOMETRIES:
        return _never
    if not datatype.startswith(XSD.iri):
        return None
    check = check_of(datatype.removeprefix(XSD.iri))
    return None if check is None else lru_cache(maxsize=_KEPT)(check)


def _never(text: str) -> bool:
    return False
