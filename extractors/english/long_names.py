"""Names that go on over "and", "on" or "for": "Elm Gallery and Museum", "Ministry of Trade and Industry".

A run of capitalized words ends at a small word. The patterns here tell where the name does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from extractors.text.chunking import Span

__all__ = ["joined_runs"]

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
_PARTNERS: Final = re.compile(r"(?:Company|Co|Sons?|Partners|Brothers|Bros|Associates|Daughters)\b")
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
    if between in (" and ", ", and ") and _PARTNERS.match(words):
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
