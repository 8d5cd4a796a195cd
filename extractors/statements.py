"""Builds candidate statements in the terms of the ontology from the model's triples in words.

No statement is made here that the model did not make. Words become terms by looking them up; what cannot be
looked up, read or found in the text stays in the statement as words, with a `Problem`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from pyoxigraph import Literal, NamedNode

from extractors.candidates import (
    ASSUMED_KIND,
    IMPLIED_KIND,
    LOW_CONFIDENCE,
    NOT_IN_TEXT,
    NOTHING_STANDS,
    RDF_TYPE,
    RDFS_LABEL,
    RIVAL,
    UNKNOWN_TERM,
    UNREADABLE_VALUE,
    UNWORDED,
    VALUE_FOR_ENTITY,
    Candidate,
    Entity,
    Problem,
    Proposal,
)
from extractors.checks.calibration import CONFIRMED, Calibration
from extractors.checks.plausibility import (
    Claim,
    Implied,
    Link,
    PlausibilityChecks,
    implied_kinds,
    misfits,
    overruled,
)
from extractors.english.kinds import kind_of_name, suggested_kind
from extractors.english.look import Wording
from extractors.english.people import may_be_person
from extractors.english.quantities import Unreadable
from extractors.english.values import datatype_of, looks_like_value, read_value, unit_of_property
from extractors.grounding.entities import (
    IriMinter,
    Mentioned,
    Name,
    Names,
    alias_properties,
    name_key,
    short_forms,
)
from extractors.grounding.interpretation import (
    Interpretation,
    Interpreter,
    StatedTriple,
    Synonyms,
    no_synonym,
)
from extractors.grounding.linking import Linker
from extractors.grounding.mentions import GroundedText
from extractors.label_reading import LabelReading
from extractors.text.chunking import Span
from ontology.labels import with_article
from ontology.schema import Schema
from ontology.terms import OntologyProperty, PropertyKind

Key = tuple[NamedNode, NamedNode, NamedNode | Literal]
"""A statement: subject, predicate and object."""


def link(candidate: Candidate, term: OntologyProperty) -> Link:
    value = candidate.object if isinstance(candidate.object, NamedNode) else None
    return Link(candidate.subject, term, value, candidate.confidence)


def known_kinds(
    candidates: Mapping[Key, Candidate], names: Iterable[Name]
) -> Mapping[NamedNode, frozenset[NamedNode]]:
    """The classes of entities, by the graph and by candidates that are free of problems."""
    known = {name.iri: frozenset(name.classes) for name in names if not name.new}
    for (subject, predicate, value), candidate in candidates.items():
        if predicate == RDF_TYPE and isinstance(value, NamedNode) and not candidate.problems:
            known[subject] = known.get(subject, frozenset()) | {value}
    return known


def quote(candidate: Candidate) -> str:
    return candidate.evidence.quote if candidate.evidence else ""


def merged(old: Candidate | None, new: Candidate) -> Candidate:
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


def mark_unsupported(candidates: dict[Key, Candidate], labels: set[Key]) -> None:
    """Mark the labels of new entities without any other sound statement: a name alone is no knowledge."""
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


_RDFS_LITERAL = NamedNode("http://www.w3.org/2000/01/rdf-schema#Literal")
_LOWER_ARTICLE = re.compile(r"(?:the|an?)\s+")


class StatementBuilder:
    """Turns what the model said about one text into candidates and entities."""

    def __init__(
        self,
        text: GroundedText,
        schema: Schema,
        linker: Linker,
        minter: IriMinter,
        *,
        language: str,
        minimum_confidence: float,
        calibration: Calibration | None = None,
        held: bool = False,
        synonyms: Synonyms = no_synonym,
        implied_kinds: bool = True,
        weighed: bool = False,
        by_labels: bool = False,
    ) -> None:
        self._implied_kinds = implied_kinds
        self._weighed = weighed
        self._text = text
        self._schema = schema
        self._linker = linker
        self._minter = minter
        self._language = language
        self._calibration = calibration
        self._interpreter = Interpreter(text, schema, linker, synonyms=synonyms, verbatim=weighed)
        reads = by_labels and not weighed
        self._labels = LabelReading(text, linker, self._interpreter, minimum_confidence) if reads else None
        self._checks = PlausibilityChecks(schema, linker, minimum_confidence, held, weighed)

    def build(self, said: Sequence[StatedTriple]) -> tuple[tuple[Candidate, ...], tuple[Entity, ...]]:
        """Return the candidates in the triples' order, duplicates merged, and the entities they name."""
        calibrated = [self._calibrated(one) for one in said]
        readings = self._interpreter.interpret(calibrated)
        if self._labels is not None:
            readings = self._interpreter.interpret([*calibrated, *self._labels.unsaid(readings)])
        readings = self._looked_at(readings)
        if self._labels is not None:
            readings = [*readings, *self._labels.in_other_order(readings)]
        names = Names(
            self._mentioned(readings),
            self._linker,
            self._minter,
            self._spelling,
            self._text.text,
            verbatim=self._weighed,
        )
        candidates: dict[Key, Candidate] = {}
        labels: dict[NamedNode, Key] = {}
        sources: dict[Key, Interpretation] = {}
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
            candidates[key] = merged(candidates.get(key), candidate)
            sources.setdefault(key, reading)
        known = known_kinds(candidates, [name for name, _ in mentions.values()])
        if not self._weighed:
            self._overrule(candidates, sources, known)
        if self._implied_kinds:
            self._imply_kinds(candidates, sources, mentions.values(), known)
        mark_unsupported(candidates, set(labels.values()))
        found = tuple(candidates.values())
        return found, tuple(self._entity(name, spans, found) for name, spans in mentions.values())

    def _looked_at(self, readings: Sequence[Interpretation]) -> Sequence[Interpretation]:
        """Look at each relation a second time: is it what the words say?

        Of a served model only the direction is asked: whether the words say the relation the other way round.
        """
        names = {end for one in readings for end in (one.said.triple.subject, one.said.triple.object)}
        wording = Wording(self._text, self._linker, names)
        if self._weighed:
            return [_with_direction(reading, wording) for reading in _with_ends_as_used(readings)]
        return [_confirmed(wording.look(reading)) for reading in readings]

    def _calibrated(self, said: StatedTriple) -> StatedTriple:
        """Replace the model's raw score by a probability, if there is a calibration."""
        score = said.triple.confidence
        if self._calibration is None or score is None:
            return said
        triple = replace(said.triple, confidence=self._calibration.probability(score))
        return replace(said, triple=triple, score=score)

    def _overrule(
        self,
        candidates: dict[Key, Candidate],
        sources: Mapping[Key, Interpretation],
        known: Mapping[NamedNode, frozenset[NamedNode]],
    ) -> None:
        """Mark statements whose words support another better, of those that domain and range allow."""
        claims = [
            Claim(
                key,
                (key[0], key[2] if reading.names_object else name_key(reading.said.triple.object)),
                reading.relation,
                quote(candidates[key]),
                len(self._text.occurrences(reading.said.triple.object)),
                reading.said.score or candidates[key].confidence or 0.0,
            )
            for key, reading in sources.items()
            if reading.relation is not None
            and not candidates[key].problems
            and not misfits(link(candidates[key], reading.relation), known, self._linker)
        ]
        for key, rather in overruled(claims, self._schema).items():
            message = (
                f'The same words are taken for "{rather.label}", which fits them better: accept this only if '
                "the text says both."
            )
            candidates[key] = replace(candidates[key], problems=(Problem(RIVAL, message, rather.iri),))

    def _imply_kinds(
        self,
        candidates: dict[Key, Candidate],
        sources: Mapping[Key, Interpretation],
        names: Collection[tuple[Name, Collection[Span]]],
        known: Mapping[NamedNode, frozenset[NamedNode]],
    ) -> None:
        """Add the classes of new names that follow from other statements."""
        links = [
            link(candidate, term)
            for key, candidate in candidates.items()
            if not candidate.problems
            and key[1] not in (RDFS_LABEL, RDF_TYPE)
            and (term := sources[key].relation) is not None
        ]
        hints = {
            name.iri: kind
            for name, _ in names
            if name.new and (kind := self._hint(name, candidates)) is not None
        }
        person = self._schema.find_class("person")
        found = implied_kinds(
            links,
            known,
            self._linker,
            hints,
            self._persons(name for name, _ in names),
            leading=self._weighed,
            person=person.iri if person else None,
        )
        for name, spans in names:
            if name.iri in found and name.new and spans and not name.problems:
                candidate = self._implied_kind(name, min(spans), found[name.iri])
                key = (name.iri, RDF_TYPE, found[name.iri].kind)
                guessed = candidates.get(key)
                if guessed is None or all(one.rule in (UNWORDED, LOW_CONFIDENCE) for one in guessed.problems):
                    candidates[key] = candidate  # a reader's guess that a relation agrees with

    def _persons(self, names: Iterable[Name]) -> Mapping[NamedNode, NamedNode]:
        """The new names that are made as those of persons are, and say no class."""
        person = self._schema.find_class("person")
        if person is None:
            return {}
        return {
            name.iri: person.iri
            for name in names
            if name.new and may_be_person(name.label) and kind_of_name(name.label, self._schema) is None
        }

    def _hint(self, name: Name, candidates: Mapping[Key, Candidate]) -> NamedNode | None:
        """The class that a name suggests, else the one that a reader says and the text does not."""
        said = (
            key[2]
            for key, one in candidates.items()
            if key[0] == name.iri and key[1] == RDF_TYPE and {p.rule for p in one.problems} == {UNWORDED}
        )
        guess = next((kind for kind in said if isinstance(kind, NamedNode)), None)
        suggested = suggested_kind(name.label, self._schema, guess)
        return guess if suggested is None else suggested.iri

    def _implied_kind(self, name: Name, mention: Span, implied: Implied) -> Candidate:
        kind, relation = self._checks.class_labels([implied.kind]), implied.link.property.label
        if implied.assumed:
            rule = ASSUMED_KIND
            message = (
                f'"{relation}" allows several classes for {name.label}; it was taken for '
                f"{with_article(kind)}: say what it is."
            )
        else:
            rule = IMPLIED_KIND
            message = (
                f'That {name.label} is {with_article(kind)} follows from "{relation}" only: say what kind '
                f"of {kind} it is."
            )
        return Candidate(
            name.iri,
            RDF_TYPE,
            implied.kind,
            self._text.evidence(mention),
            implied.link.score,
            inferred=("object",),
            warnings=(Problem(rule, message, RDF_TYPE, implied.kind),),
        )

    def _mentioned(self, readings: Iterable[Interpretation]) -> Mapping[str, Mentioned]:
        found: dict[str, Mentioned] = {}
        aliases = alias_properties(self._schema)
        called: dict[str, str] = {}
        for reading in readings:
            triple, term = reading.said.triple, reading.relation
            subject = found.setdefault(name_key(triple.subject), Mentioned(triple.subject))
            kind = reading.type if reading.doubt is None else None
            said = (kind.iri,) if kind and kind.iri not in subject.said else ()
            expected = subject.expected or (term.domains if term else frozenset())
            found[name_key(triple.subject)] = replace(subject, said=subject.said + said, expected=expected)
            if reading.names_object and term is not None:
                value = found.setdefault(name_key(triple.object), Mentioned(triple.object))
                found[name_key(triple.object)] = replace(value, expected=value.expected or term.ranges)
            alias = term is not None and bool(self._schema.superproperties(term.iri) & aliases)
            if alias and reading.doubt is None:
                called.setdefault(name_key(triple.object), triple.subject)
        called = {**short_forms(found, self._text), **called}
        return {key: replace(mention, alias_of=called.get(key)) for key, mention in found.items()}

    def _candidate(self, reading: Interpretation, names: Names) -> Candidate:
        triple, term, grounded = reading.said.triple, reading.relation, reading.grounded
        subject = names[triple.subject]
        problems = list(subject.problems)
        if subject.new and looks_like_value(triple.subject):
            message = f'"{triple.subject}" is a value, and only something with a name can be a subject.'
            problems.append(Problem(VALUE_FOR_ENTITY, message, value=Literal(triple.subject)))
        value, found = self._object(reading, names)
        problems += found
        if reading.is_type:
            predicate = RDF_TYPE
            problems += self._checks.check_kind(subject, triple.subject, reading.type)
        elif term is not None:
            predicate = term.iri
            problems += self._checks.check_class(subject, triple.subject, term.domains, term)
        else:
            predicate = self._minter.term(triple.relation)
            message = f'The ontology has no relation "{triple.relation}": add it as a label or a property.'
            problems.append(Problem(UNKNOWN_TERM, message, predicate))
        problems += self._checks.check_triple(reading, subject)
        confidence = triple.confidence
        doubts: tuple[Problem, ...] = ()
        if self._weighed:
            problems += self._checks.check_quote(reading, self._text)
            confidence, doubts = self._checks.weigh(reading, self._text)
        problems += self._checks.check_confidence(confidence, doubts)
        problems += () if problems or self._weighed else self._checks.check_wording(reading)
        return Candidate(
            subject.iri,
            predicate,
            value,
            grounded.evidence,
            confidence,
            tuple(dict.fromkeys(problems)),
            triple.raw,
            tuple(
                end
                for end, span in (("subject", grounded.subject), ("object", grounded.object))
                if span is None
            ),
            self._proposal(reading, subject) if reading.is_unknown else None,
            doubts,
        )

    def _proposal(self, reading: Interpretation, subject: Name) -> Proposal:
        """Propose a term for a word that the ontology does not have, from this use of it."""
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

    def _object(self, reading: Interpretation, names: Names) -> tuple[NamedNode | Literal, Sequence[Problem]]:
        words, term = reading.said.triple.object, reading.relation
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
            return name.iri, [*name.problems, *self._checks.check_class(name, words, term.ranges, term)]
        if term.kind is PropertyKind.OBJECT:
            message = f'"{words}" is a value, and "{term.label}" leads to something with a name.'
            return plain, [Problem(VALUE_FOR_ENTITY, message, term.iri, plain)]
        unit = unit_of_property(term)
        read = read_value(words, term.ranges - {_RDFS_LITERAL}, unit, language=self._language)
        if isinstance(read, Unreadable):
            return plain, [Problem(UNREADABLE_VALUE, read.reason, term.iri, plain)]
        return read, ()

    def _named(self, reading: Interpretation, names: Names) -> Iterable[tuple[Name, str, Span | None]]:
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


