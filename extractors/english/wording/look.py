"""The second look: does a sentence say this relation, in this direction, of these two?

A model proposes relations; of well-typed falsehoods no shape knows. So the labels of the relation must govern
its object, and what they are said of must be able to be the subject. The labels are those of the ontology:
a paraphrase that none of them has waits for a person, who may add it as a label.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from pyoxigraph import NamedNode

from extractors.english.values import looks_like_value
from extractors.english.wording.clause import Clause, Governor
from extractors.english.wording.clause_checks import (
    has_it_too,
    is_behind,
    is_compound,
    is_half,
    is_one_of_two,
    is_owner,
    is_part_of_words,
    is_region,
    name_before,
    noun_before,
    objects_of,
    only_places,
    other_subject,
    owner_before,
    says_of_a_part,
    says_of_owned,
)
from extractors.english.wording.descriptions import Description
from extractors.english.wording.governing import governors
from extractors.english.wording.kind_look import KindLook
from extractors.english.wording.kinds import kind_of_name
from extractors.english.wording.phrases import Group, group_of, phrases_of
from extractors.english.wording.subjects import (
    antecedent_before,
    chained,
    is_complement,
    listed_with,
    subject_of,
)
from extractors.english.wording.topics import IT, Topics, complemented, is_another, opening_noun
from extractors.english.wording.units import (
    AUXILIARIES,
    PREPOSITIONS,
    Kind,
    Unit,
    capitalized_runs,
    is_indefinite,
    outside,
    units_of,
    with_past_names,
)
from extractors.english.wording.whole_names import WholeNames
from extractors.grounding.entities import is_name, name_key
from extractors.grounding.interpretation import Interpretation
from extractors.grounding.linking import Fit, Linker
from extractors.grounding.mentions import GroundedText
from extractors.text.chunking import Span
from extractors.text.cleaning import detect_language, is_held_together
from ontology.terms import OntologyProperty, PropertyKind

__all__ = ["Wording"]

_LANGUAGE: Final = "en"
_PRONOUNS: Final = frozenset("it its he she they his her their this these both which who that".split())  # noqa: SIM905


class Wording:
    """Looks again at relations of one text; `names` are all names that were found in it."""

    def __init__(self, text: GroundedText, linker: Linker, names: Collection[str]) -> None:
        self.text = text
        self._linker = linker
        self.schema = linker.schema
        self.phrases = phrases_of(linker.schema)
        self.reads = detect_language(text.text, expected=(_LANGUAGE,)) in (_LANGUAGE, None)
        self._runs = frozenset(run for one in text.sentences for run in capitalized_runs(text.text, one))
        named = (name for name in names if is_name(name))
        spans = {s for name in named for s in text.occurrences(name) if not is_indefinite(text.text, s)}
        spans |= {Span(start, end) for start, end, _ in linker.labels.mentions(text.text)}
        self._names = frozenset(span for span in spans if not looks_like_value(_words(text, span)))
        self._whole = WholeNames(text, linker, self.phrases)
        self._kinds = KindLook(text, linker, self._names, self._whole, self._is_english)
        self.topics = Topics(text, self._units_of, self._suits, self.phrases)

    def _units_of(self, sentence: Span) -> Sequence[Unit]:
        runs = capitalized_runs(self.text.text, sentence)
        return units_of(self.text.text, sentence, {*self._names, *runs})

    def _suits(self, noun: str, name: str) -> bool:
        """Whether "the museum" can be a name: it has that word, or is known or called to be one."""
        kind = self.schema.find_class(noun)
        if self.phrases.is_head(noun, name):
            return True
        own = {one for entry in self._linker.labels.exact(name) for one in entry.classes}
        said = kind_of_name(name, self.schema)
        own |= {said.iri} if said is not None else set()
        if kind is None:
            return False
        above = self.schema.superclasses
        if any(kind.iri in above(one) for one in own):
            return True
        return any(self._kinds.said_kind(span, kind) is not None for span in self.text.occurrences(name))

    @property
    def names(self) -> frozenset[Span]:
        """Where the names of the text are, those that capitalized words make among them."""
        return self._names | self._runs

    def foreign_kinds(self) -> Iterable[tuple[str, str, Span]]:
        """What kinds the text says of names in other scripts than Latin, which a small model passes over."""
        return self._kinds.said_of_foreign(self._runs) if self.reads else ()

    def described_kinds(self, names: Iterable[str]) -> Iterable[tuple[str, str, Span]]:
        """The kinds that noun phrases behind names say of them: the name, the kind, the sentence."""
        for name in names:
            if (found := self._kinds.described(name)) is not None:
                yield name, found[0].label, found[1]

    def look(self, reading: Interpretation) -> Interpretation:
        """Return the reading with what its words do not say, or with its ends in the order that they say."""
        term = reading.relation
        if reading.is_type:
            return self._kinds.look(reading)
        if term is None or reading.grounded.object is None:
            return reading
        doubt = self._whole.doubt(reading, term) or self._doubt(reading)
        if doubt is None or term.kind is not PropertyKind.OBJECT or term.symmetric:
            return replace(reading, doubt=doubt)
        inverse = self.schema.properties.get(term.inverse) if term.inverse else None
        if inverse is not None:
            other = replace(reading, relation=inverse)
            if self._fits(reading.said.triple.subject, inverse.domains) and self._doubt(other) is None:
                return other
        turned = reading.turned()
        fits = self._fits(turned.said.triple.subject, term.domains) and self._fits(
            turned.said.triple.object, term.ranges
        )
        if fits and turned.grounded.object is not None and self._doubt(turned) is None:
            return turned
        return replace(reading, doubt=doubt)

    def _fits(self, name: str, classes: frozenset[NamedNode]) -> bool:
        entries = self._linker.labels.exact(name)
        return not entries or any(
            self._linker.fit(entry.classes, classes) is not Fit.DISJOINT for entry in entries
        )

    def _doubt(self, reading: Interpretation) -> str | None:
        """What speaks against a statement in every sentence that has its object; None where one says it."""
        triple, term = reading.said.triple, reading.relation
        assert term is not None
        if name_key(triple.subject) == name_key(triple.object):
            return f'It says "{term.label}" of a thing and itself.'
        found = None
        for span in self._spans(triple.object, reading):
            sentence = self.text.sentence_of(span)
            if not self._is_english(sentence):
                return None
            doubt = self.says(sentence, term, triple.subject, span, triple.relation)
            if doubt is None or self._says_inverse(sentence, term, triple.subject, span):
                return None
            found = found or doubt
        if term.kind is PropertyKind.OBJECT and self._says_of_it(reading):
            return None
        return found

    def _says_of_it(self, reading: Interpretation) -> bool:
        """Whether a sentence after one about the object says it of "it": "Elm Bridge crosses it"."""
        triple, term = reading.said.triple, reading.relation
        assert term is not None
        for mention in self.text.occurrences(triple.subject):
            sentence = self.text.sentence_of(mention)
            topic = self.topics.before(sentence)
            if topic is None or not self._is(Unit(Kind.NAME, topic.casefold(), "", 0, 0), triple.object):
                continue
            for it in IT.finditer(self.text.text, mention.end, sentence.end):
                if self.says(sentence, term, triple.subject, Span(it.start(), it.end()), "") is None:
                    return True
        return False

    def _spans(self, words: str, reading: Interpretation) -> Sequence[Span]:
        window = reading.said.window
        near = self.text.occurrences(words, window) or self.text.occurrences(words)
        assert reading.grounded.object is not None
        return [reading.grounded.object, *(span for span in near if span != reading.grounded.object)]

    def _is_english(self, sentence: Span) -> bool:
        return self.reads or is_held_together(self.text.text[sentence.start : sentence.end], _LANGUAGE)

    def _says_inverse(self, sentence: Span, term: OntologyProperty, subject: str, value: Span) -> bool:
        """Whether the sentence says it from the other end: "contains" for "located in"."""
        other = term if term.symmetric else self.schema.properties.get(term.inverse) if term.inverse else None
        if other is None:
            return False
        return any(
            self.says(sentence, other, _words(self.text, value), span, "") is None
            for span in self.text.occurrences(subject, sentence)
        )

    def says(
        self,
        sentence: Span,
        term: OntologyProperty,
        subject: str,
        value: Span,
        relation: str,
        governs: Callable[[Clause, Governor], bool] | None = None,
    ) -> str | None:
        """What speaks against a sentence saying that the subject has this value; None for nothing.

        `governs` tells which words that say the relation count; without it all do.
        """
        text = self.text.text
        names = {span for span in self._names if sentence.start <= span.start < sentence.end}
        names |= set(capitalized_runs(text, sentence))
        group = group_of(term)
        if group is not Group.NAMES or not self._whole.is_part(names, value):
            names = {span for span in names if span.end <= value.start or value.end <= span.start} | {value}
        units = with_past_names(units_of(text, sentence, names))
        if any(unit.text == "respectively" for unit in units):
            return 'The text says which belongs to which by "respectively", which is not read.'
        at = next((n for n, u in enumerate(units) if u.start <= value.start and value.end <= u.end), None)
        if at is None:
            return f'"{text[value.start : value.end]}" goes on beyond its sentence.'
        if (units[at].start, units[at].end) != (value.start, value.end) and group is Group.NAMES:
            return f'"{text[value.start : value.end]}" is a part of "{_text(text, units[at])}".'
        units, at = outside(units, at)
        others = frozenset(
            n
            for n, unit in enumerate(units)
            if n != at
            and self._is(unit, subject)
            and not self.phrases.is_other(units, n)
            and not is_compound(units, n)
        )
        extra = {term.iri: relation} if relation and not self.phrases.knows(relation) else {}
        occurrences = self.phrases.occurrences(units, group, extra)
        clause = Clause(units, at, others, occurrences, term, self.phrases)
        if group is Group.NAMES and (is_part_of_words(clause) or self.phrases.is_other(units, at)):
            return f'"{_text(text, units[at])}" is a part of a longer name, or describes another thing.'
        if (
            group is Group.NAMES
            and term.kind is not PropertyKind.OBJECT
            and (units[at - 1].text in ("a", "an") or _is_described(text, units, at))
        ):
            return f'"{_text(text, units[at])}" describes a thing and is no name.'
        doubts: list[str] = []
        for found in governors(clause, group):
            if governs is not None and not governs(clause, found):
                continue
            doubt = self._against(sentence, clause, found, subject, group)
            if doubt is None:
                return None
            doubts.append(doubt)
        unsaid = f'The words before and after "{_text(text, units[at])}" do not say "{term.label}".'
        return next(iter(doubts), unsaid)

    def _against(
        self, sentence: Span, clause: Clause, found: Governor, subject: str, group: Group
    ) -> str | None:
        """What speaks against words that say the relation of the object saying it of the subject."""
        text, units, term = self.text.text, clause.units, clause.term
        said = _text(text, units[clause.value])
        if is_owner(clause, found):
            return f'"{said}" owns what follows it, or is a part of its name.'
        if is_half(clause, found):
            return f'"{said}" may be a part of a longer name with "and".'
        if not clause.others and not self._may_be_about(sentence, subject, units):
            return f'The sentence does not name "{subject}", and those before it are about other things.'
        return self._wrong_subject(clause, found, term, subject, group) or self._wrong_topic(
            sentence, clause, found, term, subject
        )

    def _may_be_about(self, sentence: Span, subject: str, units: Sequence[Unit]) -> bool:
        """Whether a sentence that does not name a subject can be about it: what the text was about before.

        What is in brackets is about the name before them.
        """
        if any(unit.text == ")" for unit in units[-1:]):
            opened = max((n for n, unit in enumerate(units) if unit.text == "("), default=0)
            if opened and units[opened - 1].kind is Kind.NAME:
                return False
        if [unit.text for unit in units[:1]] == ["this"] and units[1].text in AUXILIARIES | {"came"}:
            return False  # "This came to be called the Elm Affair": what happened, no thing
        if is_another(units):
            return False
        topics = list(self.topics.recent(sentence))
        noun = opening_noun(units) if any(unit.text in ("the", "this") for unit in units[:2]) else ()
        described = (self.topics.described(sentence, " ".join(noun[:n])) for n in range(len(noun), 0, -1))
        topics += [name for name in described if name is not None]
        return not topics or any(
            self._is(Unit(Kind.NAME, topic.casefold(), "", 0, 0), subject) for topic in topics
        )

    def _wrong_subject(
        self, clause: Clause, found: Governor, term: OntologyProperty, subject: str, group: Group
    ) -> str | None:
        units, text = clause.units, self.text.text
        if found.subject is not None:
            if found.subject in clause.others or not self._is_name(units, found.subject):
                return None
            return (
                f'The text says "{term.label}" of "{_text(text, units[found.subject])}", not of "{subject}".'
            )
        if found.converse:
            return self._wrong_object(clause, found, term, subject)
        if (said := self._other(clause, found, subject)) is not None:
            return f'The text says "{term.label}" of {said}, not of "{subject}".'
        if (whole := complemented(units, found.first, clause.others)) is not None:
            return f'The text says "{term.label}" of "the {whole}", not of "{subject}".'
        if group is Group.NAMES and is_region(clause, found):
            return f'The text has "{subject}" as the region of "{_text(text, units[clause.value])}".'
        about = subject_of(units, found.first, clause.value, lambda unit: self._is(unit, subject))
        if isinstance(about, Description):
            of_it = units[found.last - 1].text == "by" or group is Group.NUMBERS or about.inner
            of_it = of_it or (group is Group.DATES and units[found.first - 1].text in about.noun.split())
            return self._beside_description(clause, found, about, subject) or self._misdescribed(
                about, term, subject, of_it=of_it
            )
        if about is not None and not any(self._is(one, subject) for one in listed_with(units, about)):
            return f'The text says "{term.label}" of "{_text(text, about)}", not of "{subject}".'
        lone = found.last == found.first + 1 and units[found.first].text in PREPOSITIONS
        if about is None and not lone and only_places(units, clause.others, found.first):
            return f'The text says "{term.label}" of another thing, which "{subject}" only places.'
        if about is None and is_behind(clause, found):
            return f'The text says "{term.label}" of "it", which "{subject}" behind it is not.'
        if not clause.others and (other := other_subject(units, found.first, clause.value)) is not None:
            return f'The text says "{term.label}" of "{_text(text, other)}", not of "{subject}".'
        return None

    def _beside_description(
        self, clause: Clause, found: Governor, about: Description, subject: str
    ) -> str | None:
        """What speaks against a subject that is named beside what a clause is about: "The hall is run by"."""
        placed = [at < found.first and is_complement(clause.units, at) for at in clause.others]
        last = max(clause.others, default=0)
        relative = any(unit.text in ("which", "who", "that") for unit in clause.units[last : found.first])
        own = clause.units[found.first].text in about.noun.split()  # "in Weston, the capital of"
        if not placed or not all(placed) or relative or own:
            return None
        return f'The text says "{clause.term.label}" of "{about.noun}", beside "{subject}".'

    def _other(self, clause: Clause, found: Governor, subject: str) -> str | None:
        """The other thing of which the words surely speak, by what stands right before them."""
        units, text = clause.units, self.text.text
        if says_of_a_part(units, found) or says_of_owned(clause, found):
            return "something of another thing"
        owner = owner_before(units, found) or name_before(clause, found)
        if owner is not None and not self._is(owner, subject):
            return f'"{_text(text, owner)}"'
        other = noun_before(units, found) or self._beside(clause, found, subject)
        return None if other is None else f'"{_text(text, other)}"'

    def _wrong_object(
        self, clause: Clause, found: Governor, term: OntologyProperty, subject: str
    ) -> str | None:
        """The same where the object is the grammatical subject: "Ada Stone designed the hall"."""
        units, text = clause.units, self.text.text
        meant = antecedent_before(units, clause.value, lambda unit: self._is(unit, subject))
        if isinstance(meant, Unit) and not self._is(meant, subject):
            return f'The text says "{term.label}" of "{_text(text, meant)}", not of "{subject}".'
        after = None if meant is not None else objects_of(units, found.last)
        placed = [at > found.last and is_complement(units, at) for at in clause.others]
        described = units[found.last : found.last + 1] and units[found.last].text in ("the", "a", "an", "its")
        if meant is None and after is None and described and placed and all(placed):
            return f'The text says "{term.label}" of another thing, which "{subject}" only places.'
        if after is None and meant is None and has_it_too(units, clause, found):
            return f'The text says "{term.label}" of "it", which is not "{subject}".'
        if after is not None and not any(self._is(unit, subject) for unit in after):
            return f'The text says "{term.label}" of another thing, not of "{subject}".'
        return None

    def _beside(self, clause: Clause, found: Governor, subject: str) -> Unit | None:
        """The other name that a lone preposition follows, in a sentence that has neither subject nor "it"."""
        units, before = clause.units, found.first - 1
        lone = found.last == found.first + 1 and units[found.first].text in PREPOSITIONS
        if not lone or before < 0 or units[before].kind is not Kind.NAME or self._is(units[before], subject):
            return None
        if chained(units, before, lambda unit: self._is(unit, subject)) is False:
            return units[before]
        if clause.term.kind is PropertyKind.OBJECT and is_one_of_two(units, before):
            return units[before]
        meant = any(unit.text in _PRONOUNS for unit in units[:before]) or units[0].text in ("the", "this")
        placed = is_complement(units, before)
        return None if clause.others or (meant and placed) else units[before]

    def _wrong_topic(
        self, sentence: Span, clause: Clause, found: Governor, term: OntologyProperty, subject: str
    ) -> str | None:
        """Whether "it" or "the tunnel", which opens the sentence, surely stands for another thing."""
        units = clause.units
        if found.subject is not None:
            return None
        if found.first and units[found.first - 1].text == "its" and not clause.others:
            before = self.topics.before(sentence)
            if before is not None and not self._is(Unit(Kind.NAME, before.casefold(), "", 0, 0), subject):
                return f'The text says "{term.label}" of "{before}", not of "{subject}".'
        first = next((unit for unit in units if unit.kind is not Kind.MARK), None)
        named = [at for at, unit in enumerate(units[: found.first]) if unit.kind is Kind.NAME]
        about = subject_of(units, found.first, clause.value, lambda unit: self._is(unit, subject))
        if first is None or found.converse or (isinstance(about, Unit) and self._is(about, subject)):
            return None
        if any(not is_complement(units, at) for at in named) or (named and first.text not in ("it", "its")):
            return None
        if first.text in ("it", "its"):
            if not self.topics.may_be(sentence, lambda unit: self._is(unit, subject)):
                return f'The text says "{term.label}" of what it speaks of before, not of "{subject}".'
        elif first.text == "the" and (noun := opening_noun(units)):
            own_kind = kind_of_name(subject, self.schema)
            kinds = (self.schema.find_class(" ".join(noun[:n])) for n in range(len(noun), 0, -1))
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
            own = any(self.phrases.has_noun(term.iri, word) for word in words if not word.endswith("ed"))
            if own or not of_it:
                return None
            return f'The text says "{term.label}" of a part of it ("its {words[0]}"), not of "{subject}".'
        kinds = (self.schema.find_class(" ".join(words[:n])) for n in range(len(words), 0, -1))
        kind = next((one for one in kinds if one is not None), None)
        classes = frozenset(c for entry in self._linker.labels.exact(subject) for c in entry.classes)
        if kind is None or not classes:
            return None
        if self._linker.fit(classes, frozenset({kind.iri})) is Fit.DISJOINT:
            return f'The text says "{term.label}" of "the {words[0]}", and "{subject}" is none.'
        return None

    def _is_name(self, units: Sequence[Unit], at: int) -> bool:
        return 0 <= at < len(units) and units[at].kind is Kind.NAME

    def _is(self, unit: Unit, name: str) -> bool:
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
            return not ours  # "Roosevelt Island", which is known, is not short for its tramway
        before, found, after = f" {here} ".partition(f" {there} ")
        return bool(found) and not after and all(self._whole.describes(word) for word in before.split())


def _is_described(text: str, units: Sequence[Unit], at: int) -> bool:
    """Whether words without a capital stand behind "the": "began as the kitchen garden"."""
    said = text[units[at].start : units[at].end]
    return at > 0 and units[at - 1].text == "the" and said.replace(" ", "").isalpha() and said.islower()


def _words(text: GroundedText, span: Span) -> str:
    return text.text[span.start : span.end]


def _text(text: str, unit: Unit) -> str:
    return " ".join(text[unit.start : unit.end].split())
