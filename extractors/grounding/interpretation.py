"""Maps the model's words to classes and properties of the ontology, and resolves pronouns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal as OneOf

from pyoxigraph import NamedNode

from extractors.english.coreference import Antecedents, is_anaphor
from extractors.english.values import looks_like_value
from extractors.grounding.entities import (
    is_name,
    name_key,
    without_heading,
    without_possessor,
    without_whereabouts,
)
from extractors.grounding.linking import Linker
from extractors.grounding.mentions import Grounded, GroundedText
from extractors.grounding.relation_words import Ends, RelationWords
from extractors.prompting.prompt import IS_A
from extractors.prompting.reply import ReplyTriple
from extractors.text.chunking import Span
from extractors.text.cleaning import is_foreign
from ontology.schema import Schema
from ontology.terms import OntologyClass, OntologyProperty, PropertyKind

_AFTER_HEAD = re.compile(
    r"\s*(?:,|\b(?:of|in|on|at|for|by|with|from|near|that|which|who|to|along|between|designed|built)\b)"
)

_OWNS = re.compile(r"['’]s\b")
_GOES_ON = re.compile(r",? (?:and|on|for)\b")

Synonyms = Callable[[OneOf["class", "property"], str], NamedNode | None]
"""Returns the term that people assigned to a word, or None."""

_NOTHING = NamedNode("urn:nothing")


def no_synonym(kind: str, words: str) -> NamedNode | None:
    """Know no synonym."""
    return None


@dataclass(frozen=True)
class StatedTriple:
    """A triple as the model wrote it, and the window of the text that it was shown.

    `score` is the model's raw score where the triple's confidence was made a probability.
    """

    triple: ReplyTriple
    window: Span
    score: float | None = None


@dataclass(frozen=True)
class Interpretation:
    """A triple's words mapped to the ontology; without property and type it is an unknown relation.

    `grounded` is where the model's own words are in the text. If they are "it" or "the hall" and the text
    makes clear what is meant, `said` has the name instead, found at `subject_name` or `object_name`.
    `doubt` is what speaks against the words saying the relation of these two.
    """

    said: StatedTriple
    is_type: bool
    type: OntologyClass | None
    relation: OntologyProperty | None
    names_object: bool
    grounded: Grounded
    subject_name: Span | None
    object_name: Span | None
    doubt: str | None = None

    @property
    def is_unknown(self) -> bool:
        """Whether the ontology has no term for it."""
        return self.type is None if self.is_type else self.relation is None

    def turned(self) -> Interpretation:
        """The same reading with its ends exchanged."""
        triple, grounded = self.said.triple, self.grounded
        said = replace(self.said, triple=replace(triple, subject=triple.object, object=triple.subject))
        return replace(
            self,
            said=said,
            grounded=replace(grounded, subject=grounded.object, object=grounded.subject),
            subject_name=self.object_name,
            object_name=self.subject_name,
        )


class Interpreter:
    """Looks up what the model said about one text.

    `verbatim`: its names are taken as they are; else locations, headings and owners that a small model
    copies with them are cut off, and names that it cuts are completed.
    """

    def __init__(
        self,
        text: GroundedText,
        schema: Schema,
        linker: Linker,
        *,
        synonyms: Synonyms = no_synonym,
        verbatim: bool = False,
    ) -> None:
        self._verbatim = verbatim
        self._text = text
        self._schema = schema
        self._linker = linker
        self._synonyms = synonyms

    def interpret(self, said: Sequence[StatedTriple]) -> Sequence[Interpretation]:
        """Interpret each triple, in order."""
        bare = said if self._verbatim else [self._bare(one) for one in said]
        kinds = self._kinds(bare)
        return self._resolved([self._read(one, kinds) for one in bare])

    def _bare(self, said: StatedTriple) -> StatedTriple:
        """Return the triple with the subject's bare name, without the location that the model copied."""
        return replace(said, triple=replace(said.triple, subject=self._name_alone(said.triple.subject)))

    def _name_alone(self, name: str) -> str:
        if self._linker.labels.exact(name):
            return name
        bare = self._before_region(self._before_owner(without_heading(without_whereabouts(name))))
        return self._completed(without_possessor(bare, self._is_noun))

    def _before_region(self, name: str) -> str:
        """Leave out of a place's name the region behind it: "Weston, Norton" after "in"."""
        head, comma, region = name.partition(", ")
        plain = comma and is_name(head) and not any(c.isdigit() or c in ",.&" for c in region)
        spans = self._text.occurrences(name) if plain and region[:1].isupper() else ()
        placed = bool(spans) and all(self._text.text.endswith(" in ", 0, span.start) for span in spans)
        return head if placed else name

    def _before_owner(self, name: str) -> str:
        """Leave out of a name the owner of what follows it: "Line 52, Norton" before "'s busiest line"."""
        head, comma, _ = name.rpartition(", ")
        spans = self._text.occurrences(name) if comma and is_name(head) else ()
        owns = bool(spans) and all(_OWNS.match(self._text.text, span.end) for span in spans)
        return head if owns else name

    def _is_noun(self, word: str) -> bool:
        """Whether a word is the noun of a class."""
        return self._schema.find_class(word) is not None

    def _completed(self, name: str) -> str:
        """Complete a name that is cut wherever it occurs: "Ministry of Trade" before "and Industry".

        Words side by side in another script than Latin are one name.
        """
        found = {self._whole(span) for span in self._text.occurrences(name)}
        whole = next(iter(found)) if len(found) == 1 else None
        return name if whole is None else " ".join(self._text.evidence(whole).quote.split())

    def _whole(self, part: Span) -> Span | None:
        runs = self._text.capitalized_runs(self._text.sentence_of(part))
        whole = next((run for run in runs if run.start <= part.start and part.end < run.end), None)
        if whole is None:
            return None
        goes_on = _GOES_ON.match(self._text.text[part.end : whole.end])
        foreign = is_foreign(self._text.text[whole.start : whole.end])
        return Span(part.start, whole.end) if goes_on or foreign else None

    def _resolved(self, readings: Sequence[Interpretation]) -> Sequence[Interpretation]:
        """Replace pronouns and descriptions by the names that they clearly refer to."""
        if not any(is_anaphor(w) for r in readings for w in (r.said.triple.subject, r.said.triple.object)):
            return readings
        named: dict[str, list[NamedNode]] = {}
        for reading in readings:
            triple = reading.said.triple
            if is_name(triple.subject) and not looks_like_value(triple.subject):
                named.setdefault(triple.subject, []).extend([reading.type.iri] if reading.type else [])
            if reading.names_object and is_name(triple.object) and not looks_like_value(triple.object):
                named.setdefault(triple.object, [])
        antecedents = Antecedents(self._text, self._linker, named)
        return [self._with_antecedents(reading, antecedents) for reading in readings]

    def _with_antecedents(self, reading: Interpretation, antecedents: Antecedents) -> Interpretation:
        triple, term, grounded = reading.said.triple, reading.relation, reading.grounded
        if grounded.subject is not None and is_anaphor(triple.subject):
            domains = frozenset({reading.type.iri}) if reading.type else term.domains if term else frozenset()
            meant = antecedents.of(triple.subject, grounded.subject, domains)
            if meant is not None:
                triple = replace(triple, subject=self._text.evidence(meant).quote)
                reading = replace(reading, subject_name=meant)
        if reading.names_object and grounded.object is not None and is_anaphor(triple.object):
            meant = antecedents.of(triple.object, grounded.object, term.ranges if term else frozenset())
            if meant is not None:
                triple = replace(triple, object=self._text.evidence(meant).quote)
                reading = replace(reading, object_name=meant)
        return replace(reading, said=replace(reading.said, triple=triple))

    def _kinds(self, said: Iterable[StatedTriple]) -> Mapping[str, frozenset[NamedNode]]:
        """The classes that "is a" gives each name in this text."""
        found: dict[str, frozenset[NamedNode]] = {}
        for one in said:
            kind = self._class(one.triple.object) if one.triple.relation.casefold() == IS_A else None
            if kind is not None:
                key = name_key(one.triple.subject)
                found[key] = found.get(key, frozenset()) | {kind.iri}
        return found

    def _classes_of(self, name: str, kinds: Mapping[str, frozenset[NamedNode]]) -> frozenset[NamedNode]:
        """What is known of a name: what this text says it is, else what the graph knows of its bearers."""
        said = kinds.get(name_key(name))
        if said:
            return said
        return frozenset(c for entry in self._linker.labels.exact(name) for c in entry.classes)

    def _read(self, said: StatedTriple, kinds: Mapping[str, frozenset[NamedNode]]) -> Interpretation:
        triple = said.triple
        grounded = self._text.ground(triple.subject, triple.object, said.window, triple.quote)
        if triple.relation.casefold() == IS_A:
            kind = self._class(triple.object)
            return Interpretation(said, True, kind, None, False, grounded, grounded.subject, grounded.object)
        classes = self._classes_of(triple.object, kinds)
        ends = Ends(
            self._classes_of(triple.subject, kinds), classes, not classes and looks_like_value(triple.object)
        )
        relations = _relation_words(self._schema)
        found = relations.read(triple.relation, ends, self._linker.fit)
        if found is None:
            accepted = self._schema.properties.get(self._synonyms("property", triple.relation) or _NOTHING)
            found = relations.accepted(accepted, ends, self._linker.fit) if accepted is not None else None
        if found is not None and found.swapped:
            triple = replace(triple, subject=triple.object, object=triple.subject)
            grounded = replace(grounded, subject=grounded.object, object=grounded.subject)
        if found is not None and triple.confidence is not None:
            triple = replace(triple, confidence=triple.confidence * found.score)
        term = found.property if found is not None else None
        wants_entity = term is not None and term.kind is PropertyKind.OBJECT
        is_value = wants_entity and looks_like_value(triple.object)
        names_object = wants_entity and not (is_value and self._linker.link(triple.object).iri is None)
        if names_object and not self._verbatim and (name := self._name_alone(triple.object)) != triple.object:
            triple = replace(triple, object=name)
            grounded = self._text.ground(triple.subject, name, said.window)
        said = replace(said, triple=triple)
        return Interpretation(
            said, False, None, term, names_object, grounded, grounded.subject, grounded.object
        )

    def _class(self, words: str) -> OntologyClass | None:
        """Find the class that a noun phrase names by its head: "oldest park in the city" is a park."""
        accepted = self._synonyms("class", words)
        if accepted is not None and accepted in self._schema.classes:
            return self._schema.classes[accepted]
        whole = self._schema.find_class(words)
        after = _AFTER_HEAD.search(words)
        if after is None or after.start() == 0:
            return whole
        if whole is not None:
            folded = words.casefold()
            for label in (whole.label, *whole.alternative_labels):
                if _AFTER_HEAD.search(label) and label.casefold() in folded:
                    return whole  # "house of worship": the class's own name goes on behind the head
        return self._schema.find_class(words[: after.start()])


@lru_cache(maxsize=4)
def _relation_words(schema: Schema) -> RelationWords:
    return RelationWords(schema)
