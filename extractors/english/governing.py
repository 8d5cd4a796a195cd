"""Which words of a sentence an object belongs to: the nearest label before it, or its own unit of measure.

"It starts at Gansevoort Street, runs through Chelsea and ends at 34th Street" says of 34th Street that
something ends there, and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from extractors.english.clause import Clause, Governor, is_glued, keyed, of_address
from extractors.english.descriptions import ELSEWHERE, is_closed_region, lead_of
from extractors.english.measured import of_date, of_number
from extractors.english.phrases import OF_PLACES, Group, Occurrence
from extractors.english.placing import goes_on_with_name, is_side, of_place
from extractors.english.units import (
    AUXILIARIES,
    PREPOSITIONS,
    Kind,
    Unit,
    is_adjectival,
    is_adverb,
)

_JOINERS: Final = frozenset({"and", "or", "&", "with", "to", "both", "as", "well", "together", "plus", ","})
_BETWEEN_NAMES: Final = frozenset({"to", "with", "as", "well", "together"})
_POSSESSIVE: Final = frozenset({"its", "his", "her", "their"})
_CONJUNCTIONS: Final = frozenset({"and", "or", "&", "with", "to", "well", "plus"})
_ARTICLES: Final = frozenset({"the", "a", "an", "its", "his", "her", "their", "this", "that"})
_TURNS: Final = frozenset({"but", "while", "whereas", "although", "though", "where", "when"})
_PARTS: Final = frozenset(
    """north south east west northern southern eastern western center centre heart middle edge side part
    end corner foot top bottom top banks bank shore outskirts city town borough district neighborhood
    neighbourhood village state county province region quarter area suburb island street""".split()
)
_NOT_MAKING: Final = frozenset(
    "named renamed owned bought acquired purchased sold funded led run operated managed used".split()
)
_FOUNDED: Final = frozenset("founded established formed created started begun".split())
_ROLES: Final = ("er", "or", "ect", "ers", "ors", "ects")
_ARTISTS: Final = frozenset("sculptor sculptors artist artists painter painters muralist".split())
_NO_ROLES: Final = frozenset({"border", "borders", "center", "centers", "quarters", "towers", "waters"})
_OWNERS: Final = frozenset({"owner", "owners", "proprietor", "proprietors"})
_INVERTED: Final = frozenset("lie lies lay stand stands stood sit sits sat".split())
"""Verbs whose subject may follow: "Next to the museum lies Elm Park"."""
_ENDS: Final = (
    _INVERTED
    | PREPOSITIONS
    | AUXILIARIES
    | _TURNS
    | {"he", "she", "it", "they", "we", "i", "you", "who", "which", "that"}
)
_LONGEST_HEAD: Final = 5


def governor(clause: Clause, group: Group) -> Governor | None:
    """The words that say this relation of the object, or None where other words, or none, govern it."""
    return next(governors(clause, group), None)


def governors(clause: Clause, group: Group) -> Iterator[Governor]:
    """All words that say it: of "was laid out by Ada Stone, who also designed Elm Hall" both verbs."""
    if group is Group.NAMES:
        ways = (_behind, _as_subject, _as_role, of_place)
        found = [*_before(clause), *(way(clause) for way in (*ways, keyed, of_address))]
    else:
        found = [keyed(clause) or (of_date(clause) if group is Group.DATES else of_number(clause))]
    yield from (one for one in found if one is not None)


def _before(clause: Clause) -> Sequence[Governor]:
    """The label before a name, with a list, articles and a common noun between them at most."""
    units, at = clause.units, _past_owner(clause)
    joined = listed = crossed = parted = False
    words = since = 0
    while at >= 0:
        at = _past_kind(units, at)
        ending = [one for one in clause.occurrences if one.last == at + 1 and not _is_agent(one, clause)]
        if ending and not (joined and units[at].text in ("with", "to")) and not _is_of_agent(ending, clause):
            alone = all(one.last == one.first + 1 for one in ending) and units[at].text in PREPOSITIONS
            parted = parted or (alone and words > 0)
            apart = crossed and (alone or units[at].text in ("of", "in", "on", "at", "from"))
            several = any(unit.kind is Kind.NAME for unit in units[at + 1 : clause.value])
            apart = apart or (several and alone and _is_listed(units, at))
            apart = apart or (listed and (parted or _has_own_verb(units, clause.value)))
            return () if apart else _own(ending, clause)
        unit = units[at]
        if unit.kind is Kind.NAME and not _describes_agent(units, at):
            if not joined or since or (unit.start, unit.end) == _span(units[clause.value]):
                return ()  # "for Ada Stone, a merchant and former Mayor of Norton"
            joined = False
        elif unit.text in _JOINERS:
            if _ends_list(clause, at):
                return ()
            listed, crossed = listed or unit.text in _CONJUNCTIONS, crossed or unit.text in ("to", "with")
            if unit.text == "," and not (listed or _list_continues(units, clause.value)):
                return ()
            joined, since = True, since if joined else 0
        elif unit.kind is Kind.MARK and (unit.text != "-" or is_glued(units, at)):
            return ()
        elif unit.text == "of" and _is_side(clause, at - 1):
            at -= 1
        elif unit.text in _ENDS or (words and unit.text in _POSSESSIVE) or _is_acting(clause, at):
            return ()
        else:
            words += unit.text not in _ARTICLES
            since += joined and unit.text not in _ARTICLES
            parted = parted or (listed and units[at + 1].text == ",")  # "in the park, and Elm Hall"
            if words > _LONGEST_HEAD:
                return ()
        at -= 1
    return ()


def _ends_list(clause: Clause, at: int) -> bool:
    """Whether a joiner is none of a list: "links Norton with Weston and carries the Elm Line"."""
    joiner = clause.units[at].text
    if joiner in _BETWEEN_NAMES:
        return not _name_before(clause.units, at)
    return joiner == "and" and _is_verb(clause, at + 1)


def _is_verb(clause: Clause, at: int) -> bool:
    """Whether a word is a verb in the present with an object: "carries the Elm Line"."""
    verb, after = clause.units[at], clause.units[at + 1] if at + 1 < len(clause.units) else None
    present = verb.kind is Kind.WORD and verb.text.endswith("s") and not clause.phrases.is_kind(verb)
    return present and after is not None and (after.kind is Kind.NAME or after.text in _ARTICLES)


def _is_of_founding(units: Sequence[Unit], one: Occurrence) -> bool:
    """Whether "in" says where something began, which may be elsewhere now: "was founded in Norton"."""
    verb = units[one.first - 1].text if one.first else ""
    return (
        one.last == one.first + 1 and units[one.first].text in ("in", "at") and verb in _FOUNDED | ELSEWHERE
    )


def _is_listed(units: Sequence[Unit], at: int) -> bool:
    """Whether the name before a preposition is one of a list: ", the Elm Lofts at Ash Center, the Oak"."""
    here = at - 1
    if here < 1 or units[here].kind is not Kind.NAME:
        return False
    here -= 1 + (units[here - 1].text == "the")
    return here > 0 and units[here].text in (",", "and") and units[here - 1].kind is Kind.NAME


def _past_owner(clause: Clause) -> int:
    """The place before a name, or before its owner: "in Norton's Ash Quarter"."""
    units, at = clause.units, clause.value - 1
    return at - 2 if at > 1 and units[at].text == "'s" and units[at - 1].kind is Kind.NAME else at


def _past_kind(units: Sequence[Unit], at: int) -> int:
    """The place before words that only say what a place is: "the suburb of" in "borders the suburb of"."""
    named = at > 2 and units[at].text == "of" and units[at - 1].text in OF_PLACES
    return at - 3 if named and units[at - 2].text == "the" and units[at - 3].text not in AUXILIARIES else at


def _is_acting(clause: Clause, at: int) -> bool:
    """Whether a participle leads to the name instead: "used by traffic leaving the Elm Tunnel"."""
    unit, before = clause.units[at], clause.units[at - 1] if at else None
    noun = before is not None and before.kind is Kind.WORD and before.text not in _ARTICLES | PREPOSITIONS
    return noun and unit.text.endswith("ing") and len(unit.text) > 5 and not clause.phrases.is_kind(unit)


def _is_side(clause: Clause, at: int) -> bool:
    """Whether a word says which part of a place: "south" of Norton; not after a noun, "woods south of"."""
    if at < 0 or clause.units[at].text not in _PARTS:
        return False
    before = clause.units[at - 1] if at else None
    if before is None or before.kind is not Kind.WORD:
        return True
    plural = before.text.endswith("s") and before.text not in AUXILIARIES
    return not (clause.phrases.is_kind(before) or plural)


def _is_agent(one: Occurrence, clause: Clause) -> bool:
    """Whether a role is that of another verb's agent: "renamed by the developer Ada Stone"."""
    units = clause.units
    role = units[one.first].text.endswith(_ROLES)
    if role and one.last == clause.value and lead_of(units, one.first) in ("to", "from"):
        return True  # "belongs to the developer Ada Stone"
    by = next((n for n in range(max(0, one.first - 3), one.first) if units[n].text == "by"), None)
    if one.last != one.first + 1 or not role or by is None:
        return False
    if units[one.first].text in _OWNERS:
        return True
    return any(unit.text in _NOT_MAKING for unit in units[max(0, by - _LONGEST_HEAD) : by])


