"""From the model's triples in words to candidate statements in the terms of the ontology.

No statement is made here that the model did not make. Words become terms by looking them up; what cannot be
looked up, read or found in the text stays in the statement as words, with the problem beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal as OneOf

from pyoxigraph import Literal, NamedNode

from extractors.calibration import Calibration
from extractors.candidates import (
    HEDGED,
    HELD,
    IMPLIED_KIND,
    LOW_CONFIDENCE,
    NOT_IN_TEXT,
    NOTHING_STANDS,
    RDF_TYPE,
    RDFS_LABEL,
    RIVAL,
    UNKNOWN_TERM,
    UNREADABLE_VALUE,
    VALUE_FOR_ENTITY,
    WRONG_CLASS,
    Candidate,
    Entity,
    Problem,
    Proposal,
)
from extractors.coreference import Antecedents, is_anaphor
from extractors.entities import (
    Mentioned,
    Name,
    Names,
    alias_properties,
    is_name,
    name_key,
    short_forms,
    without_whereabouts,
)
from extractors.grounding import Grounded, GroundedText
from extractors.implied_kinds import Implied, Link, implied_kinds
from extractors.linking import Fit, Linker
from extractors.minting import Minter
from extractors.prompting import IS_A
from extractors.relation_words import Ends, RelationWords
from extractors.reply import ReplyTriple
from extractors.rivals import Claim, overruled
from extractors.unreadable import Unreadable
from extractors.values import datatype_of, looks_like_value, read_value
from extractors.windows import Span
from ontology.schema import Schema
from ontology.terms import OntologyClass, OntologyProperty, PropertyKind

__all__ = ["Said", "StatementBuilder", "Synonyms", "no_synonym"]

_RDFS_LITERAL = NamedNode("http://www.w3.org/2000/01/rdf-schema#Literal")
_AFTER_HEAD = re.compile(
    r"\s*(?:,|\b(?:of|in|on|at|for|by|with|from|near|that|which|who|to|along|between|designed|built)\b)"
)
_LOWER_ARTICLE = re.compile(r"(?:the|an?)\s+")


Synonyms = Callable[[OneOf["class", "property"], str], NamedNode | None]
"""The term of the ontology that people said a word means; None for a word that nobody spoke of."""

_NOTHING = NamedNode("urn:nothing")


def no_synonym(kind: str, words: str) -> NamedNode | None:
    """Nobody has said anything of any word."""
    return None


@lru_cache(maxsize=4)
def _relation_words(schema: Schema) -> RelationWords:
    return RelationWords(schema)


_Key = tuple[NamedNode, NamedNode, NamedNode | Literal]


@dataclass(frozen=True)
class Said:
    """A triple as the model wrote it, and the window of the text that it was shown.

    `score` is the model's raw score where the triple's confidence was made a probability.
    """

    triple: ReplyTriple
    window: Span
    score: float | None = None


@dataclass(frozen=True)
class _Reading:
    """What a triple's words stand for in the ontology; neither property nor type: an unknown relation.

    `grounded` is where the model's own words stand. Where they are "it" or "the hall" and the text makes
    plain what is meant, `said` has the name instead, which stands at `subject_name` or `object_name`.
    """

    said: Said
    is_type: bool
    type: OntologyClass | None
    property: OntologyProperty | None
    names_object: bool
    grounded: Grounded
    subject_name: Span | None
    object_name: Span | None


class StatementBuilder:
    """Turns what the model said about one text into candidates and entities."""

    def __init__(
        self,
        text: GroundedText,
        schema: Schema,
        linker: Linker,
        minter: Minter,
        *,
        language: str,
        minimum_confidence: float,
        calibration: Calibration | None = None,
        held: bool = False,
        synonyms: Synonyms = no_synonym,
        implied_kinds: bool = True,
    ) -> None:
        self._implied_kinds = implied_kinds
        self._text = text
        self._schema = schema
        self._linker = linker
        self._minter = minter
        self._language = language
        self._minimum_confidence = minimum_confidence
        self._calibration = calibration
        self._held = held
        self._synonyms = synonyms

    def build(self, said: Sequence[Said]) -> tuple[tuple[Candidate, ...], tuple[Entity, ...]]:
        """Return the candidates in the triples' order, duplicates merged, and the entities they name."""
        calibrated = [self._bare(self._calibrated(one)) for one in said]
        kinds = self._kinds(calibrated)
        readings = self._resolved([self._read(one, kinds) for one in calibrated])
        names = Names(self._mentioned(readings), self._linker, self._minter, self._spelling)
        candidates: dict[_Key, Candidate] = {}
        labels: dict[NamedNode, _Key] = {}
        sources: dict[_Key, _Reading] = {}
        mentions: dict[NamedNode, tuple[Name, set[Span]]] = {}
        for reading in readings:
            candidate = self._candidate(reading, names)
            for name, words, span in self._named(reading, names):
                mentions.setdefault(name.iri, (name, set()))[1].update([span] if span else [])
                if name.new and name.iri not in labels:
                    label = self._label(name, words, span, candidate)
                    labels[name.iri] = (label.subject, label.predicate, label.object)
                    candidates[labels[name.iri]] = label
            key = (candidate.subject, candidate.predicate, candidate.object)
            candidates[key] = _merged(candidates.get(key), candidate)
            sources.setdefault(key, reading)
        self._overrule(candidates, sources)
        if self._implied_kinds:
            self._imply_kinds(candidates, sources, mentions.values())
        _mark_unsupported(candidates, set(labels.values()))
        found = tuple(candidates.values())
        return found, tuple(self._entity(name, spans, found) for name, spans in mentions.values())

    def _overrule(self, candidates: dict[_Key, Candidate], sources: Mapping[_Key, _Reading]) -> None:
        """Keep back what the same words say less likely than something else."""
        claims = [
            Claim(
                key,
                (key[0], key[2] if reading.names_object else name_key(reading.said.triple.object)),
                reading.property,
                _quote(candidates[key]),
                len(self._text.occurrences(reading.said.triple.object)),
                reading.said.score or candidates[key].confidence or 0.0,
            )
            for key, reading in sources.items()
            if reading.property is not None and not candidates[key].problems
        ]
        for key, rather in overruled(claims, self._schema).items():
            message = (
                f'The same words are taken for "{rather.label}", which fits them better: accept this only if '
                "the text says both."
            )
            candidates[key] = replace(candidates[key], problems=(Problem(RIVAL, message, rather.iri),))

    def _imply_kinds(
        self,
        candidates: dict[_Key, Candidate],
        sources: Mapping[_Key, _Reading],
        names: Collection[tuple[Name, Collection[Span]]],
    ) -> None:
        """Give new names of no kind the one that follows from what is said of them."""
        known = {name.iri: frozenset(name.classes) for name, _ in names if not name.new}
        links = []
        for key, candidate in candidates.items():
            if candidate.problems or key[1] == RDFS_LABEL:
                continue
            term, value = sources[key].property, key[2]
            if key[1] == RDF_TYPE and isinstance(value, NamedNode):
                known[key[0]] = known.get(key[0], frozenset()) | {value}
            elif term is not None:
                object_ = value if isinstance(value, NamedNode) else None
                links.append(Link(key[0], term, object_, candidate.confidence))
        found = implied_kinds(links, known, self._linker)
        for name, spans in names:
            if name.iri in found and name.new and spans and not name.problems:
                candidate = self._implied_kind(name, min(spans), found[name.iri])
                candidates.setdefault((name.iri, RDF_TYPE, found[name.iri].kind), candidate)

    def _implied_kind(self, name: Name, mention: Span, implied: Implied) -> Candidate:
        kind, relation = self._class_labels([implied.kind]), implied.link.property.label
        message = (
            f'That {name.label} is a {kind} follows from "{relation}" only: say what kind of {kind} it is.'
        )
        return Candidate(
            name.iri,
            RDF_TYPE,
            implied.kind,
            self._text.evidence(mention),
            implied.link.score,
            inferred=("object",),
            doubts=(Problem(IMPLIED_KIND, message, RDF_TYPE, implied.kind),),
        )

    def _calibrated(self, said: Said) -> Said:
        """The same with a probability in the place of the raw score, where a calibration is there."""
        raw = said.triple.confidence
        if self._calibration is None or raw is None:
            return said
        sure = replace(said.triple, confidence=self._calibration.probability(raw))
        return replace(said, triple=sure, score=raw)

    def _bare(self, said: Said) -> Said:
        """The same with the subject's name alone, where the model copied with it where it stands."""
        return replace(said, triple=replace(said.triple, subject=self._name_alone(said.triple.subject)))

    def _name_alone(self, name: str) -> str:
        return name if self._linker.labels.exact(name) else without_whereabouts(name)

    def _resolved(self, readings: Sequence[_Reading]) -> Sequence[_Reading]:
        """The readings with names for the pronouns and descriptions that plainly stand for one."""
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

    def _with_antecedents(self, reading: _Reading, antecedents: Antecedents) -> _Reading:
        triple, term, grounded = reading.said.triple, reading.property, reading.grounded
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

    def _kinds(self, said: Iterable[Said]) -> Mapping[str, frozenset[NamedNode]]:
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

    def _read(self, said: Said, kinds: Mapping[str, frozenset[NamedNode]]) -> _Reading:
        triple = said.triple
        grounded = self._text.ground(triple.subject, triple.object, said.window)
        if triple.relation.casefold() == IS_A:
            kind = self._class(triple.object)
            return _Reading(said, True, kind, None, False, grounded, grounded.subject, grounded.object)
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
        if names_object and (name := self._name_alone(triple.object)) != triple.object:
            triple = replace(triple, object=name)
            grounded = self._text.ground(triple.subject, name, said.window)
        said = replace(said, triple=triple)
        return _Reading(said, False, None, term, names_object, grounded, grounded.subject, grounded.object)

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

    def _mentioned(self, readings: Iterable[_Reading]) -> Mapping[str, Mentioned]:
        found: dict[str, Mentioned] = {}
        aliases = alias_properties(self._schema)
        called: dict[str, str] = {}
        for reading in readings:
            triple, term = reading.said.triple, reading.property
            subject = found.setdefault(name_key(triple.subject), Mentioned(triple.subject))
            said = (reading.type.iri,) if reading.type and reading.type.iri not in subject.said else ()
            expected = subject.expected or (term.domains if term else frozenset())
            found[name_key(triple.subject)] = replace(subject, said=subject.said + said, expected=expected)
            if reading.names_object and term is not None:
                value = found.setdefault(name_key(triple.object), Mentioned(triple.object))
                found[name_key(triple.object)] = replace(value, expected=value.expected or term.ranges)
            if term is not None and self._schema.superproperties(term.iri) & aliases:
                called.setdefault(name_key(triple.object), triple.subject)
        called = {**short_forms(found, self._text), **called}
        return {key: replace(mention, alias_of=called.get(key)) for key, mention in found.items()}

    def _candidate(self, reading: _Reading, names: Names) -> Candidate:
        triple, term, grounded = reading.said.triple, reading.property, reading.grounded
        subject = names[triple.subject]
        problems = list(subject.problems)
        if subject.new and looks_like_value(triple.subject):
            message = f'"{triple.subject}" is a value, and only something with a name can be a subject.'
            problems.append(Problem(VALUE_FOR_ENTITY, message, value=Literal(triple.subject)))
        value, found = self._object(reading, names)
        problems += found
        if reading.is_type:
            predicate = RDF_TYPE
            problems += self._other_kind(subject, triple.subject, reading.type)
        elif term is not None:
            predicate = term.iri
            problems += self._misfit(subject, triple.subject, term.domains, term)
        else:
            predicate = self._minter.term(triple.relation)
            message = f'The ontology has no relation "{triple.relation}": add it as a label or a property.'
            problems.append(Problem(UNKNOWN_TERM, message, predicate))
        problems += self._doubts(reading, grounded, subject)
        return Candidate(
            subject.iri,
            predicate,
            value,
            grounded.evidence,
            triple.confidence,
            tuple(dict.fromkeys(problems)),
            triple.raw,
            tuple(
                end
                for end, span in (("subject", grounded.subject), ("object", grounded.object))
                if span is None
            ),
            self._proposal(reading, subject) if _is_unknown(reading) else None,
        )

    def _proposal(self, reading: _Reading, subject: Name) -> Proposal:
        """What this use tells of a word that the ontology does not know."""
        triple = reading.said.triple
        known = tuple(c for c in subject.classes if c in self._schema.classes)
        if reading.is_type:
            return Proposal("class", triple.object, known, subject_name=subject.label)
        entries = self._linker.labels.exact(triple.object)
        classes = {c for entry in entries for c in entry.classes if c in self._schema.classes}
        datatype = None if entries else datatype_of(triple.object)
        return Proposal(
            "property",
            triple.relation,
            known,
            tuple(sorted(classes, key=lambda one: one.value)),
            datatype,
            subject.label,
            triple.object,
        )

    def _object(self, reading: _Reading, names: Names) -> tuple[NamedNode | Literal, Sequence[Problem]]:
        words, term = reading.said.triple.object, reading.property
        if reading.object_name is not None:
            words = " ".join(self._text.evidence(reading.object_name).quote.split())
        plain = Literal(words)
        if reading.is_type:
            if reading.type is not None:
                return reading.type.iri, ()
            message = f'The ontology has no class for "{words}": add it as a label or a class.'
            return plain, [Problem(UNKNOWN_TERM, message, RDF_TYPE, plain)]
        if term is None:
            return plain, ()
        if reading.names_object:
            name = names[reading.said.triple.object]
            return name.iri, [*name.problems, *self._misfit(name, words, term.ranges, term)]
        if term.kind is PropertyKind.OBJECT:
            message = f'"{words}" is a value, and "{term.label}" leads to something with a name.'
            return plain, [Problem(VALUE_FOR_ENTITY, message, term.iri, plain)]
        read = read_value(words, term.ranges - {_RDFS_LITERAL}, term.unit, language=self._language)
        if isinstance(read, Unreadable):
            return plain, [Problem(UNREADABLE_VALUE, read.reason, term.iri, plain)]
        return read, ()

    def _misfit(
        self, name: Name, words: str, expected: frozenset[NamedNode], term: OntologyProperty
    ) -> Iterable[Problem]:
        """Doubt a known entity of an impossible class; what a new one is said to be is for the gate."""
        if not name.new and name.classes and self._linker.fit(name.classes, expected) is Fit.DISJOINT:
            have, want = (self._class_labels(classes) for classes in (name.classes, expected))
            message = f'"{words}" is a {have}, and "{term.label}" asks for a {want} in its place.'
            yield Problem(WRONG_CLASS, message, term.iri, name.iri)

    def _class_labels(self, classes: Iterable[NamedNode]) -> str:
        known = self._schema.classes
        return " or ".join(sorted(known[iri].label if iri in known else iri.value for iri in classes))

    def _doubts(self, reading: _Reading, grounded: Grounded, subject: Name) -> Iterable[Problem]:
        triple = reading.said.triple
        # The text seldom says what kind of thing a name stands for: the model may choose a class for it.
        classified = (
            reading.type is not None
            and _is_label(reading.type, triple.object)
            and (subject.new or self._is_of(subject, reading.type))
        )
        for words, span in ((triple.subject, grounded.subject), (triple.object, grounded.object)):
            if span is None and not (classified and words is triple.object):
                yield Problem(NOT_IN_TEXT, f'The text does not contain "{words}".', value=Literal(words))
        if grounded.cue is not None:
            message = f'The text says it with "{grounded.cue}": denied, planned or supposed is not stated.'
            yield Problem(HEDGED, message, value=Literal(grounded.cue))
        if self._held:
            message = "It was extracted in the open mode, where a person decides about every statement."
            yield Problem(HELD, message)
        if triple.confidence is not None and triple.confidence < self._minimum_confidence:
            message = (
                f"The model's confidence {triple.confidence:.2f} is below {self._minimum_confidence:.2f}."
            )
            yield Problem(LOW_CONFIDENCE, message)

    def _other_kind(self, name: Name, words: str, kind: OntologyClass | None) -> Iterable[Problem]:
        """Doubt that something known is of a kind that has nothing to do with what it is known as."""
        if kind is None or name.new or not name.classes:
            return
        above = self._schema.superclasses(kind.iri)
        if not any(c in above or kind.iri in self._schema.superclasses(c) for c in name.classes):
            known = self._class_labels(name.classes)
            message = (
                f'"{words}" is known as a {known}; that it is also a {kind.label} is for a person to say.'
            )
            yield Problem(WRONG_CLASS, message, RDF_TYPE, kind.iri)

    def _is_of(self, name: Name, kind: OntologyClass) -> bool:
        return any(kind.iri in self._schema.superclasses(class_) for class_ in name.classes)

    def _named(self, reading: _Reading, names: Names) -> Iterable[tuple[Name, str, Span | None]]:
        triple = reading.said.triple
        yield names[triple.subject], triple.subject, reading.subject_name
        if reading.names_object:
            yield names[triple.object], triple.object, reading.object_name

    def _spelling(self, name: str) -> str:
        """Return a name as the text writes it, without the article of running text."""
        found = self._text.occurrences(name)
        words = " ".join(self._text.evidence(found[0]).quote.split()) if found else name
        return _LOWER_ARTICLE.sub("", words, count=1) if _LOWER_ARTICLE.match(words) else words

    def _label(self, name: Name, words: str, span: Span | None, first: Candidate) -> Candidate:
        problems = list(name.problems)
        if span is None:
            message = f'The text does not contain "{words}".'
            problems.append(Problem(NOT_IN_TEXT, message, value=Literal(words)))
        evidence = self._text.evidence(span) if span else None
        label = Literal(name.label, language=self._language) if self._language else Literal(name.label)
        inferred = () if span else ("object",)
        return Candidate(
            name.iri, RDFS_LABEL, label, evidence, first.confidence, tuple(problems), first.reply, inferred
        )

    def _entity(self, name: Name, spans: Iterable[Span], candidates: Iterable[Candidate]) -> Entity:
        said = (
            c.object
            for c in candidates
            if c.subject == name.iri and c.predicate == RDF_TYPE and isinstance(c.object, NamedNode)
        )
        classes = tuple(dict.fromkeys(said)) if name.new else name.classes
        mentions = tuple(self._text.evidence(span) for span in sorted(spans))
        return Entity(name.iri, name.label, classes, name.new, mentions)


