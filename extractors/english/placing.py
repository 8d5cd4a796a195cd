"""Where something is: said without a word for it ("Norton's Elm Hall"), and said of another thing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from extractors.english.clause import Clause, Governor, is_fronted
from extractors.english.descriptions import BEFORE_NAMES, ELSEWHERE, POSSESSIVE
from extractors.english.people import is_given_name, looks_like_organization
from extractors.english.phrases import OF_PLACES
from extractors.english.subjects import NOT_PLACING, SubjectCheck
from extractors.english.units import AUXILIARIES, PREPOSITIONS, Kind, Unit, is_adverb
from ontology.labels import stem

_ARTICLES: Final = frozenset({"the", "a", "an", "its", "his", "her", "their", "this", "that"})
_CONJUNCTIONS: Final = frozenset({"and", "or", "&", "with", "to", "well", "plus"})
_OF_TOWNS: Final = frozenset(
    """museum station airport port harbor harbour cathedral stadium market theater theatre library hospital
    zoo square street park bridge tower skyscraper building church mosque temple synagogue hall hotel cinema
    school university prison cemetery fountain monument lighthouse neighborhood neighbourhood suburb
    quarter district""".split()
)
_SIDES: Final = frozenset("side end quarter neighborhood neighbourhood district borough ward".split())
_AFTER_REGION: Final = AUXILIARIES | {"on", "opened", "that", "which", "with", "and", "by", "since", "so"}
_OTHERS: Final = frozenset({"elsewhere", "abroad", "others", "other"})
_BEING_OR_HAVING: Final = frozenset(
    "as became become remains remained forms formed having has had with".split()
)
_MEETING: Final = frozenset(
    stem(word) for word in "leaves meets crosses joins enters intersects passes reaches left met".split()
)
_PARTS: Final = frozenset(
    """interior interiors facade façade roof dome organ entrance staircase ceiling windows portal extension
    annex""".split()
)
_ENDING: Final = frozenset(stem(word) for word in "begins starts ends terminates stops turns".split())
_PARTICLES: Final = frozenset("in on at from within inside along".split())
_NO_NOUNS: Final = PREPOSITIONS | AUXILIARIES | frozenset("the and or but which that who it its".split())
_PLACES_IT: Final = PREPOSITIONS - {"of", "to", "for", "by", "from", "into", "as"}
_ENDS: Final = frozenset("top foot edge side end slope summit middle part".split())
_LONGEST_HEAD: Final = 5


def of_place(clause: Clause) -> Governor | None:
    """Where something is, without a word for it, for relations that "in" says."""
    if not clause.phrases.has(clause.term.iri, "in"):
        return None
    ways = (_on_side, _genitive, _region, _named_behind, _kind_of_region, _of_its_kind)
    return next((found for way in ways if (found := way(clause)) is not None), None)


def _on_side(clause: Clause) -> Governor | None:
    """A part of a town that is called a side: "on the Upper East Side"."""
    units, at = clause.units, clause.value
    led = [unit.text for unit in units[max(0, at - 2) : at]] == ["on", "the"]
    return Governor(at - 2, at) if led and is_side(units[at].text) else None


def is_side(name: str) -> bool:
    """Whether a name is that of a part of a town: "Upper East Side"."""
    return " " in name and name.split()[-1] in ("side", "bank")


def _region(clause: Clause) -> Governor | None:
    """A region behind the place in it: "is in Elm Village, Norton"; not where a list goes on."""
    units, at = clause.units, clause.value
    place = at - 2
    if place >= 0 and units[at - 1].text == "of" and place in clause.others:
        parted = units[place].text.split()[-1] in _SIDES and " " in units[place].text
        return Governor(place + 1, at, subject=place) if parted else None
    if place < 1 or units[at - 1].text != "," or place not in clause.others or is_fronted(units, place, at):
        return None
    lead = place - 1
    while lead > 0 and units[lead].text in _ARTICLES:
        lead -= 1
    after = units[at + 1] if at + 1 < len(units) else None
    ends = after is None or after.text in _AFTER_REGION or after.kind is Kind.MARK
    listed = after is not None and goes_on_with_name(units, at + 1)
    apart = any(units[n].text in ("between", "from", "both") for n in range(max(0, lead - 3), lead + 1))
    if units[lead].text not in ("in", "at", "near") or not ends or listed or apart:
        return None
    if _names_description(units, lead, at):
        return None
    return Governor(place + 1, at, subject=place)


def _names_description(units: Sequence[Unit], lead: int, at: int) -> bool:
    """Whether a name is that of what opens the sentence: "The hall in Norton, Elm Hall, has"."""
    opens = units[0].text == "the" and all(unit.kind is Kind.WORD for unit in units[:lead])
    after = [unit.text for unit in units[at + 1 : at + 3]]
    return opens and len(after) == 2 and after[0] == "," and after[1] in AUXILIARIES


def _named_behind(clause: Clause) -> Governor | None:
    """A place in a description that a name follows: "The tallest building in Norton, Elm Tower, has"."""
    units, at = clause.units, clause.value
    if at < 2 or units[at - 1].text != "in" or at + 2 not in clause.others or units[at + 1].text != ",":
        return None
    return Governor(at - 1, at, subject=at + 2) if _names_description(units, at - 1, at + 2) else None


def _kind_of_region(clause: Clause) -> Governor | None:
    """A region behind the kind of a place in it: "is an inner suburb of Norton", not "the capital of"."""
    units, noun = clause.units, clause.value - 2
    if noun < 2 or units[noun + 1].text != "of" or units[noun].text not in OF_PLACES:
        return None
    here = noun - 1
    while here > 0 and noun - here < _LONGEST_HEAD and units[here].kind is Kind.WORD:
        if units[here].text in ("a", "an"):
            made = here - 1 if units[here - 1].kind is Kind.NAME and here > 1 else None
            return Governor(noun, clause.value, subject=made)  # "making Norton a suburb of Weston"
        if units[here].text in PREPOSITIONS | AUXILIARIES | _ARTICLES:
            return None
        here -= 1
    return None


def _of_its_kind(clause: Clause) -> Governor | None:
    """A town whose thing of a kind it is: "is Norton's oldest market", "is the art museum of Norton"."""
    units, at = clause.units, clause.value
    if looks_like_organization(units[at].text) or is_given_name(units[at].text.split()[0]):
        return None
    if at + 2 < len(units) and units[at + 1].text == "'s":
        noun = at + 2
        while noun + 1 < len(units) and units[noun + 1].kind is Kind.WORD and _describes(units[noun]):
            if clause.phrases.is_kind(units[noun]) and not clause.phrases.is_kind(units[noun + 1]):
                break
            noun += 1
        led = units[at - 1].text in ("is", "was") and at > 1 and at - 2 in clause.others
        return Governor(at - 1, at + 2, subject=at - 2) if led and _is_town_kind(clause, noun) else None
    noun, here = at - 2, at - 3
    if noun < 2 or units[noun + 1].text != "of" or not _is_town_kind(clause, noun):
        return None
    while here > 1 and noun - here < _LONGEST_HEAD and _describes(units[here]) and units[here].text != "the":
        here -= 1
    led = units[here].text == "the" and here > 1 and units[here - 1].text in ("is", "was")
    return Governor(here, at, subject=here - 2) if led and here - 2 in clause.others else None


def _describes(unit: Unit) -> bool:
    """Whether a word may stand before a noun in its phrase."""
    return unit.kind is Kind.WORD and unit.text not in PREPOSITIONS | AUXILIARIES | _CONJUNCTIONS


def _is_town_kind(clause: Clause, at: int) -> bool:
    """Whether a noun is a thing that a town has."""
    return at < len(clause.units) and clause.units[at].text in _OF_TOWNS


def _genitive(clause: Clause) -> Governor | None:
    """A possessor, for relations that "in" says: "Hamburg's Elbphilharmonie"."""
    units, at = clause.units, clause.value
    if at + 1 >= len(units) or units[at + 1].text != "'s":
        return None
    owned = sorted({at + 2, at + 3} & clause.others)
    return Governor(at, at + 2, subject=owned[0]) if owned else None


def goes_on_with_name(units: Sequence[Unit], at: int) -> bool:
    """Whether a list goes on with a name behind "and" or a comma."""
    if units[at].text not in {"and", "&", ",", "or"}:
        return False
    if any(unit.text in _OTHERS for unit in units[at + 1 : at + 3]):
        return True  # "in Weston, Norton, and elsewhere"
    rest = [unit for unit in units[at + 1 : at + 4] if unit.text not in _ARTICLES | {"and", "or"}]
    return bool(rest) and rest[0].kind is Kind.NAME


def makes_a_part(units: Sequence[Unit], at: int) -> bool:
    """Whether what follows a verb is a part of a building: "designed the interior"."""
    made = [unit.text for unit in units[at : at + 2]]
    return len(made) == 2 and made[0] in _ARTICLES and made[1] in _PARTS


def places_another(units: Sequence[Unit], found: Governor) -> bool:
    """Whether words belong to another thing than the one spoken of, by what stands right before them."""
    checks = (_says_of_a_part, _is_of_object, _meets_there, _is_elsewhere)
    return any(check(units, found) for check in checks)


def _says_of_a_part(units: Sequence[Unit], found: Governor) -> bool:
    """Whether a preposition belongs to another thing: "unlike its namesake in London"."""
    first = found.first
    if first > 1 and units[first - 2].text == "as" and units[first].text in PREPOSITIONS:
        return units[first - 1].kind is Kind.NAME  # "founded as Salt College on the grounds of Ash Church"
    if found.last != first + 1 or units[first].text not in _PARTICLES or first < 2:
        return False
    nouns = units[max(0, first - 3) : first]
    return nouns[-1].kind is Kind.WORD and any(unit.text in POSSESSIVE for unit in nouns[-3:-1])


def _is_of_object(units: Sequence[Unit], found: Governor) -> bool:
    """Whether a preposition places what a verb does something to: "opened a factory in Weston".

    What a thing is, or has, is where the thing is: "is a museum in Weston", "has a campus in Weston".
    """
    first = found.first
    lone = found.last == first + 1 and units[first].text in _PARTICLES
    if not lone or first < 2 or units[first - 1].kind is not Kind.WORD:
        return False
    if _is_counted(units, first - 1):
        return True  # "with 723 branches in Weston"
    article = first - 1
    while (
        article > 0 and units[article].kind is Kind.WORD and units[article].text not in ("a", "an", "another")
    ):
        if units[article].text in _NO_NOUNS:
            return False
        article -= 1
    lead = article - 1
    while lead > 0 and is_adverb(units[lead]):
        lead -= 1
    if units[article].text not in ("a", "an", "another") or lead < 0 or units[lead].kind is not Kind.WORD:
        return False
    if units[lead].text in _PLACES_IT or (units[lead].text == "of" and units[lead - 1].text in _ENDS):
        return False  # "on top of a hill in Weston"
    if units[lead].text in ("and", "or", "but"):
        return not any(unit.text in AUXILIARIES | _BEING_OR_HAVING for unit in units[:lead])
    return units[lead].text not in AUXILIARIES | _BEING_OR_HAVING


def _is_counted(units: Sequence[Unit], noun: int) -> bool:
    """Whether a noun in the plural has a number before it."""
    plural = units[noun].text.endswith("s") and not units[noun].text.endswith("ss")
    return plural and noun > 0 and units[noun - 1].text.replace(",", "").isdigit()


def _meets_there(units: Sequence[Unit], found: Governor) -> bool:
    """Whether "at" says where a way does something to another: "leaves the Elm Road at Ash Hill"."""
    first = found.first
    if found.last != first + 1 or units[first].text != "at" or units[first - 1].kind is not Kind.NAME:
        return False
    lead = first - 2
    while lead > 0 and units[lead].text == "the":
        lead -= 1
    return lead > 0 and units[lead].stem in _MEETING


def _is_elsewhere(units: Sequence[Unit], found: Governor) -> bool:
    """Whether words place another thing than the one spoken of, or where it only begins."""
    first = found.first
    before = [unit.text for unit in units[max(0, first - 2) : first]]
    if first and units[first].text == "at" and units[first - 1].stem in _ENDING:
        return True  # "begins at the corner of"
    if before[-1:] in (["that"], ["those"]) and found.last == first + 1 and units[first].text in _PARTICLES:
        return True  # "and that at Ash Hill in 1901"
    return before in (["to", "a"], ["into", "a"], ["from", "a"])  # "moved to a hall by Ada Stone"


def chained(units: Sequence[Unit], at: int, is_subject: SubjectCheck) -> bool | None:
    """Whether places lead from a name back to a subject: "Elm Hall on Elm Street at" leads to the hall.

    False: they lead to a name that is only compared or named after, or to "its teachers"; None: neither.
    """
    while at >= 0 and units[at].kind is Kind.NAME:
        if is_subject(units[at]):
            return True
        here = at - 1
        while here >= 0 and units[here].text in BEFORE_NAMES:
            here -= 1
        if here < 0:
            return None
        if units[here].text in NOT_PLACING - {"to", "by"}:
            return False
        if units[here].text not in PREPOSITIONS:
            return None
        at = here - 1
        if units[at].text in ELSEWHERE:
            return False  # "was cast at the Elm Works in Weston"
        if units[at].kind is Kind.WORD and any(one.text in POSSESSIVE for one in units[max(0, at - 2) : at]):
            return False  # "began with its teachers at Elm School in Norton"
    return None


def is_listed_with(clause: Clause, found: Governor) -> bool:
    """Whether subject and value are both what words lead to: "became the Elm Gallery and Tea Room".

    The subject may stand behind the value where another thing is named before: "has Elm Hall and the Ash".
    """
    units, value, other = clause.units, clause.value, min(clause.others, default=0)
    if other < found.last or value < found.last:
        return False
    first, last = sorted((value, other))
    plain = all(
        unit.kind is Kind.NAME or unit.text in ("and", ",", "the", "of") for unit in units[found.last : last]
    )
    joined = any(unit.text == "and" for unit in units[first:last])
    return plain and (
        other < value or (joined and any(unit.kind is not Kind.MARK for unit in units[: found.first]))
    )
