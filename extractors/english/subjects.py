"""What a clause is about: its grammatical subject, and whether a statement's subject can be that.

"Deutsche Bahn owns Berlin Hauptbahnhof, which opened in 2006" says that the station opened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from extractors.english.descriptions import (
    BEFORE_NAMES,
    POSSESSIVE,
    STRONG,
    Description,
    description_at,
    is_attributive,
    lead_of,
    nouns,
)
from extractors.english.units import AUXILIARIES, PREPOSITIONS, Kind, Unit, is_adverb

_RELATIVE: Final = frozenset({"which", "who", "that", "whose"})
_PRONOUNS: Final = frozenset({"it", "he", "she", "they", "both", "there", "this", "these"})
_NEW_CLAUSE: Final = frozenset({"while", "whereas", "but", "although", "though", "when", "where", "because"})
_NAMING: Final = frozenset("called named nicknamed dubbed renamed as formerly previously originally".split())
"""What stands before another name of a thing, which is no subject: "formerly called Ash Hall, was"."""
NOT_PLACING: Final = frozenset("after by for with than as like unlike to".split())
"""Prepositions that do not say where something is, so that what follows their name is said of that name."""
_PLACING: Final = frozenset({"in", "within", "inside", "at", "on", "of"})
_STOOD: Final = frozenset("stood lay sat stands lies sits".split())
_NEAR: Final = frozenset({"near", "beside", "opposite", "behind"})
_UNTIL: Final = frozenset("until till before after since when".split())
_HAVING: Final = frozenset({"had", "has", "have", "saw", "got"})


SubjectCheck = Callable[[Unit], bool]
"""Whether a name of the text is the statement's subject."""


def antecedent_before(units: Sequence[Unit], at: int, is_subject: SubjectCheck) -> Unit | Description | None:
    """What "which" right before a name stands for: "the hall, which Giles Gilbert Scott designed"."""
    here = at - 1
    while here > 0 and (units[here].kind is Kind.NAME or units[here].text in ("and", ",", "the")):
        here -= 1
    if here <= 0 or units[here].text not in ("which", "that", "whom"):
        return None
    return _antecedent(units, 0, here, is_subject)


def subject_of(
    units: Sequence[Unit], anchor: int, value: int, is_subject: SubjectCheck
) -> Unit | Description | None:
    """What the words at `anchor` are said of: a name, a description, or None where that is left open.

    `value` is the object, which is none of the candidates.
    """
    between = _between(units, anchor, value)
    if between is not None:
        return between
    start = _clause_start(units, anchor)
    at = anchor - 1 - (units[anchor - 1].text in _STOOD)
    while at >= start and (is_adverb(units[at]) or units[at].text in AUXILIARIES):
        at -= 1
    if (relative := _relative_before(units, start, at, anchor)) is not None:
        return _antecedent(units, start, relative, is_subject)
    if (renamed := _apposition(units, start, at)) is not None:
        return renamed
    if (renamed := _apposed_too(units, start, at, anchor)) is not None:
        return renamed
    adjacent = _adjacent(units, start, at)
    if adjacent is not None and is_subject(adjacent):
        place = units.index(adjacent)
        lies = lead_of(units, place) in PREPOSITIONS or _is_complement(units, place, start)
        if not lies or (place == anchor - 1 and _may_follow(units, anchor)):
            return adjacent
    if _opens_inner_clause(units, start, at, anchor):
        return units[at]
    if (reduced := _reduced(units, start, at, anchor)) is not None:
        return reduced
    fronts = at < start and (start == 0 or units[start - 1].kind is Kind.MARK)
    return _nearest(units, start, at, value) or (_fronted(units, anchor, value) if fronts else None)


def is_complement(units: Sequence[Unit], at: int) -> bool:
    """Whether a name only says where, of what or by whom: "in Norton", "by the Oak Trust"."""
    return lead_of(units, at) in PREPOSITIONS | _NAMING


def _between(units: Sequence[Unit], anchor: int, value: int) -> Unit | None:
    """A new subject whose verb is left out: "opened in 1928 and the Millennium Bridge in 2001"."""
    for at in range(anchor + 1, value):
        unit = units[at]
        if unit.kind is not Kind.NAME:
            continue
        left = lead_of(units, at)
        listed = at - 1
        while listed > anchor and units[listed].text in ("and", ",", "the"):
            listed -= 1
        if listed > anchor and units[listed].kind is Kind.NAME and listed != value:
            continue
        follows = units[at + 1].text if at + 1 < len(units) else ""
        if left in ("and", ",", "while", "but") and (follows in PREPOSITIONS or follows in AUXILIARIES):
            return unit
    return None