def _with_direction(reading: Interpretation, wording: Wording) -> Interpretation:
    """Doubt a relation of which the words say the inverse, or the same with its ends exchanged."""
    term, triple = reading.relation, reading.said.triple
    if reading.doubt is not None or term is None or term.kind is not PropertyKind.OBJECT or term.symmetric:
        return reading
    seen = wording.look(reading)
    if seen.relation == term and seen.said.triple.subject == triple.subject:
        return reading
    message = f'The text seems to say "{term.label}" the other way round, of "{triple.object}".'
    return replace(reading, doubt=message)


def _with_ends_as_used(readings: Sequence[Interpretation]) -> list[Interpretation]:
    """Doubt a value that is a thing elsewhere in the reply, of a name that is nowhere else.

    "15 Elm Street · address · Elm Hall" is the wrong way round where other triples speak of Elm Hall.
    """
    used = Counter(
        key
        for reading in readings
        for key in dict.fromkeys(
            [name_key(reading.said.triple.subject)]
            + ([name_key(reading.said.triple.object)] if reading.names_object else [])
        )
    )
    found = []
    for reading in readings:
        triple, term = reading.said.triple, reading.relation
        is_value = term is not None and term.kind is PropertyKind.DATATYPE
        if is_value and used[name_key(triple.object)] and used[name_key(triple.subject)] == 1:
            message = (
                f'"{triple.object}" is a thing elsewhere, and "{triple.subject}" is not: are they exchanged?'
            )
            reading = replace(reading, doubt=message)
        found.append(reading)
    return found


def _confirmed(reading: Interpretation) -> Interpretation:
    """Give a relation that the words say the probability of such; the model's own is of all that it says."""
    said, sure = reading.said, reading.said.triple.confidence
    if reading.relation is None or reading.doubt is not None or said.score is None or sure is None:
        return reading
    triple = replace(said.triple, confidence=CONFIRMED.probability(sure))
    return replace(reading, said=replace(said, triple=triple))