def _is_of_agent(ending: Iterable[Occurrence], clause: Clause) -> bool:
    """Whether words only say what an agent is, so that the verb before it counts: "built by the engineer"."""
    units, said = clause.units, list(ending)
    led = all(any(unit.text == "by" for unit in units[max(0, one.first - 3) : one.first]) for one in said)
    roles = all(one.last == one.first + 1 and units[one.first].text.endswith(_ROLES) for one in said)
    return led and roles and not any(clause.term.iri in one.terms for one in said)


def _past_aside(units: Sequence[Unit], at: int, openers: Collection[str] = ("which", "who")) -> int:
    """The place behind a relative clause between commas: ", which Jo Reed built,"."""
    if at + 1 >= len(units) or units[at].text != "," or units[at + 1].text not in openers:
        return at
    closed = (n for n in range(at + 2, len(units)) if units[n].text == ",")
    return next(closed, at - 1) + 1


def _acts(units: Sequence[Unit], at: int) -> bool:
    """Whether a name has a verb of its own: "was founded by Jo Reed, and Ada Stone laid it out"."""
    after = _past_aside(units, at + 1, ("which", "who", "the", "a", "an"))
    while after < len(units) and is_adverb(units[after]):
        after += 1
    if after >= len(units) or units[after].kind is not Kind.WORD:
        return False
    verb = units[after].text
    takes = after + 1 < len(units) and units[after + 1].text in _ARTICLES | {"it", "them", "there"}
    return verb in AUXILIARIES | _INVERTED or (
        verb not in PREPOSITIONS | _CONJUNCTIONS | _TURNS and (takes or verb.endswith("ed"))
    )