def _clause_start(units: Sequence[Unit], anchor: int) -> int:
    for at in range(anchor - 1, -1, -1):
        if units[at].text == "but" and _shares_subject(units, at + 1, anchor):
            continue
        if units[at].text in STRONG or (units[at].text in _NEW_CLAUSE and units[at].text != "that"):
            return at + 1
    return 0


def _shares_subject(units: Sequence[Unit], at: int, anchor: int) -> bool:
    """Whether a verb stands right behind "but", and so has the subject before: "but has played at"."""
    return all(is_adverb(unit) or unit.text in AUXILIARIES for unit in units[at:anchor])


def _may_follow(units: Sequence[Unit], anchor: int) -> bool:
    """Whether words may describe the name before them: "at Forest Park in St. Louis", "a hall built by"."""
    return units[anchor].text in _PLACING or any(unit.text == "by" for unit in units[anchor : anchor + 4])


def _opens_inner_clause(units: Sequence[Unit], start: int, at: int, anchor: int) -> bool:
    """Whether a name is the subject of an inner clause: "until Norton's Elm Tower was opened"."""
    if at < start or units[at].kind is not Kind.NAME:
        return False
    lead = lead_of(units, at)
    return (lead in _HAVING and at == anchor - 1) or (lead in _UNTIL and units[anchor].text.endswith("ed"))


def _relative_before(units: Sequence[Unit], start: int, at: int, anchor: int) -> int | None:
    """The "which" of a clause: right before a verb, before the verb of a number, or before "and"."""
    if at >= start and units[at].text in _RELATIVE:
        return at
    if at > start and units[at - 1].text in ("which", "that") and units[anchor].text[0].isdigit():
        return at - 1  # "the Elm Fair, which drew 2 million"
    return _shared_relative(units, start, at)


def _apposition(units: Sequence[Unit], start: int, at: int) -> Unit | None:
    """The name that a noun after a comma describes: "the Riesenrad, a wheel built by"."""
    here = at
    while here > start and (units[here].kind is Kind.WORD or units[here].text == "-") and here > at - 7:
        if units[here].text in ("a", "an"):
            name = here - 2
            comma = units[here - 1].text == ","
            return units[name] if comma and name >= start and units[name].kind is Kind.NAME else None
        if units[here].text in PREPOSITIONS | AUXILIARIES:
            return None
        here -= 1
    return None


def _apposed_too(units: Sequence[Unit], start: int, at: int, anchor: int) -> Unit | None:
    """The name whose description goes on at "and": "Norton, a town founded in 1952 and home to"."""
    described = units[anchor].text == "home" or units[anchor].text.endswith("ed")
    if at <= start or units[at].text != "and" or not described or at != anchor - 1:
        return None
    for here in range(at - 1, start + 1, -1):
        if units[here].text == ",":
            opens = units[here + 1].text in ("a", "an") and units[here - 1].kind is Kind.NAME
            return units[here - 1] if opens else None
        if units[here].text in AUXILIARIES or (units[here].kind is Kind.MARK and units[here].text != "-"):
            return None
    return None


def _shared_relative(units: Sequence[Unit], start: int, at: int) -> int | None:
    """The "which" whose clause goes on at "and": "the hall, which opened in 1901 and faces Elm Park"."""
    if at < start or units[at].text != "and":
        return None
    for here in range(at - 1, start, -1):
        if units[here].kind is Kind.MARK:
            return None
        if units[here].text in ("which", "who") or (
            units[here].text == "that" and units[here - 1].kind is Kind.NAME
        ):
            follows = units[here + 1]
            return here if follows.kind is Kind.WORD and follows.text not in ("the", "a", "an") else None
    return None


