"""Persons and organizations by their names alone, and names that go on over "and", "on" or "for".

A relation that leads to a person or an organization leaves the kind of its end open, and a name without a
kind is not accepted; names that say neither stay open. A run of capitalized words ends at a small word: the
patterns here tell where the name does not ("Elm Gallery and Museum").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from extractors.text.chunking import Span

TITLES: Final = frozenset(
    """sir dame lord lady king queen prince princess duke duchess earl count emperor empress pope saint st
    general colonel captain major admiral president governor mayor senator dr doctor prof professor father
    bishop archbishop cardinal rabbi imam sultan sheikh don dona mr mrs ms""".split()
)
OPENING_PERSONS: Final = TITLES | frozenset(
    """people children child men women man woman player driver veteran mother father fisherman fishermen
    shepherd farmer sailor soldier workers gentlemen ladies girls boys""".split()
)
"""Words that go with "'s" in a name of its own: "King's Cross", "Fisherman's Wharf"."""
_MAKERS: Final = frozenset(
    """aalto ando barragan barry berlage bernini bofill borromini botta brunel brunelleschi burnham
    calatrava chillida chipperfield eiffel foster garnier gaudi gehry gropius guarini hadid haussmann
    herzog horta hundertwasser juvarra kahn kapoor koolhaas kuma libeskind loos lutyens mackintosh
    mansart michelangelo moneo nash niemeyer nouvel olmsted palladio pei perret piano plecnik pugin
    rodin rogers saarinen schinkel siza stirling sullivan tange telford utzon vanvitelli wagner wren
    wright zumthor""".split()
)
"""Architects, engineers and artists, without accents, whose surname alone stands before a work of theirs."""
_PARTICLES: Final = frozenset("de da do dos del della di du van von der den la le y bin ibn al el".split())
_ENDINGS: Final = frozenset(
    """company co corporation corp incorporated inc limited ltd llc llp plc gmbh ag sa s.a spa s.p.a oyj ab as
    nv bv kg partners associates brothers bros sons partnership consortium group holdings authority agency
    properties industries enterprises construction contractors constructors builders developers realty
    ventures investments securities airlines airways architects engineers consultants
    association society foundation trust committee commission council board department ministry institute
    conservancy federation union league club""".split()
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


_BODIES: Final = (
    "Department|Ministry|Museum|Institute|Institution|School|College|Academy|Board|Bureau|Office|Commission|"
    "Committee|Council|Society|Association|Faculty|Centre|Center|Agency|Authority|Conference|Foundation|"
    "Administration|Secretariat|Federation|Chamber|Gallery|Hospital|Division|Service|Fund|Trust|Archive|Panel"
)
_KINDS: Final = (
    "Museum|Gallery|Galleries|Library|Gardens?|Theatre|Theater|Zoo|Aquarium|Academy|College|Hospital|Arboretum|"
    "Archives?|Planetarium|Observatory|Casino|Spa|Sanctuary|Preserve|Institute|Centre|Center|Conservatory|"
    "Playground|Mausoleum|Suites|Resort|Grill|Recreation Area"
)
_ABOUT_KINDS: Final = (
    "Arts?|Sciences?|History|Historical|Natural|Botanic|Botanical|Cultural|Memorial|Public|Visitors?|Exhibition|"
    "Congress|Conference|Convention|Research|Learning|Community|Sculpture|Zoological|Nature|Performing|Concert"
)
_FIRM_WORDS: Final = re.compile(r"(?:Company|Co|Sons?|Partners|Brothers|Bros|Associates|Daughters)\b")
_BEFORE_FIRM: Final = re.compile(
    r"(?:(?:designed|built|planned|drawn up|laid out|erected|engineered|constructed|dug|restored) by"
    r"|\b(?:firm|practice|partnership|office|builders|contractors) of|\b(?:architects|engineers|builders"
    r"|contractors|grocers|merchants|brewers|manufacturers|partners)) $"
)
_AFTER_FIRM: Final = re.compile(
    r" (?:had |also )?(?:designed|built|planned|drew up|laid out|erected|engineered)\b"
)
_SURNAME: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")
_LONGEST_LEAD: Final = 20
_ONLY_KIND: Final = re.compile(rf"(?:(?:{_ABOUT_KINDS}) ){{0,3}}(?:{_KINDS})")
_TOPIC: Final = re.compile(
    r".*(?:tion|tions|ment|ogy|ics|istry|ences?|ism|ity|iety|ysis|ency|ture|tory|ery|ing|cine|port|ry)"
    r"|.*\b(?:Parks|Arts?|Health|Hygiene|Trade|Commerce|Colleges|Schools|Universities|Highways|Works|Law|Letters|"
    r"Music|Drama|Dance|Film|Design|Affairs|Services|Records|Surgeons|Physicians|Fisheries|Buildings|Water|Energy|"
    r"Labor|Fashion|Textiles|Crafts|Sports?|War|Peace|Youth|Families|Children|Humanities|Business|Tourism|Bridges|"
    r"Antiquities|Monuments|Hospitals|Streets|Ports|Communications|Blind|Deaf|Aged|Homeless|Research|"
    r"Care|Disease|Labour|Records|Advancement|People|Animals|Women|Men|Girls|Boys|Teachers|Workers|Policy)"
)
_ABOUT: Final = re.compile(rf"\b(?:{_BODIES})\b(?: [^\W\d_]\S*)* (?:of|for|on) (?P<topic>\S.*)")
_OF_TWO: Final = re.compile(
    r".*\b(?:Authority|Port|Diocese|Archdiocese|Borough|Synod|Bank|Kingdom) of (?:the )?\S+(?: \S+)?"
)
_ON: Final = re.compile(r".*\b(?:Commission|Committee|Council|Conference|Institute|Forum)")
_ENDS_PLACE: Final = re.compile(
    r"\b(?:Street|Avenue|Road|Park|Square|Hall|Bridge|Building|Tower|Station|Centre|Center)$"
)
_STUDIES: Final = re.compile(
    rf".*\b(?:{_BODIES}) (?:for|of) .*\b(?:Research|Studies|Study|Training|Education)"
)
_FOR: Final = re.compile(rf".*\b(?:{_BODIES})")


def joined_runs(text: str, runs: Iterable[Span]) -> Sequence[Span]:
    """Join runs of capitalized words, in their order, that are parts of one name."""
    found: list[Span] = []
    for run in runs:
        if found and (first := _first_part(text, found, run)) is not None:
            start = found[first].start
            del found[first:]
            found.append(Span(start, run.end))
        else:
            found.append(run)
    return found


def _first_part(text: str, before: Sequence[Span], run: Span) -> int | None:
    """Which of the runs before is the first part of a name that ends with this run; None for none."""
    last = len(before) - 1
    name, words = (text[span.start : span.end] for span in (before[last], run))
    between = text[before[last].end : run.start]
    if between in (" and ", ", and ") and _FIRM_WORDS.match(words):
        first = last
        while first and text[before[first - 1].end : before[first].start] == ", ":
            first -= 1
        return first
    if between == " and " and (partner := _first_partner(text, before, run)) is not None:
        return partner
    about = _ABOUT.search(name)
    joined = (
        (between == " and " and " " in name and _ONLY_KIND.fullmatch(words))
        or (between in (" and ", ", ", ", and ") and about and _is_topic(about["topic"]) and _is_topic(words))
        or (between == " and " and _OF_TWO.fullmatch(name) and not _ENDS_PLACE.search(words))
        or (between in (" on ", " on the ") and _ON.fullmatch(name) and _is_topic(words))
        or (between in (" for ", " for the ") and _FOR.fullmatch(name) and _is_topic(words))
        or (between == " in " and _STUDIES.fullmatch(name))
    )
    return last if joined else None


def _first_partner(text: str, before: Sequence[Span], run: Span) -> int | None:
    """Where surnames begin that are the name of a firm: "designed by Stone, Reed and Ash"; else None."""
    first = len(before) - 1
    while first and text[before[first - 1].end : before[first].start] == ", ":
        first -= 1
    names = [text[span.start : span.end] for span in (*before[first:], run)]
    lead = text[max(0, before[first].start - _LONGEST_LEAD) : before[first].start]
    firm = _BEFORE_FIRM.search(lead) or (
        lead.endswith(("that ", "which ")) and _AFTER_FIRM.match(text, run.end)
    )
    return first if firm and all(_SURNAME.fullmatch(name) for name in names) else None


def _is_topic(words: str) -> bool:
    """Whether words say what a body is about: "Higher Education", not "Elm Park"."""
    return _TOPIC.fullmatch(words) is not None