def _has_own_verb(units: Sequence[Unit], at: int) -> bool:
    """Whether a name has a verb of its own, or one that is left out: ", and the Ash Cemetery by Jo Reed"."""
    left_out = at + 1 < len(units) and units[at + 1].text == "by"
    return left_out or _acts(units, at)


def _name_before(units: Sequence[Unit], at: int) -> bool:
    """Whether a name stands before "with" or "as well as"."""
    while at > 0 and units[at].text in _BETWEEN_NAMES | {","}:
        at -= 1
    return units[at].kind is Kind.NAME


def _own(ending: Iterable[Occurrence], clause: Clause) -> Sequence[Governor]:
    """The labels of this relation among those that end at one place; not a verb that its object does."""
    units = clause.units
    return [
        Governor(one.first, one.last)
        for one in ending
        if clause.term.iri in one.terms
        and not (units[one.last - 1].text == "on" and is_side(units[clause.value].text))
        and not _is_noun_of(units, one)
        and not _is_turned_into(units, one)
        and not _is_made_by_artist(clause, one)
        and not _is_active(one, clause)
        and not _is_of_founding(units, one)
    ]


def _describes_agent(units: Sequence[Unit], at: int) -> bool:
    """Whether a people's name only describes who made something: "by the English engineer Ada Stone"."""
    role = units[at + 1].text if at + 1 < len(units) else ""
    return is_adjectival(units[at].text.capitalize()) and role.endswith(_ROLES) and role not in _NO_ROLES


