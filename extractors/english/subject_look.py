"""Whether the subject of a statement can be what its words speak of: in its clause, and in its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from extractors.english.clause import (
    Clause,
    Governor,
    acts_on_other,
    first_name,
    has_it_too,
    is_acted_on,
    is_actor,
    is_behind,
    is_done_to_it,
    is_named_behind,
    is_numbered,
    is_numeral,
    is_object_before,
    is_one_of_two,
    is_only_behind,
    is_region,
    listed_with,
    name_before,
    names_role,
    noun_before,
    objects_of,
    of_named_kind,
    only_places,
    opens_next_clause,
    other_subject,
    owner_before,
    says_of_owned,
)
from extractors.english.descriptions import Description, is_another, opening_noun, without_verb
from extractors.english.kinds import KindLook, WholeNames, kind_of_name
from extractors.english.phrases import Group, phrases_of
from extractors.english.placing import chained, is_listed_with, makes_a_part, places_another
from extractors.english.subjects import antecedent_before, is_complement, subject_of
from extractors.english.topics import Topics, complemented
from extractors.english.units import PREPOSITIONS, Kind, Unit, spaced, units_of
from extractors.grounding.entities import name_key
from extractors.grounding.linking import Fit, Linker
from extractors.grounding.mentions import GroundedText
from extractors.text.chunking import Span, SpanIndex
from ontology.terms import OntologyClass, OntologyProperty, PropertyKind

_PRONOUNS: Final = frozenset("it its he she they his her their this these both which who that".split())


class SubjectLook:
    """Looks at the subjects of statements of one text; `names` are where its names are."""

    def __init__(
        self,
        text: GroundedText,
        linker: Linker,
        names: SpanIndex,
        whole: WholeNames,
        kinds: KindLook,
    ) -> None:
        self._text, self._linker, self._schema = text, linker, linker.schema
        self._phrases = phrases_of(linker.schema)
        self._names, self._whole, self._kinds = names, whole, kinds
        self._units: dict[Span, Sequence[Unit]] = {}
        self.topics = Topics(text, self._units_of, self._suits, self._is_called, self._phrases)

    def _units_of(self, sentence: Span) -> Sequence[Unit]:
        if sentence not in self._units:
            names = {*self._names.beginning_in(sentence), *self._text.capitalized_runs(sentence)}
            self._units[sentence] = units_of(self._text.text, sentence, names)
        return self._units[sentence]

    def _suits(self, noun: str, name: str) -> bool:
        """Whether "the museum" can be a name: it has that word, or is known or called to be one."""
        kind = self._schema.find_class(noun)
        if self._phrases.is_head(noun, name):
            return True
        own = {one for entry in self._linker.labels.exact(name) for one in entry.classes}
        said = kind_of_name(name, self._schema)
        own |= {said.iri} if said is not None else set()
        if kind is None:
            return False
        above = self._schema.superclasses
        if any(kind.iri in above(one) for one in own):
            return True
        return any(self._kinds.said_kind(span, kind) is not None for span in self._text.occurrences(name))

    def _is_called(self, noun: str, name: str) -> bool:
        """Whether the text says "is a museum" of a name."""
        kind, described = self._schema.find_class(noun), self._kinds.described(name)
        return (
            kind is not None
            and described is not None
            and (kind.iri in self._schema.superclasses(described[0].iri))
        )

    def may_be_about(self, sentence: Span, subject: str, units: Sequence[Unit]) -> bool:
        """Whether a sentence that does not name a subject can be about it: what the text was about before.

        What is in brackets is about the name before them.
        """
        noun = opening_noun(units) if any(unit.text in ("the", "this") for unit in units[:2]) else ()
        if is_another(units) or self.topics.is_apart(sentence, subject, units, noun):
            return False
        topics = list(self.topics.recent(sentence))
        described = (self.topics.described(sentence, " ".join(noun[:n])) for n in range(len(noun), 0, -1))
        topics += [name for name in described if name is not None]
        return not topics or any(self.is_same(topic, subject) for topic in topics)

    def wrong_entry(self, sentence: Span, clause: Clause, subject: str) -> str | None:
        """What speaks against an entry of a list, "Owner: Oak Trust", saying something of a subject.

        It speaks of a name before it in its sentence, or of what the list is about.
        """
        meant = self.topics.of_text(sentence)
        key = next(n for n, unit in enumerate(clause.units) if unit.text == ":")
        if any(at < key for at in clause.others) or (meant is not None and self.is_same(meant, subject)):
            return None
        recent = self.topics.recent(sentence)
        if meant is None and (not recent or any(self.is_same(topic, subject) for topic in recent)):
            return None
        return f'The list is about "{meant or recent[0]}", not about "{subject}".'

    def wrong_subject(
        self, clause: Clause, found: Governor, term: OntologyProperty, subject: str, group: Group
    ) -> str | None:
        units, text = clause.units, self._text.text
        first = first_name(clause, found)
        if names_role(clause, found) and (first is None or first in clause.others):
            return None
        apposed = clause.value < found.first and units[found.first - 1].text in ("its", "their")
        if apposed and not clause.others and first is not None and first != clause.value:
            return f'The text says "{term.label}" of "{spaced(text, units[first])}", not of "{subject}".'
        if found.subject is not None:
            at = found.subject
            if at in clause.others or at not in range(len(units)) or units[at].kind is not Kind.NAME:
                return None
            return (
                f'The text says "{term.label}" of "{spaced(text, units[found.subject])}", not of "{subject}".'
            )
        if found.converse:
            return self._wrong_object(clause, found, term, subject)
        return self._wrong_agent(clause, found, term, subject, group)

    def _wrong_agent(
        self, clause: Clause, found: Governor, term: OntologyProperty, subject: str, group: Group
    ) -> str | None:
        """The same where words in their plain order say something of the subject."""
        units, text = clause.units, self._text.text
        if group is Group.DATES:
            if acts_on_other(clause, found):
                return f'The text says what "{subject}" did to another thing.'
            if not clause.others and is_done_to_it(clause, found):
                return None  # what "it" is, `may_be_about` has found
        if (said := self._other(clause, found, subject)) is not None:
            return f'The text says "{term.label}" of {said}, not of "{subject}".'
        if (misplaced := self._misplaced(clause, found, subject, group)) is not None:
            return misplaced
        about = subject_of(units, found.first, clause.value, lambda unit: self.is_name_of(unit, subject))
        if isinstance(about, Description):
            about = without_verb(about, units[found.first].text)
            of_it = units[found.last - 1].text == "by" or group is Group.NUMBERS or about.inner
            noun = about.noun.split()
            part = units[found.first - 1].text in noun or self._schema.find_class(noun[-1]) is not None
            of_it = of_it or (group is Group.DATES and part)
            return self._beside_description(clause, found, about, subject) or self._misdescribed(
                about, term, subject, of_it=of_it
            )
        if about is not None and is_numbered(units, units.index(about)):
            return f'The text says "{term.label}" of "the {units[units.index(about) - 1].text} {subject}".'
        if about is not None and not any(self.is_name_of(one, subject) for one in listed_with(units, about)):
            return f'The text says "{term.label}" of "{spaced(text, about)}", not of "{subject}".'
        doubt = self._left_open(clause, found, term, subject) if about is None else None
        if doubt is not None:
            return doubt
        if not clause.others and (other := other_subject(units, found.first, clause.value)) is not None:
            return f'The text says "{term.label}" of "{spaced(text, other)}", not of "{subject}".'
        return None

    def _misplaced(self, clause: Clause, found: Governor, subject: str, group: Group) -> str | None:
        """What speaks against a subject that only says where another thing is, or stands behind it."""
        units, text, term = clause.units, self._text.text, clause.term
        if is_only_behind(clause, found):
            return f'The text says "{term.label}" of another thing, and names "{subject}" only behind it.'
        if (whole := complemented(units, found.first, clause.others)) is not None:
            return f'The text says "{term.label}" of "the {whole}", not of "{subject}".'
        if group is Group.NAMES and units[found.last - 1].text != "by" and is_region(clause, found):
            return f'The text has "{subject}" as the region of "{spaced(text, units[clause.value])}".'
        return None

    def _left_open(self, clause: Clause, found: Governor, term: OntologyProperty, subject: str) -> str | None:
        """What speaks against a subject where the words have none in their clause."""
        units = clause.units
        lone = found.last == found.first + 1 and units[found.first].text in PREPOSITIONS
        if not lone and only_places(units, clause.others, found.first):
            return f'The text says "{term.label}" of another thing, which "{subject}" only places.'
        if (
            found.first > 1
            and units[found.first - 1].text == "there"
            and units[found.first - 2].text.isalpha()
        ):
            return f'The text says "{term.label}" of "the {units[found.first - 2].text} there".'
        if opens_next_clause(clause):
            return f'The text says "{term.label}" in another clause than that of "{subject}".'
        if is_behind(clause, found):
            return f'The text says "{term.label}" of "it", which "{subject}" behind it is not.'
        return None

    def _beside_description(
        self, clause: Clause, found: Governor, about: Description, subject: str
    ) -> str | None:
        """What speaks against a subject that is named beside what a clause is about: "The hall is run by"."""
        placed = [
            (at < found.first or is_named_behind(clause, at, about, subject))
            and (is_complement(clause.units, at) or is_acted_on(clause.units, at, found.last))
            for at in clause.others
        ]
        last = max(clause.others, default=0)
        if not (about.mid or about.inner or about.possessive) and is_object_before(clause, found):
            return (
                f'The text says "{clause.term.label}" of "the {about.noun.split()[0]}", not of "{subject}".'
            )
        relative = any(unit.text in ("which", "who", "that") for unit in clause.units[last : found.first])
        own = clause.units[found.first].text in about.noun.split()  # "in Weston, the capital of"
        if not placed or not all(placed) or relative or own:
            return None
        return f'The text says "{clause.term.label}" of "{about.noun}", beside "{subject}".'

    def _other(self, clause: Clause, found: Governor, subject: str) -> str | None:
        """The other thing of which the words surely speak, by what stands right before them."""
        units, text = clause.units, self._text.text
        station = of_named_kind(clause, found)
        if is_listed_with(clause, found):
            return "what is named before both"
        if station is not None and not self.is_same(station, subject):
            return f'"{station}"'
        if places_another(units, found) or says_of_owned(clause, found):
            return "something of another thing"
        owner = owner_before(units, found) or name_before(clause, found)
        if owner is not None and not self.is_name_of(owner, subject):
            return f'"{spaced(text, owner)}"'
        other = noun_before(units, found) or self._beside(clause, found, subject)
        return None if other is None else f'"{spaced(text, other)}"'

    def _wrong_object(
        self, clause: Clause, found: Governor, term: OntologyProperty, subject: str
    ) -> str | None:
        """The same where the object is the grammatical subject: "Ada Stone designed the hall"."""
        units, text = clause.units, self._text.text
        meant = antecedent_before(units, clause.value, lambda unit: self.is_name_of(unit, subject))
        if isinstance(meant, Unit) and not self.is_name_of(meant, subject):
            return f'The text says "{term.label}" of "{spaced(text, meant)}", not of "{subject}".'
        after = None if meant is not None else objects_of(units, found.last)
        placed = [at > found.last and is_complement(units, at) for at in clause.others]
        described = units[found.last : found.last + 1] and units[found.last].text in ("the", "a", "an", "its")
        if meant is None and after is None and described and placed and all(placed):
            return f'The text says "{term.label}" of another thing, which "{subject}" only places.'
        if [unit.text for unit in units[found.last : found.last + 1]] in (["him"], ["her"]):
            return f'The text says "{term.label}" of a person, not of "{subject}".'
        if makes_a_part(units, found.last):
            return f'The text says "{term.label}" of a part of "{subject}".'
        acting = bool(clause.others) and all(is_actor(clause, at) for at in clause.others)
        if after is None and meant is None and acting:
            return f'The text says "{term.label}" of another thing, on which "{subject}" acts.'
        if after is None and meant is None and has_it_too(units, clause, found):
            return f'The text says "{term.label}" of "it", which is not "{subject}".'
        if after is not None and not any(self.is_name_of(unit, subject) for unit in after):
            return f'The text says "{term.label}" of another thing, not of "{subject}".'
        return None

    def _beside(self, clause: Clause, found: Governor, subject: str) -> Unit | None:
        """The other name that a lone preposition follows, in a sentence that has neither subject nor "it"."""
        units, before = clause.units, found.first - 1
        lone = found.last == found.first + 1 and units[found.first].text in PREPOSITIONS
        if (
            not lone
            or before < 0
            or units[before].kind is not Kind.NAME
            or self.is_name_of(units[before], subject)
        ):
            return None
        if chained(units, before, lambda unit: self.is_name_of(unit, subject)) is False:
            return units[before]
        if clause.term.kind is PropertyKind.OBJECT and is_one_of_two(units, before):
            return units[before]
        meant = any(unit.text in _PRONOUNS for unit in units[:before]) or units[0].text in ("the", "this")
        placed = is_complement(units, before)
        return None if clause.others or (meant and placed) else units[before]

    def wrong_topic(
        self, sentence: Span, clause: Clause, found: Governor, term: OntologyProperty, subject: str
    ) -> str | None:
        """Whether "it" or "the tunnel", which opens the sentence, surely stands for another thing."""
        units = clause.units
        if found.subject is not None:
            return None
        if found.first and units[found.first - 1].text == "its" and not clause.others:
            before = self.topics.before(sentence)
            if before is not None and not self.is_same(before, subject):
                return f'The text says "{term.label}" of "{before}", not of "{subject}".'
        first = next((unit for unit in units if unit.kind is not Kind.MARK), None)
        named = [at for at, unit in enumerate(units[: found.first]) if unit.kind is Kind.NAME]
        about = subject_of(units, found.first, clause.value, lambda unit: self.is_name_of(unit, subject))
        if first is None or found.converse or (isinstance(about, Unit) and self.is_name_of(about, subject)):
            return None
        if any(not is_complement(units, at) for at in named) or (named and first.text not in ("it", "its")):
            return None
        if first.text in ("it", "its"):
            if not self.topics.may_be(sentence, lambda unit: self.is_name_of(unit, subject)):
                return f'The text says "{term.label}" of what it speaks of before, not of "{subject}".'
        elif first.text == "the" and (noun := opening_noun(units)):
            own_kind = kind_of_name(subject, self._schema)
            kinds = (self._schema.find_class(" ".join(noun[:n])) for n in range(len(noun), 0, -1))
            kind = next((one for one in kinds if one is not None), None)
            if kind is None or own_kind is None or self._suits(kind.label, subject):
                return None
            if self._linker.fit(frozenset({own_kind.iri}), frozenset({kind.iri})) is Fit.DISJOINT:
                return f'The text says "{term.label}" of "the {kind.label}", and "{subject}" is none.'
        return None

    def _misdescribed(
        self, about: Description, term: OntologyProperty, subject: str, *, of_it: bool
    ) -> str | None:
        """Whether "the tower" or, with `of_it`, "its towers" cannot be the subject."""
        words = about.noun.split()
        if is_numeral(words[0]) and not self._suits(words[-1], subject):
            return f'The text says "{term.label}" of "the {words[0]}" of several, not of "{subject}".'
        if (
            (about.inner or about.mid)
            and not about.possessive
            and words[-1] != "one"
            and not any(name_key(word) in name_key(subject).split() for word in words)
        ):
            fits = any(self._suits(" ".join(words[:n]), subject) for n in range(len(words), 0, -1))
            if not fits:
                return f'The text says "{term.label}" of "{about.noun}", not of "{subject}".'
        if about.possessive:
            own = any(self._phrases.has_noun(term.iri, word) for word in words if not word.endswith("ed"))
            if own or not of_it:
                return None
            return f'The text says "{term.label}" of a part of it ("its {words[0]}"), not of "{subject}".'
        kinds = (self._schema.find_class(" ".join(words[:n])) for n in range(len(words), 0, -1))
        kind = next((one for one in kinds if one is not None), None)
        classes = frozenset(c for entry in self._linker.labels.exact(subject) for c in entry.classes)
        if kind is not None and not classes and not about.mid and self._is_of_another_kind(kind, subject):
            return f'The text says "{term.label}" of "the {kind.label}", and "{subject}" is none.'
        if kind is None or not classes:
            return None
        if self._linker.fit(classes, frozenset({kind.iri})) is Fit.DISJOINT:
            return f'The text says "{term.label}" of "the {words[0]}", and "{subject}" is none.'
        return None

    def _is_of_another_kind(self, kind: OntologyClass, subject: str) -> bool:
        """Whether a name says that it is no such thing: "Ash Bridge" is no tunnel.

        Kinds that have others below them are too general for that: "the building".
        """
        own = kind_of_name(subject, self._schema)
        if own is None or self._suits(kind.label, subject) or len(self._schema.subclasses(kind.iri)) > 1:
            return False
        above = self._schema.superclasses
        return kind.iri not in above(own.iri) and own.iri not in above(kind.iri)

    def is_same(self, words: str, name: str) -> bool:
        """Whether words are a name, a short form of it, or another name of the same thing."""
        return self.is_name_of(Unit(Kind.NAME, words.casefold(), "", 0, 0), name)

    def is_name_of(self, unit: Unit, name: str) -> bool:
        """Whether a unit is a name, a short form of it, or another name of the same thing."""
        if unit.kind is not Kind.NAME:
            return False
        here, there = name_key(unit.text), name_key(name)
        if here == there:
            return True
        ours = {entry.iri for entry in self._linker.labels.exact(unit.text)}
        if any(entry.iri in ours for entry in self._linker.labels.exact(name)):
            return True
        if f" {there} ".find(f" {here} ") >= 0:
            first = self._text.occurrences(name)[:1]
            comes_later = bool(unit.end and first and first[0].start > unit.start)
            return not (ours or comes_later)  # "Norton" is not short for a "Norton Hall" that comes later
        before, found, after = f" {here} ".partition(f" {there} ")
        return bool(found) and not after and all(self._whole.describes(word) for word in before.split())