def _antecedent(
    units: Sequence[Unit], start: int, relative: int, is_subject: SubjectCheck
) -> Unit | Description | None:
    """The name before "which": the nearest, or the one that lies there ("a hall in Paris, which")."""
    at = relative - 1
    while at >= start and units[at].kind is Kind.MARK:
        at -= 1
    if at < start:
        return None
    at = _before_measure(units, start, at)
    if units[at].kind is not Kind.NAME:
        return _owned(units, start, at)
    nearest = units[at]
    if (whole := _of_whole(units, at)) is not None:
        return whole
    apposed = _apposition(units, start, at - 2) if lead_of(units, at) == "by" else None
    if (noun := apposed or _noun_with_place(units, start, at)) is not None:
        return noun
    if lead_of(units, at) in _NEAR and at == relative - 2:
        return nearest  # "lies near Ash Station, which is served by"
    if _is_complement(units, at, start):
        return _nearest(units, start, at - 1, -1)  # "in Weston, and Ash County, Norton, that connects"
    restricts = at == relative - 1 and units[relative].text in ("that", "which")
    if lead_of(units, at) in NOT_PLACING or (restricts and _is_said_to_be(units, at)):
        return nearest  # "built for the Elm Fair, which drew", "is in the district which was"
    if restricts and lead_of(units, at) in PREPOSITIONS:
        return _nearest(units, start, at - 1, -1)  # "a hall in Norton that was completed"
    if is_subject(nearest):
        return nearest
    if lead_of(units, at) not in PREPOSITIONS or _is_object(units, at):
        return nearest
    return _nearest(units, start, at - 1, -1)


def _before_measure(units: Sequence[Unit], start: int, at: int) -> int:
    """The place of the name that a measure follows: "Elm Tower, 14 metres tall, which"."""
    here = at
    while here > max(start, at - 5) and units[here].kind is Kind.WORD:
        here -= 1
    measured = units[here].text == "," and units[here + 1 : at + 1] and units[here + 1].text[0].isdigit()
    return here - 1 if measured and here > start and units[here - 1].kind is Kind.NAME else at


def _is_said_to_be(units: Sequence[Unit], at: int) -> bool:
    """Whether a verb of being stands right before the preposition of a name: "is in the Elm District"."""
    here = at - 1
    while here > 0 and units[here].text in BEFORE_NAMES:
        here -= 1
    return here > 0 and units[here].text in PREPOSITIONS and units[here - 1].text in AUXILIARIES | _STOOD


def _owned(units: Sequence[Unit], start: int, at: int) -> Description | None:
    """A part of which "which" speaks: "its bell tower, which"."""
    for here in range(at - 1, max(start, at - 4) - 1, -1):
        if units[here].text in POSSESSIVE:
            return Description(nouns(units, here + 1, at), possessive=True)
        if units[here].kind is not Kind.WORD or units[here].text in PREPOSITIONS | AUXILIARIES:
            return None
    return None


def _noun_with_place(units: Sequence[Unit], start: int, at: int) -> Description | None:
    """The object of a verb of which "which" behind its place speaks: "runs the garden on Elm Lane, which"."""
    here = at - 1
    while here > start and units[here].text in BEFORE_NAMES:
        here -= 1
    if here <= start or units[here].text not in _PLACING - {"of"}:
        return None
    noun = first = here - 1
    while (
        first > start
        and units[first].kind is Kind.WORD
        and units[first].text not in ("the", "a", "an", "its")
    ):
        if units[first].text in PREPOSITIONS | AUXILIARIES:
            return None
        first -= 1
    verb = units[first - 1] if first > start else None
    if first == noun or verb is None or units[first].kind is not Kind.WORD:
        return None
    plain = verb.kind is Kind.WORD and verb.text not in PREPOSITIONS | AUXILIARIES | {"and", "but", "as"}
    return Description(nouns(units, first + 1, noun), possessive=False, inner=True) if plain else None


def _of_whole(units: Sequence[Unit], at: int) -> Unit | Description | None:
    """The part that "which" behind its whole speaks of: "Line 3 of the Ash Metro, which"."""
    here = at - 1
    while here > 0 and units[here].text in ("the", "a", "an"):
        here -= 1
    if here < 1 or units[here].text not in ("of", "for"):
        return None
    part = here - 1
    if units[part].text.isdigit() and part:
        part -= 1
    if units[part].kind is Kind.NAME:
        return units[part]
    numbered = part < here - 1 and units[part].kind is Kind.WORD
    return Description(units[part].text, possessive=False, inner=True) if numbered else None


def _is_object(units: Sequence[Unit], at: int) -> bool:
    """Whether a participle leads to a name: "housed in the Elm Works, which" speaks of the works."""
    here = at - 1
    while here > 0 and (units[here].text in BEFORE_NAMES or units[here].text.isdigit()):
        here -= 1
    verb = units[here - 1] if here > 0 else None
    return verb is not None and verb.kind is Kind.WORD and verb.text.endswith(("ed", "ing"))