def _is_made_by_artist(clause: Clause, one: Occurrence) -> bool:
    """Whether "created" says who made a work, and not who founded it: "created by the sculptor Ada Stone"."""
    between = clause.units[one.last : clause.value]
    founds = clause.phrases.has_words(clause.term.iri, ("founded", "by"))
    created = clause.units[one.first].text in ("created", "made")
    return founds and created and any(unit.text in _ARTISTS for unit in between)


def _is_turned_into(units: Sequence[Unit], one: Occurrence) -> bool:
    """Whether "by" behind a noun belongs to the verb before: "was turned into a hotel by"."""
    by = units[one.last - 1].text == "by" and one.last == one.first + 2
    return by and any(unit.text == "into" for unit in units[max(0, one.first - 4) : one.first])


def _is_noun_of(units: Sequence[Unit], one: Occurrence) -> bool:
    """Whether words are a noun with "of": "the village of Norton" is Norton, "the borders of" no verb."""
    led = one.first > 0 and units[one.first - 1].text == "the"
    being = one.first > 1 and units[one.first - 2].text in AUXILIARIES | {",", "as"}
    place = units[one.first].text in OF_PLACES and units[one.last - 1].text == "of" and not being
    borders = one.last == one.first + 1 and one.last < len(units) and units[one.last].text == "of"
    return led and (place or (borders and units[one.first].text.endswith("s")))


def _is_active(one: Occurrence, clause: Clause) -> bool:
    """Whether the words are a verb of which the relation's object is the subject: "designed"."""
    unit = clause.units[one.first]
    alone = one.last == one.first + 1 and not one.passive
    verb = unit.stem in clause.phrases.converse_verbs(clause.term.iri)
    return alone and verb and not unit.text.endswith(("er", "or", "ers", "ors"))


def _behind(clause: Clause) -> Governor | None:
    """A noun of the relation right behind its object: "Gothic Revival style"."""
    after, joined = clause.value + 1, False
    if after < len(clause.units) and clause.units[after].text == "-":
        after += 1
    elif after + 1 < len(clause.units) and clause.units[after].text == "and":
        after, joined = after + 2, clause.units[after + 1].kind is Kind.NAME
    for one in clause.occurrences:
        if one.first == after and clause.term.iri in one.terms and not one.passive:
            rest = clause.units[one.last] if one.last < len(clause.units) else None
            plain = rest is None or rest.kind is Kind.MARK or rest.text in ("and", "by", "with", "to")
            several = clause.units[one.first].text.endswith("s")
            listed = joined or _is_last_of_list(clause)
            if plain and not _is_active(one, clause) and several <= listed and joined <= several:
                return Governor(clause.value, one.last)
    return None


def _is_last_of_list(clause: Clause) -> bool:
    """Whether a list ends with a name: "Gothic and Baroque" of "styles"."""
    units, at = clause.units, clause.value - 1
    return at > 0 and units[at].text == "and" and units[at - 1].kind is Kind.NAME


