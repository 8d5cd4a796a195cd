"""The second look: does a sentence say this relation, in this direction, of these two?

A model proposes relations; of well-typed falsehoods no shape knows. So the labels of the relation must govern
its object, and what they are said of must be able to be the subject. The labels are those of the ontology:
a paraphrase that none of them has waits for a person, who may add it as a label.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from pyoxigraph import NamedNode

from extractors.english.coreference import OPENERS
from extractors.english.people import TITLES
from extractors.english.values import looks_like_value
from extractors.english.wording.governing import Clause, Governor, governor
from extractors.english.wording.kinds import kind_of_name, mentions_kind, said_kind
from extractors.english.wording.phrases import Group, group_of, phrases_of
from extractors.english.wording.proposing import Proposed, proposals
from extractors.english.wording.subjects import (
    Description,
    antecedent_before,
    is_complement,
    outside,
    subject_of,
)
from extractors.english.wording.topics import Topics, complemented, opening_noun
from extractors.english.wording.units import (
    Kind,
    Unit,
    capitalized_runs,
    is_indefinite,
    units_of,
    with_past_names,
)
from extractors.grounding.entities import is_name, name_key
from extractors.grounding.interpretation import Interpretation
from extractors.grounding.linking import Fit, LabelEntry, Linker
from extractors.grounding.mentions import GroundedText
from extractors.text.chunking import Span
from extractors.text.cleaning import detect_language, is_held_together
from ontology.terms import OntologyClass, OntologyProperty, PropertyKind

__all__ = ["Wording"]

_LANGUAGE: Final = "en"
_LISTING: Final = frozenset({"and", "or", "the", "with"})
_POSSESSIVE: Final = frozenset({"its", "his", "her", "their"})
_PARTICLES: Final = frozenset("in on at from within inside along".split())  # noqa: SIM905
_OPEN: Final = frozenset("it him her them itself this these".split())  # noqa: SIM905
_PRONOUNS: Final = frozenset("it its he she they his her their this these both which who that".split())  # noqa: SIM905
_LONGEST_OBJECT: Final = 3
_LONGEST_WORD: Final = 30


class Wording:
    """Looks again at relations of one text; `names` are all names that were found in it."""

    def __init__(self, text: GroundedText, linker: Linker, names: Collection[str]) -> None:
        self._text = text
        self._linker = linker
        self._schema = linker.schema
        self._phrases = phrases_of(linker.schema)
        self._language = detect_language(text.text, expected=(_LANGUAGE,))
        named = (name for name in names if is_name(name))
        spans = {s for name in named for s in text.occurrences(name) if not is_indefinite(text.text, s)}
        spans |= {Span(start, end) for start, end, _ in linker.labels.mentions(text.text)}
        self._names = frozenset(span for span in spans if not looks_like_value(_words(text, span)))
        self._topics = Topics(text, self._units_of, self._suits)

    def _units_of(self, sentence: Span) -> Sequence[Unit]:
        runs = capitalized_runs(self._text.text, sentence)
        return units_of(self._text.text, sentence, {*self._names, *runs})

    def _suits(self, noun: str, name: str) -> bool:
        """Whether "the museum" can be a name: it has that word, or is known or called to be one."""
        kind = self._schema.find_class(noun)
        if f" {name_key(noun)} " in f" {name_key(name)} ":
            return True
        own = {one for entry in self._linker.labels.exact(name) for one in entry.classes}
        said = kind_of_name(name, self._schema)
        own |= {said.iri} if said is not None else set()
        if kind is None:
            return False
        above = self._schema.superclasses
        if any(kind.iri in above(one) for one in own):
            return True
        return any(self._said_kind(span, kind) is not None for span in self._text.occurrences(name))

    def proposed(self) -> Iterable[Proposed]:
        """What the text says by the labels of relations; see `proposing`."""
        if self._language not in (_LANGUAGE, None):
            return ()
        runs = {run for one in self._text.sentences for run in capitalized_runs(self._text.text, one)}
        return proposals(self._text, self._schema, self._phrases, self._topics, self._names | runs)

    def look(self, reading: Interpretation) -> Interpretation:
        """Return the reading with what its words do not say, or with its ends in the order that they say."""
        term = reading.relation
        if reading.is_type:
            return self._look_at_kind(reading)
        if term is None or reading.grounded.object is None:
            return reading
        doubt = self._description(reading, term) or self._cut(reading) or self._doubt(reading)
        if doubt is None or term.kind is not PropertyKind.OBJECT or term.symmetric:
            return replace(reading, doubt=doubt)
        inverse = self._schema.properties.get(term.inverse) if term.inverse else None
        if inverse is not None:
            other = replace(reading, relation=inverse)
            if self._fits(reading.said.triple.subject, inverse.domains) and self._doubt(other) is None:
                return other
        turned = _turned(reading)
        fits = self._fits(turned.said.triple.subject, term.domains) and self._fits(
            turned.said.triple.object, term.ranges
        )
        if fits and turned.grounded.object is not None and self._doubt(turned) is None:
            return turned
        return replace(reading, doubt=doubt)

    def _description(self, reading: Interpretation, term: OntologyProperty) -> str | None:
        """Whether an end is only described, and not as what the relation leads to: "a Gothic hall"."""
        ends = [reading.said.triple.subject, *([reading.said.triple.object] if reading.names_object else [])]
        for words in ends:
            spans = self._text.occurrences(words)
            following = {self._schema.find_class(word) for s in spans for word in (words, self._after(s))}
            is_object = reading.names_object and words == ends[-1]
            if is_object and any(kind is not None and kind.iri in term.ranges for kind in following):
                continue
            if is_object and words.split()[0].isdigit():
                return f'"{words}" opens with a number, as an address does.'
            if self._only_opens(words, spans):
                return f'"{words}" opens its sentence and is a word of the ontology: it may be no name.'
            if spans and all(is_indefinite(self._text.text, span) for span in spans):
                return f'"{words}" describes a thing and is no name.'
        return None

    def _only_opens(self, words: str, spans: Sequence[Span]) -> bool:
        """Whether a common word has its capital only from opening a sentence: "Ground was broken in 2006"."""
        plain = " " not in words.strip() and self._phrases.has_word(words)
        return (
            plain
            and not self._linker.labels.exact(words)
            and bool(spans)
            and all(self._text.sentence_of(span).start == span.start for span in spans)
        )

    def _cut(self, reading: Interpretation) -> str | None:
        """Whether the subject is a part of a longer name wherever it occurs: "Stone" of "Stone & Co."."""
        subject = reading.said.triple.subject
        places = self._text.occurrences(subject)
        if not places or self._linker.labels.exact(subject):
            return None
        whole = self._whole(places)
        return None if whole is None else f'"{subject}" is a part of "{whole}".'

    def _after(self, span: Span) -> str:
        return (self._text.text[span.end : span.end + _LONGEST_WORD].split() or [""])[0].strip(".,;:")

    def _look_at_kind(self, reading: Interpretation) -> Interpretation:
        """Take the kind that the name says, or that the text says of it, rather than one said of others."""
        name, kind = reading.said.triple.subject, reading.type
        places = self._text.occurrences(name)
        english = all(self._is_english(self._text.sentence_of(one)) for one in places)
        if kind is None or not places or not english or any(self._said_kind(one, kind) for one in places):
            return reading
        known = self._linker.labels.exact(name)
        if not known and (other := self._in_other_name(reading, kind)) is not None:
            return replace(reading, doubt=f'The text has "{kind.label}" in the name "{other}" only.')
        if not known and (whole := self._whole(places)) is not None:
            return replace(reading, doubt=f'"{name}" is a part of "{whole}".')
        if known:
            return self._known_kind(reading, kind, known)
        told = kind_of_name(name, self._schema)
        above = self._schema.superclasses
        if told is not None and (told.iri in above(kind.iri) or kind.iri in above(told.iri)):
            return reading
        if told is not None and above(told.iri) & above(kind.iri):
            said_so = replace(reading.said, triple=replace(reading.said.triple, object=told.label))
            return replace(reading, type=told, said=said_so)
        if mentions_kind(self._text.text, self._names, kind):
            return replace(reading, doubt=f'The text says "{kind.label}" of another thing.')
        return reading

    def _in_other_name(self, reading: Interpretation, kind: OntologyClass) -> str | None:
        """The name that has the word for a kind, where that is another name's: "Central Park"."""
        word, name = reading.grounded.object, reading.said.triple.subject
        own = kind_of_name(name, self._schema)
        if word is None or (own is not None and self._related(own, kind)):
            return None
        runs = capitalized_runs(self._text.text, self._text.sentence_of(word))
        found = next((run for run in runs if run.start <= word.start and word.end <= run.end), None)
        other = found is not None and name_key(name) not in name_key(_words(self._text, found))
        return _words(self._text, found) if found is not None and other else None

    def _related(self, a: OntologyClass, b: OntologyClass) -> bool:
        above = self._schema.superclasses
        return a.iri in above(b.iri) or b.iri in above(a.iri)

    def _whole(self, places: Sequence[Span]) -> str | None:
        """The longer name that a name is a part of wherever it occurs: "Norton" of "Norton Hill"."""
        found: Span | None = None
        for place in places:
            runs = capitalized_runs(self._text.text, self._text.sentence_of(place))
            found = next((run for run in runs if self._is_part({run}, place)), None)
            if found is None:
                return None
        return _words(self._text, found) if found is not None else None

    def _known_kind(
        self, reading: Interpretation, kind: OntologyClass, known: Sequence[LabelEntry]
    ) -> Interpretation:
        """Doubt a guess about a name that is known, and by one thing only, as something else."""
        above = self._schema.superclasses
        classes = {one for entry in known for one in entry.classes}
        related = any(kind.iri in above(one) or one in above(kind.iri) for one in classes)
        if related or not classes or len({self._linker.same(entry.iri) for entry in known}) != 1:
            return reading
        labels = sorted(self._schema.classes[one].label for one in classes if one in self._schema.classes)
        doubt = (
            f'No word of the text says "{kind.label}" of it, and the graph knows it as {" or ".join(labels)}.'
        )
        return replace(reading, doubt=doubt)

    def _said_kind(self, name: Span, kind: OntologyClass) -> Unit | None:
        """The word for a kind that a sentence says of a name."""
        sentence = self._text.sentence_of(name)
        spans = {span for span in self._names if span.end <= name.start or name.end <= span.start}
        return said_kind(units_of(self._text.text, sentence, {*spans, name}), name, kind)

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
            sentence = self._text.sentence_of(span)
            if not self._is_english(sentence):
                return None
            doubt = self._says(sentence, term, triple.subject, span, triple.relation)
            if doubt is None or self._says_inverse(sentence, term, triple.subject, span):
                return None
            found = found or doubt
        return found

    def _spans(self, words: str, reading: Interpretation) -> Sequence[Span]:
        window = reading.said.window
        near = self._text.occurrences(words, window) or self._text.occurrences(words)
        assert reading.grounded.object is not None
        return [reading.grounded.object, *(span for span in near if span != reading.grounded.object)]

    def _is_english(self, sentence: Span) -> bool:
        if self._language in (_LANGUAGE, None):
            return True
        return is_held_together(self._text.text[sentence.start : sentence.end], _LANGUAGE)

    def _says_inverse(self, sentence: Span, term: OntologyProperty, subject: str, value: Span) -> bool:
        """Whether the sentence says it from the other end: "contains" for "located in"."""
        other = (
            term if term.symmetric else self._schema.properties.get(term.inverse) if term.inverse else None
        )
        if other is None:
            return False
        words = _words(self._text, value)
        return any(
            self._says(sentence, other, words, span, "") is None
            for span in self._text.occurrences(subject, sentence)
        )

    def _says(
        self, sentence: Span, term: OntologyProperty, subject: str, value: Span, relation: str
    ) -> str | None:
        """What speaks against a sentence saying that the subject has this value; None for nothing."""
        text = self._text.text
        names = {span for span in self._names if sentence.start <= span.start < sentence.end}
        names |= set(capitalized_runs(text, sentence))
        group = group_of(term)
        if group is not Group.NAMES or not self._is_part(names, value):
            names = {span for span in names if span.end <= value.start or value.end <= span.start} | {value}
        units = with_past_names(units_of(text, sentence, names))
        at = next((n for n, u in enumerate(units) if u.start <= value.start and value.end <= u.end), None)
        if at is None:
            return None
        if (units[at].start, units[at].end) != (value.start, value.end) and group is Group.NAMES:
            return f'"{text[value.start : value.end]}" is a part of "{_text(text, units[at])}".'
        units, at = outside(units, at)
        others = frozenset(n for n, unit in enumerate(units) if n != at and self._is(unit, subject))
        extra = {term.iri: relation} if relation and not self._phrases.knows(relation) else {}
        occurrences = self._phrases.occurrences(units, group, extra)
        clause = Clause(units, at, others, occurrences, term, self._phrases)
        found = governor(clause, group)
        if found is not None and _is_half(clause, found):
            return f'"{_text(text, units[at])}" may be a part of a longer name with "and".'
        if found is None:
            return f'The words before and after "{_text(text, units[at])}" do not say "{term.label}".'
        if not others and not self._may_be_about(sentence, subject, units):
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
        topics = list(self._topics.recent(sentence))
        noun = opening_noun(units) if any(unit.text in ("the", "this") for unit in units[:2]) else ()
        described = (self._topics.described(sentence, " ".join(noun[:n])) for n in range(len(noun), 0, -1))
        topics += [name for name in described if name is not None]
        return not topics or any(
            self._is(Unit(Kind.NAME, topic.casefold(), "", 0, 0), subject) for topic in topics
        )

    def _wrong_subject(
        self, clause: Clause, found: Governor, term: OntologyProperty, subject: str, group: Group
    ) -> str | None:
        units, text = clause.units, self._text.text
        if found.subject is not None:
            return None
        if found.converse:
            meant = antecedent_before(units, clause.value, lambda unit: self._is(unit, subject))
            if isinstance(meant, Unit) and not self._is(meant, subject):
                return f'The text says "{term.label}" of "{_text(text, meant)}", not of "{subject}".'
            after = None if meant is not None else _objects(units, found.last)
            if after is None and meant is None and _has_it_too(units, clause, found):
                return f'The text says "{term.label}" of "it", which is not "{subject}".'
            if after is not None and not any(self._is(unit, subject) for unit in after):
                return f'The text says "{term.label}" of another thing, not of "{subject}".'
            return None
        if _of_a_part(units, found):
            return f'The text says "{term.label}" of something of another thing, not of "{subject}".'
        if (whole := complemented(units, found.first, clause.others)) is not None:
            return f'The text says "{term.label}" of "the {whole}", not of "{subject}".'
        about = subject_of(units, found.first, clause.value, lambda unit: self._is(unit, subject))
        if isinstance(about, Description):
            of_it = units[found.last - 1].text == "by" or group is Group.NUMBERS or about.inner
            return self._misdescribed(about, term, subject, of_it=of_it)
        if about is not None and not self._is(about, subject):
            return f'The text says "{term.label}" of "{_text(text, about)}", not of "{subject}".'
        if not clause.others and (other := _other_subject(units, found.first, clause.value)) is not None:
            return f'The text says "{term.label}" of "{_text(text, other)}", not of "{subject}".'
        return None

    def _wrong_topic(
        self, sentence: Span, clause: Clause, found: Governor, term: OntologyProperty, subject: str
    ) -> str | None:
        """Whether "it" or "the tunnel", which opens the sentence, surely stands for another thing."""
        units = clause.units
        if found.subject is not None:
            return None
        first = next((unit for unit in units if unit.kind is not Kind.MARK), None)
        named = [at for at, unit in enumerate(units[: found.first]) if unit.kind is Kind.NAME]
        about = subject_of(units, found.first, clause.value, lambda unit: self._is(unit, subject))
        if first is None or found.converse or (isinstance(about, Unit) and self._is(about, subject)):
            return None
        if any(not is_complement(units, at) for at in named) or (named and first.text not in ("it", "its")):
            return None
        if first.text in ("it", "its"):
            if not self._topics.may_be(sentence, lambda unit: self._is(unit, subject)):
                return f'The text says "{term.label}" of what it speaks of before, not of "{subject}".'
        elif first.text == "the" and (noun := opening_noun(units)):
            told = kind_of_name(subject, self._schema)
            kinds = (self._schema.find_class(" ".join(noun[:n])) for n in range(len(noun), 0, -1))
            kind = next((one for one in kinds if one is not None), None)
            if kind is None or told is None or self._suits(kind.label, subject):
                return None
            if self._linker.fit(frozenset({told.iri}), frozenset({kind.iri})) is Fit.DISJOINT:
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
            own = any(self._phrases.has_noun(term.iri, word) for word in words)
            if own or not of_it:
                return None
            return f'The text says "{term.label}" of a part of it ("its {words[0]}"), not of "{subject}".'
        kinds = (self._schema.find_class(" ".join(words[:n])) for n in range(len(words), 0, -1))
        kind = next((one for one in kinds if one is not None), None)
        classes = frozenset(c for entry in self._linker.labels.exact(subject) for c in entry.classes)
        if kind is None or not classes:
            return None
        if self._linker.fit(classes, frozenset({kind.iri})) is Fit.DISJOINT:
            return f'The text says "{term.label}" of "the {words[0]}", and "{subject}" is none.'
        return None

    def _is(self, unit: Unit, name: str) -> bool:
        """Whether a unit is a name, a short form of it, or another name of the same thing."""
        if unit.kind is not Kind.NAME:
            return False
        here, there = name_key(unit.text), name_key(name)
        if here == there or f" {there} ".find(f" {here} ") >= 0:
            return True
        before, found, after = f" {here} ".partition(f" {there} ")
        if found and not after and all(self._describes(word) for word in before.split()):
            return True
        ours = {entry.iri for entry in self._linker.labels.exact(unit.text)}
        return bool(ours) and any(entry.iri in ours for entry in self._linker.labels.exact(name))

    def _is_part(self, names: Collection[Span], value: Span) -> bool:
        """Whether a name goes on beyond a value with capitalized words: "West 54th Street"."""
        text = self._text.text
        for span in names:
            if span.start <= value.start and value.end <= span.end:
                before, after = text[span.start : value.start].split(), text[value.end : span.end].split()
                rest = [word for word in before if not self._describes(word.casefold())] + after
                if any(word[0].isupper() and word.casefold() != "the" for word in rest):
                    return True
        return False

    def _describes(self, word: str) -> bool:
        """Whether a capital word before a name is none of it: "Architect Ada Stone", "Today Elm Hall"."""
        return word in TITLES or word in OPENERS or self._phrases.is_noun(word)