def _reduced(units: Sequence[Unit], start: int, at: int, anchor: int) -> Unit | None:
    """The name before a participle behind a comma: "named after the Elm Hotel, built in 1852"."""
    name = at - 1
    plain = at == anchor - 1 and at > start and units[at].text == ","
    if not plain or units[name].kind is not Kind.NAME or not units[anchor].text.endswith(("ed", "lt", "own")):
        return None
    lead = lead_of(units, name, start)
    acted = lead.isalpha() and lead.endswith("s") and lead not in PREPOSITIONS | AUXILIARIES | BEFORE_NAMES
    listed = lead == "and" and any(
        unit.kind is Kind.WORD and unit.text not in BEFORE_NAMES | {"and"} for unit in units[start:name]
    )  # "has the Elm Hall and the Ash Hall, opened in"
    return units[name] if acted or listed or lead in NOT_PLACING - {"by"} else None


def _adjacent(units: Sequence[Unit], start: int, at: int) -> Unit | None:
    """The name right before the words, over a comma at most."""
    if at >= start and units[at].text == ",":
        at -= 1
    return units[at] if at >= start and units[at].kind is Kind.NAME else None


def _nearest(units: Sequence[Unit], start: int, at: int, value: int) -> Unit | Description | None:
    """The nearest name, pronoun or description before a place that is no complement of other words."""
    here = at
    while here >= start:
        unit = units[here]
        placed = unit.text == "it" and here > start and units[here - 1].text in PREPOSITIONS
        if unit.text in _PRONOUNS and not (unit.text in ("this", "these") and here < at) and not placed:
            return None
        named = unit.kind is Kind.NAME and here != value and not is_attributive(units, here)
        if named and not _is_complement(units, here, start):
            lead = lead_of(units, here, start)
            verb_follows = here == at and lead in ("", ",", "and", "but", ";")
            if here < at and lead == "," and _is_last_object(units, here, start):
                here -= 1
                continue
            if verb_follows or lead in ("", ","):
                return unit
            if lead == "and" and not _is_listed(units, here):
                return unit
        description = description_at(units, here, start, at)
        if description is not None:
            return description
        here -= 1
    return None


def _is_complement(units: Sequence[Unit], at: int, start: int) -> bool:
    """A possessor ("Hamburg's"), or a region after the place in it ("at Pier Head, Liverpool")."""
    if (at + 1 < len(units) and units[at + 1].text == "'s") or _is_second(units, at):
        return True
    if lead_of(units, at, start) in _NAMING:
        return True
    before = at - 2
    while before > start and units[before + 1].text == "," and units[before].kind is Kind.NAME:
        if lead_of(units, before, start) in PREPOSITIONS:
            return True
        before -= 3 if units[before - 1].text == "and" and units[before - 2].text == "," else 2
    return False


def _is_second(units: Sequence[Unit], at: int) -> bool:
    """Whether a name is the second of two that something lies between: "between Elm Hall and Ash Park"."""
    paired = at > 1 and units[at - 1].text == "and" and units[at - 2].kind is Kind.NAME
    return paired and lead_of(units, at - 2) in ("between", "at", "of", "near", "on")


def _is_last_object(units: Sequence[Unit], at: int, start: int) -> bool:
    """Whether a list of a verb's objects ends with a name: "crosses Elm Row, Ash Row, and ends at"."""
    here = at
    while here - 2 > start and units[here - 1].text == "," and units[here - 2].kind is Kind.NAME:
        here -= 2
    lead = units[here - 1] if here > start else None
    return here < at and lead is not None and lead.kind is Kind.WORD and lead.text not in BEFORE_NAMES


def _is_listed(units: Sequence[Unit], at: int) -> bool:
    """Whether the name before "and" is a complement, so that this one is another."""
    here = at - 1
    while here >= 0 and units[here].text in ("the", "and"):
        here -= 1
    return here >= 0 and units[here].kind is Kind.NAME and lead_of(units, here) not in ("", ",")


def _fronted(units: Sequence[Unit], anchor: int, value: int) -> Unit | None:
    """The subject that follows words at the start: "Designed by Jørn Utzon, the opera house opened"."""
    after = max(anchor, value) + 1
    while after < len(units) and units[after].text != ",":
        after += 1
    for at in range(after + 1, min(after + 3, len(units))):
        if units[at].text == "and":
            return None  # "Work began in 1923, and Ada Stone opened it"
        region = at == value + 2 and at + 1 < len(units) and units[at + 1].text == ","
        if units[at].kind is Kind.NAME and not region:  # "Headquartered in Weston, Norton, it"
            return units[at]
    return None