def _as_subject(clause: Clause) -> Governor | None:
    """The verb of which the object is the subject: "Amtrak operates" for "operated by"."""
    units, at = clause.units, clause.value + 1
    verbs = clause.phrases.converse_verbs(clause.term.iri)
    if is_closed_region(units, clause.value):
        return None  # "in Weston, Norton, bordering"
    while at < len(units) and (goes_on_with_name(units, at) or units[at].kind is Kind.NAME):
        at += 1
    at = _past_aside(units, at, ("a", "an", "the"))
    while at < len(units) and (is_adverb(units[at]) or units[at].text in ("has", "have", "had", "who", ",")):
        at += 1
    if at + 2 < len(units) and units[at + 1].text == "and" and units[at].stem not in verbs:
        at += 2  # "owns and operates"
    if at < len(units) and units[at].kind is Kind.WORD and units[at].stem in verbs:
        after = units[at + 1].text if at + 1 < len(units) else ""
        by = after == "by" or (
            units[at - 1].text == "," and after in PREPOSITIONS
        )  # "Elm Hall, built in 1873"
        if not by and not units[at].text.endswith(("er", "or", "ers", "ors")):
            return Governor(at, at + 1, converse=True)
    return None


def _as_role(clause: Clause) -> Governor | None:
    """The role of the object, and after it the subject: "Cass Gilbert was the architect of the tower"."""
    units, value = clause.units, clause.value
    for one in clause.occurrences:
        end = one.last - (units[one.last - 1].text in ("of", "was", "were"))
        if clause.term.iri not in one.terms or end <= one.first:
            continue
        role = units[end - 1].text
        if role in _NO_ROLES or not role.endswith(_ROLES):
            continue
        if not clause.phrases.has_noun_form(clause.term.iri, role):
            continue  # "its owner" for "owns"
        said = (unit.text for unit in units[one.first : end])
        led = clause.phrases.has_words(clause.term.iri, (*said, "of"))  # "is a member of the league"
        before = units[one.first - 1].text if one.first else ""
        if before in ("its", "the") and _is_named(units, value, one.first - 1, end):
            return Governor(one.first, end)
        if before == "whose" and 1 < one.first < value and _is_named(units, value, one.first - 1, end):
            owner = one.first - 2 - (units[one.first - 2].text == ",")
            return Governor(one.first, end, subject=owner) if units[owner].kind is Kind.NAME else None
        if one.first > value and not led and _is_of(units, end, clause.others):
            return Governor(one.first, end, converse=True)
        whole = next((at for at in (end + 1, end + 2) if at in clause.others), None)
        if (
            whole is not None
            and units[end].text == "of"
            and not led
            and value == whole + 2
            and units[whole + 1].text == ","
        ):
            return Governor(one.first, end, subject=whole)  # "The architect of Elm Hall, Ada Stone, was"
    return None


def _is_named(units: Sequence[Unit], value: int, first: int, last: int) -> bool:
    """Whether a name stands right beside "its architect": "Ada Stone was its architect".

    "The architect" is that of the clause's subject only where "was" and the name follow: "the architect was".
    """
    own = units[first].text != "the"
    if last < value:
        after = last + 1 + (units[last + 1].text == "the")
        return value == after and (units[last].text in ("was", "is") or (own and units[last].text == ","))
    return own and value == first - 2 and units[first - 1].text in (",", "was", "is", "were")


def _is_of(units: Sequence[Unit], at: int, others: frozenset[int]) -> bool:
    if at >= len(units) or units[at].text != "of":
        return False
    return bool({at + 1, at + 2} & others)


def _list_continues(units: Sequence[Unit], at: int) -> bool:
    """Whether a list goes on behind a name: ", the Altes Museum and the Pergamon Museum"."""
    return any(goes_on_with_name(units, n) for n in range(at + 1, min(at + 3, len(units))))


def _span(unit: Unit) -> tuple[int, int]:
    return unit.start, unit.end