def _turned(reading: Interpretation) -> Interpretation:
    """The same reading with its ends exchanged."""
    triple, grounded = reading.said.triple, reading.grounded
    said = replace(reading.said, triple=replace(triple, subject=triple.object, object=triple.subject))
    return replace(
        reading,
        said=said,
        grounded=replace(grounded, subject=grounded.object, object=grounded.subject),
        subject_name=reading.object_name,
        object_name=reading.subject_name,
    )


def _is_half(clause: Clause, found: Governor) -> bool:
    """Whether an agent is one of two single words: "designed by Reed and Stem" may name one firm."""
    units, at = clause.units, clause.value
    if units[max(found.last - 1, 0)].text != "by" or " " in units[at].text:
        return False
    for word, other in ((at + 1, at + 2), (at - 1, at - 2)):
        if 0 <= other < len(units) and units[word].text in ("and", "&"):
            return units[other].kind is Kind.NAME and " " not in units[other].text
    return False


def _other_subject(units: Sequence[Unit], first: int, value: int) -> Unit | None:
    """The name that opens a sentence that has no pronoun before the words: "Elm Bridge connects"."""
    before = units[: min(first, value)]
    if any(unit.text in _PRONOUNS for unit in before):
        return None
    at = next((n for n, unit in enumerate(before) if unit.kind is Kind.NAME), None)
    opens = at is not None and all(one.kind is Kind.MARK or one.text == "the" for one in before[:at])
    return units[at] if at is not None and opens else None


