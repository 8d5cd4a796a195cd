"""Separates persons from organizations by name alone: a given name first, or a word such as "Ltd" last.

A relation that leads to a person or an organization leaves the kind of its end open, and a name without a
kind is not accepted. Names that say neither stay open.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Final

__all__ = [
    "OPENING_PERSONS",
    "TITLES",
    "is_given_name",
    "is_maker",
    "looks_like_organization",
    "looks_like_person",
    "may_be_person",
]

TITLES: Final = frozenset(
    """sir dame lord lady king queen prince princess duke duchess earl count emperor empress pope saint st
    general colonel captain major admiral president governor mayor senator dr doctor prof professor father
    bishop archbishop cardinal rabbi imam sultan sheikh don dona mr mrs ms""".split()  # noqa: SIM905
)
OPENING_PERSONS: Final = TITLES | frozenset(
    """people children child men women man woman player driver veteran mother father fisherman fishermen
    shepherd farmer sailor soldier workers gentlemen ladies girls boys""".split()  # noqa: SIM905
)
"""Words that go with "'s" in a name of its own: "King's Cross", "Fisherman's Wharf"."""
_MAKERS: Final = frozenset(
    """aalto ando barragan barry berlage bernini bofill borromini botta brunel brunelleschi burnham
    calatrava chillida chipperfield eiffel foster garnier gaudi gehry gropius guarini hadid haussmann
    herzog horta hundertwasser juvarra kahn kapoor koolhaas kuma libeskind loos lutyens mackintosh
    mansart michelangelo moneo nash niemeyer nouvel olmsted palladio pei perret piano plecnik pugin
    rodin rogers saarinen schinkel siza stirling sullivan tange telford utzon vanvitelli wagner wren
    wright zumthor""".split()  # noqa: SIM905
)
"""Architects, engineers and artists, without accents, whose surname alone stands before a work of theirs."""
_PARTICLES: Final = frozenset("de da do dos del della di du van von der den la le y bin ibn al el".split())  # noqa: SIM905
_ENDINGS: Final = frozenset(
    """company co corporation corp incorporated inc limited ltd llc llp plc gmbh ag sa s.a spa s.p.a oyj ab as
    nv bv kg partners associates brothers bros sons partnership consortium group holdings authority agency
    properties industries enterprises construction contractors constructors builders developers realty
    ventures investments securities airlines airways architects engineers consultants
    association society foundation trust committee commission council board department ministry institute
    conservancy federation union league club""".split()  # noqa: SIM905
)
_GIVEN: Final = Path(__file__).with_name("given_names.txt")
_PARTNERS = re.compile(r"[^\W\d_a-z]\w+(?:, [^\W\d_a-z]\w+)*,? and [^\W\d_a-z]\w+")
"""Surnames: "Stone, Reed and Ash"."""
_INITIAL = re.compile(r"(?:[A-Z]\.)+$|[A-Z]$")


def is_given_name(word: str) -> bool:
    """Tell a given name: "Rafael"."""
    return _folded(word) in _given()


def is_maker(word: str) -> bool:
    """Tell the surname of one who is known by it for works: "Gehry"."""
    return _folded(word) in _MAKERS


def looks_like_person(name: str) -> bool:
    """Tell a given name or title before a surname, all of the words capitalized: "Rafael Larco Hoyle"."""
    found = name.split()
    while found and found[0].casefold().rstrip(".") in TITLES - {"st", "saint", "count", "major"}:
        found = found[1:]
        if found and found[0] in ("of", "the"):
            return False
    titled = len(found) < len(name.split())
    if not found or len(found) > 4 or (len(found) == 1 and not titled):
        return False
    whole = all(
        word[0].isupper() or word in _PARTICLES or word.startswith(("d'", "d’", "al-", "el-"))
        for word in found
    )
    ends = found[-1][0].isupper() and not looks_like_organization(name)
    given = is_given_name(found[0]) or (_INITIAL.fullmatch(found[0]) is not None and len(found) > 1)
    return (
        whole and ends and (given or (titled and len(found) <= 3)) and not set(name) & set("&,:;()0123456789")
    )


def looks_like_organization(name: str) -> bool:
    """Tell a name whose last word says that it is a group of people, or that lists some: "Oak Trust"."""
    if _PARTNERS.fullmatch(name):
        return True
    found = [word.casefold().strip(".,()") for word in name.split()]
    head = next((found[at - 1] for at, word in enumerate(found) if at and word in ("of", "for")), found[-1])
    return len(found) > 1 and (bool({head, found[-1]} & _ENDINGS) or " & " in name)


def may_be_person(name: str) -> bool:
    """Tell a name that is made as a person's is: two or three words of letters, all with a capital.

    It says little alone: "Central Market" is made so too.
    """
    found = name.split()
    small = [word for word in found[1:-1] if word in _PARTICLES]
    letters = all(word.replace("-", "").replace("'", "").replace("’", "").isalpha() for word in found)
    large = all(word[0].isupper() and not word.isupper() for word in found if word not in small)
    return 2 <= len(found) - len(small) <= 3 and letters and large and not looks_like_organization(name)


def _folded(word: str) -> str:
    plain = unicodedata.normalize("NFKD", word.casefold().replace("ø", "o").replace("ł", "l"))
    return "".join(c for c in plain if not unicodedata.combining(c))


@cache
def _given() -> frozenset[str]:
    return frozenset(_GIVEN.read_text(encoding="utf-8").split())
