"""A second look at the kinds of names: what the name says, what the text says of it, what the graph knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from extractors.english.wording.kinds import described_kind, kind_of_name, mentions_kind, said_kind
from extractors.english.wording.units import Unit, capitalized_runs, units_of
from extractors.english.wording.whole_names import WholeNames
from extractors.grounding.entities import name_key
from extractors.grounding.interpretation import Interpretation
from extractors.grounding.linking import LabelEntry, Linker
from extractors.grounding.mentions import GroundedText
from extractors.text.chunking import Span
from extractors.text.letters import is_foreign
from ontology.terms import OntologyClass

__all__ = ["KindLook"]

_IS_A = re.compile(r"\s+(?:is|was)\s+(?:an?|the|one)\b")


class KindLook:
    """Looks again at the kinds of names of one text; `is_english` says whether a sentence is."""

    def __init__(
        self,
        text: GroundedText,
        linker: Linker,
        names: Collection[Span],
        whole: WholeNames,
        is_english: Callable[[Span], bool],
    ) -> None:
        self._text = text
        self._linker = linker
        self._schema = linker.schema
        self._names = names
        self._whole = whole
        self._is_english = is_english

    def look(self, reading: Interpretation) -> Interpretation:
        """Take the kind that the name says, or that the text says of it, rather than one said of others."""
        name, kind = reading.said.triple.subject, reading.type
        places = self._text.occurrences(name)
        english = all(self._is_english(self._text.sentence_of(one)) for one in places)
        if kind is None or not places or not english or any(self.said_kind(one, kind) for one in places):
            return reading
        known = self._linker.labels.exact(name)
        if not known and (other := self._in_other_name(reading, kind)) is not None:
            return replace(reading, doubt=f'The text has "{kind.label}" in the name "{other}" only.')
        if not known and (whole := self._whole.whole(places)) is not None:
            return replace(reading, doubt=f'"{name}" is a part of "{whole}".')
        if known:
            return self._known_kind(reading, kind, known)
        own_kind = kind_of_name(name, self._schema)
        above = self._schema.superclasses
        if own_kind is not None and (own_kind.iri in above(kind.iri) or kind.iri in above(own_kind.iri)):
            return reading
        if own_kind is not None and above(own_kind.iri) & above(kind.iri):
            said_so = replace(reading.said, triple=replace(reading.said.triple, object=own_kind.label))
            return replace(reading, type=own_kind, said=said_so)
        if mentions_kind(self._text.text, self._names, kind):
            return replace(reading, doubt=f'The text says "{kind.label}" of another thing.')
        return reading

    def said_of_foreign(self, names: Iterable[Span]) -> Iterator[tuple[str, str, Span]]:
        """What "is a museum" says of names without Latin letters: the name, the kind, the sentence."""
        for name in sorted(names):
            words = _words(self._text, name)
            if not is_foreign(words) or not _IS_A.match(self._text.text, name.end):
                continue
            said = [kind for kind in self._schema.classes.values() if self.said_kind(name, kind) is not None]
            if said:
                kind = max(said, key=lambda one: (len(one.label), one.label))
                yield words, kind.label, self._text.sentence_of(name)

    def described(self, name: str) -> tuple[OntologyClass, Span] | None:
        """The kind that a noun phrase behind a name says, and its sentence."""
        for place in self._text.occurrences(name):
            sentence = self._text.sentence_of(place)
            spans = {one for one in self._names if one.end <= place.start or place.end <= one.start}
            units = units_of(self._text.text, sentence, {*spans, place})
            at = next((n for n, unit in enumerate(units) if unit.start == place.start), None)
            kind = None if at is None else described_kind(units, at, self._schema)
            if kind is not None and self._is_english(sentence):
                return kind, sentence
        return None

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

    def said_kind(self, name: Span, kind: OntologyClass) -> Unit | None:
        """The word for a kind that a sentence says of a name."""
        sentence = self._text.sentence_of(name)
        spans = {span for span in self._names if span.end <= name.start or name.end <= span.start}
        return said_kind(units_of(self._text.text, sentence, {*spans, name}), name, kind)


def _words(text: GroundedText, span: Span) -> str:
    return text.text[span.start : span.end]