def _quote(candidate: Candidate) -> str:
    return candidate.evidence.quote if candidate.evidence else ""


def _is_unknown(reading: _Reading) -> bool:
    return reading.type is None if reading.is_type else reading.property is None


def _is_label(term: OntologyClass, words: str) -> bool:
    return name_key(words) in {name_key(label) for label in (term.label, *term.alternative_labels)}


def _merged(old: Candidate | None, new: Candidate) -> Candidate:
    """Keep the sounder of two candidates for one statement, the surer where both are as sound."""
    if old is None:
        return new
    better = min(old, new, key=lambda c: (len(c.problems), -(c.confidence or 0.0)))
    sure = [
        c.confidence
        for c in (old, new)
        if c.confidence is not None and not (c.problems and not better.problems)
    ]
    return replace(better, confidence=max(sure, default=None))


def _mark_unsupported(candidates: dict[_Key, Candidate], labels: set[_Key]) -> None:
    """Mark the labels of new entities of which nothing else stands: a name alone is no knowledge."""
    sound = {
        node
        for key, candidate in candidates.items()
        if key not in labels and not candidate.problems
        for node in (candidate.subject, candidate.object)
    }
    for key in labels:
        label = candidates[key]
        if label.subject not in sound and not label.problems:
            message = (
                f"Every statement about {label.object.value} has a problem, so its name alone is not kept."
            )
            candidates[key] = replace(label, problems=(Problem(NOTHING_STANDS, message),))