def _objects(units: Sequence[Unit], at: int) -> Sequence[Unit] | None:
    """The names that a verb has as its objects; None for "it", "the hall", or nothing that follows it."""
    found: list[Unit] = []
    for place, unit in enumerate(units[at:], at):
        if unit.kind is Kind.NAME:
            found.append(unit)
        elif found and (unit.text not in _LISTING or unit.kind is Kind.MARK) and unit.text != ",":
            break
        elif not found and (unit.text in _OPEN or (unit.kind is Kind.MARK and place == at)):
            return None
        elif not found and (unit.kind is Kind.MARK or place > at + _LONGEST_OBJECT):
            break
    described = at < len(units) and units[at].text in ("the", "this", "that", "both")
    return None if not found and (described or at >= len(units)) else found


def _has_it_too(units: Sequence[Unit], clause: Clause, found: Governor) -> bool:
    """Whether the subject acts on "it" as well: "Stone & Co. built it and Jo Reed designed it"."""
    if found.last >= len(units) or units[found.last].text != "it":
        return False
    before = [at for at in clause.others if at < clause.value]
    return bool(before) and any(unit.text == "it" for unit in units[max(before) : clause.value])


def _of_a_part(units: Sequence[Unit], found: Governor) -> bool:
    """Whether a preposition belongs to another thing: "unlike its namesake in London"."""
    first = found.first
    if found.last != first + 1 or units[first].text not in _PARTICLES or first < 2:
        return False
    nouns = units[max(0, first - 3) : first]
    return nouns[-1].kind is Kind.WORD and any(unit.text in _POSSESSIVE for unit in nouns[-3:-1])


def _words(text: GroundedText, span: Span) -> str:
    return text.text[span.start : span.end]


def _text(text: str, unit: Unit) -> str:
    return " ".join(text[unit.start : unit.end].split())
