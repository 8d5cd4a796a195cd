"""The second look: does a sentence say this relation, in this direction, of these two?

A model proposes relations; of well-typed falsehoods no shape knows. So the labels of the relation must govern
its object, and what they are said of must be able to be the subject. The labels are those of the ontology:
a paraphrase that none of them has waits for a person, who may add it as a label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from pyoxigraph import NamedNode

from extractors.english.clause import (
    Clause,
    Governor,
    is_compound,
    is_entry,
    is_half,
    is_owner,
    is_part_of_words,
)
from extractors.english.governing import governors
from extractors.english.kinds import KindLook, WholeNames
from extractors.english.phrases import Group, group_of, phrases_of
from extractors.english.subject_look import SubjectLook
from extractors.english.topics import IT
from extractors.english.units import (
    AUXILIARIES,
    PREPOSITIONS,
    Kind,
    Unit,
    crosses_lines,
    is_adjectival,
    is_indefinite,
    outside,
    spaced,
    units_of,
    with_past_names,
)
from extractors.english.values import looks_like_value
from extractors.grounding.entities import is_name, name_key
from extractors.grounding.interpretation import Interpretation
from extractors.grounding.linking import Fit, Linker
from extractors.grounding.mentions import GroundedText
from extractors.text.chunking import Span, SpanIndex
from extractors.text.cleaning import detect_language, is_held_together
from ontology.terms import OntologyProperty, PropertyKind

_LANGUAGE: Final = "en"
_MOST_OPENING: Final = 2
_MOST_MENTIONS: Final = 4
"""So many mentions of a name are looked at in one sentence: a list or a table may have hundreds."""


class Wording:
    """Looks again at relations of one text; `names` are all names that were found in it."""

    def __init__(self, text: GroundedText, linker: Linker, names: Collection[str]) -> None:
        self.text = text
        self._linker = linker
        self.schema = linker.schema
        self.phrases = phrases_of(linker.schema)
        self.reads = detect_language(text.text, expected=(_LANGUAGE,)) in (_LANGUAGE, None)
        runs = {run for one in text.sentences for run in text.capitalized_runs(one)}
        self._runs = frozenset(run for run in runs if not is_indefinite(text.text, run))
        self._whole = WholeNames(text, linker, self.phrases)
        named = [name for name in names if is_name(name)]
        named = [name for name in named if not self._whole.introduces(name, text.occurrences(name))]
        spans = {s for name in named for s in text.occurrences(name) if not is_indefinite(text.text, s)}
        spans |= {Span(start, end) for start, end, _ in linker.labels.mentions(text.text)}
        self._names = SpanIndex(
            span
            for span in spans
            if not looks_like_value(_words(text, span))
            and not crosses_lines(text.text, span)
            and not self._opens_with_words(span)
        )
        self._kinds = KindLook(text, linker, self._names, self._whole, self._is_english)
        self._subjects = SubjectLook(text, linker, self._names, self._whole, self._kinds)
        self.topics = self._subjects.topics

    def _opens_with_words(self, span: Span) -> bool:
        """Whether a sentence opens with words that are no part of a name: "Visit the Elm Museum"."""
        if self.text.sentence_of(span).start != span.start:
            return False
        starts = [run.start for run in self._runs if run.end == span.end and run.start > span.start]
        words = self.text.text[span.start : min(starts, default=span.start)].split()
        return 0 < len(words) <= _MOST_OPENING and (len(words) == 1 or words[-1] == "the")

    @property
    def names(self) -> frozenset[Span]:
        """Where the names of the text are, those that capitalized words make among them."""
        return self._names.all | self._runs

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
        if (described := self._whole.doubt(reading, term)) is not None:
            return replace(reading, doubt=described)
        doubt = self._doubt(reading)
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
        looked_at: Counter[Span] = Counter()
        for span in self._spans(triple.object, reading):
            sentence = self.text.sentence_of(span)
            looked_at[sentence] += 1
            if looked_at[sentence] > _MOST_MENTIONS:
                continue
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
            if topic is None or not self._subjects.is_same(topic, triple.object):
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
            for span in self.text.occurrences(subject, sentence)[:_MOST_MENTIONS]
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
        names = set(self._names.beginning_in(sentence))
        names |= set(self.text.capitalized_runs(sentence))
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
            return f'"{text[value.start : value.end]}" is a part of "{spaced(text, units[at])}".'
        if group is Group.NAMES and _is_numbered(units, at):
            return f'"{spaced(text, units[at])}" goes on with a number.'
        units, at = outside(units, at)
        others = frozenset(
            n
            for n, unit in enumerate(units)
            if n != at
            and self._subjects.is_name_of(unit, subject)
            and not self.phrases.is_other(units, n)
            and not is_compound(units, n)
            and not is_indefinite(text, Span(unit.start, unit.end))
        )
        extra = {term.iri: relation} if relation and not self.phrases.knows(relation) else {}
        occurrences = self.phrases.occurrences(units, group, extra)
        clause = Clause(units, at, others, occurrences, term, self.phrases)
        if group is Group.NAMES and (is_part_of_words(clause) or self.phrases.is_other(units, at)):
            return f'"{spaced(text, units[at])}" is a part of a longer name, or describes another thing.'
        described = term.kind is not PropertyKind.OBJECT and (
            units[at - 1].text in ("a", "an") or _is_described(text, units, at)
        )
        noun = units[at + 1].text if at + 1 < len(units) else ""
        described = described or (
            is_indefinite(text, value) and not (noun and self.phrases.has_noun(term.iri, noun))
        )  # "in a Gothic style" says a style
        described = described or (is_adjectival(text[value.start : value.end]) and _is_noun(units, at + 1))
        if group is Group.NAMES and described:
            return f'"{spaced(text, units[at])}" describes a thing and is no name.'
        if group is Group.NAMES and _is_over(units):
            return "The text says it of a time that is over."
        doubts: list[str] = []
        for found in governors(clause, group):
            if governs is not None and not governs(clause, found):
                continue
            doubt = self._against(sentence, clause, found, subject, group)
            if doubt is None:
                return None
            doubts.append(doubt)
        unsaid = f'The words before and after "{spaced(text, units[at])}" do not say "{term.label}".'
        return next(iter(doubts), unsaid)

    def _against(
        self, sentence: Span, clause: Clause, found: Governor, subject: str, group: Group
    ) -> str | None:
        """What speaks against words that say the relation of the object saying it of the subject."""
        text, units, term = self.text.text, clause.units, clause.term
        said = spaced(text, units[clause.value])
        if is_owner(clause, found):
            return f'"{said}" owns what follows it, or is a part of its name.'
        if is_half(clause, found):
            return f'"{said}" may be a part of a longer name with "and".'
        if is_entry(units, found):
            return self._subjects.wrong_entry(sentence, clause, subject)
        if not clause.others and not self._subjects.may_be_about(sentence, subject, units):
            return f'The sentence does not name "{subject}", and those before it are about other things.'
        return self._subjects.wrong_subject(
            clause, found, term, subject, group
        ) or self._subjects.wrong_topic(sentence, clause, found, term, subject)


def _is_noun(units: Sequence[Unit], at: int) -> bool:
    """Whether a noun stands somewhere: "people" of "Chinese people"."""
    word = units[at] if at < len(units) else None
    return (
        word is not None and word.kind is Kind.WORD and word.text not in PREPOSITIONS | AUXILIARIES | {"and"}
    )


def _is_numbered(units: Sequence[Unit], at: int) -> bool:
    """Whether a name goes on with a number: "in Elm Quarter 21 near"."""
    number, after = (units[n] if n < len(units) else None for n in (at + 1, at + 2))
    glued = number is not None and number.text.isdigit() and number.start == units[at].end + 1
    return (
        glued
        and number is not None
        and len(number.text) < 4
        and (after is None or after.kind is Kind.MARK or after.text in PREPOSITIONS | {"and"})
    )


def _is_described(text: str, units: Sequence[Unit], at: int) -> bool:
    """Whether words without a capital stand behind "the": "began as the kitchen garden"."""
    said = text[units[at].start : units[at].end]
    return at > 0 and units[at - 1].text == "the" and said.replace(" ", "").isalpha() and said.islower()


def _is_over(units: Sequence[Unit]) -> bool:
    """Whether a sentence begins with a time that has ended: "From 1978 to 2020, it was run by"."""
    first = [unit.text for unit in units[:4]]
    return len(first) > 3 and (
        first[0] == "from" and first[2] in ("to", "until") and first[1].isdigit() and first[3].isdigit()
    )


def _words(text: GroundedText, span: Span) -> str:
    return text.text[span.start : span.end]
