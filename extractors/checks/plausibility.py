"""Checks of statements against the text, the ontology and each other; each problem sends one to review.

A reader that asks for each relation by itself may find the same words under several of them. A mention of a
value or a name carries one relation to a subject, unless the words say more ("designed and built by"). So of
the relations that a mention is claimed for, the one stays whose label the words support best, then the
surest. Of a statement and its inverse one stays. Labels are those of the ontology.

A text seldom says that Paris is a place, and a name without a class waits in review. Where the domain or
range of a relation leaves one class only, the statement itself says it (RDF Schema 1.1, sections 3.1 and
3.2). Such a kind is only made where the statement's other end is known to fit too, and is marked as implied.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from pyoxigraph import Literal, NamedNode

from extractors.candidates import (
    HEDGED,
    HELD,
    LOW_CONFIDENCE,
    NOT_IN_TEXT,
    RDF_TYPE,
    UNWORDED,
    WRONG_CLASS,
    Problem,
)
from extractors.grounding.entities import Name, name_key
from extractors.grounding.interpretation import Interpretation
from extractors.grounding.linking import Fit, Linker
from extractors.grounding.mentions import GroundedText
from ontology.labels import stem, with_article, words
from ontology.schema import Schema
from ontology.terms import OntologyClass, OntologyProperty

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Claim(Generic[Key]):
    """A statement that competes with others.

    `ends` is the same for statements about the same subject and the same value or name, `mentions` how often
    the text mentions that, `quote` the words that the statement rests on. `score` is 0 to 1.
    """

    key: Key
    ends: Hashable
    property: OntologyProperty
    quote: str
    mentions: int
    score: float


def overruled(claims: Iterable[Claim[Key]], schema: Schema) -> Mapping[Key, OntologyProperty]:
    """Return the keys of the claims that lose, each with the property that its words support better."""
    claims = list(claims)
    found = _converses(claims)
    groups: dict[Hashable, list[Claim[Key]]] = {}
    for claim in claims:
        if claim.key not in found:
            groups.setdefault(claim.ends, []).append(claim)
    for group in groups.values():
        found.update(_overruled(group, schema))
    return found


def _converses(claims: Iterable[Claim[Key]]) -> dict[Key, OntologyProperty]:
    """Of a statement and its inverse, which say the same, the one that the words support less."""
    known = {(claim.ends, claim.property.iri): claim for claim in claims}
    found: dict[Key, OntologyProperty] = {}
    for (ends, _), claim in known.items():
        turned = ends[::-1] if isinstance(ends, tuple) else ends
        other = known.get((turned, claim.property.inverse)) if claim.property.inverse else None
        if other is not None and other is not claim:
            mine, theirs = ((_support(one), one.score, one.property.iri.value) for one in (claim, other))
            if mine < theirs:
                found[claim.key] = other.property
    return found


def _overruled(group: Sequence[Claim[Key]], schema: Schema) -> Mapping[Key, OntologyProperty]:
    support = {claim.key: _support(claim) for claim in group}
    ranked = sorted(group, key=lambda claim: (support[claim.key], claim.score), reverse=True)
    standing: list[Claim[Key]] = []
    found: dict[Key, OntologyProperty] = {}
    for claim in ranked:
        against = next((one for one in standing if _contradict(one.property, claim.property)), None)
        same = any(_related(one.property, claim.property, schema) for one in standing)
        room = len(standing) < claim.mentions
        if against is None and (same or room or support[claim.key]):
            standing.append(claim)
        else:
            found[claim.key] = (against or standing[0]).property
    return found


def _support(claim: Claim[Key]) -> int:
    """How many words of one of the relation's labels the quote has, 0 where one of them is missing."""
    said = {stem(word) for word in words(claim.quote)}
    term = claim.property
    labels = ([stem(word) for word in words(label)] for label in (term.label, *term.alternative_labels))
    return max((len(label) for label in labels if label and said.issuperset(label)), default=0)


def _contradict(a: OntologyProperty, b: OntologyProperty) -> bool:
    """Whether one says from left to right what the other says from right to left."""
    return a.iri != b.iri and not a.symmetric and (a.inverse == b.iri or b.inverse == a.iri)


def _related(a: OntologyProperty, b: OntologyProperty, schema: Schema) -> bool:
    """Whether one follows from the other."""
    return a.iri in schema.superproperties(b.iri) or b.iri in schema.superproperties(a.iri)


@dataclass(frozen=True)
class Link:
    """A statement that is free of problems; `object` is None for a value. `score` is 0 to 1, or unknown."""

    subject: NamedNode
    property: OntologyProperty
    object: NamedNode | None
    score: float | None = None

    def ends(self) -> Iterable[tuple[NamedNode, frozenset[NamedNode]]]:
        """Each entity of it with the classes that it may be of (none: any)."""
        yield self.subject, self.property.domains
        if self.object is not None:
            yield self.object, self.property.ranges

    def order(self, node: NamedNode) -> tuple[NamedNode, ...]:
        """The classes of an end as the ontology names them."""
        return self.property.domain_order if node == self.subject else self.property.range_order

    def usual(self, node: NamedNode) -> NamedNode | None:
        """The class that an end is taken for where nothing says which of several it is."""
        return self.property.usual_domain if node == self.subject else self.property.usual_range


@dataclass(frozen=True)
class Implied:
    """The class of a name, and the surest statement that it follows from.

    `assumed`: that statement allows other classes too, and the ontology only names this one first.
    """

    kind: NamedNode
    link: Link
    assumed: bool = False


def implied_kinds(
    links: Iterable[Link],
    known: Mapping[NamedNode, frozenset[NamedNode]],
    linker: Linker,
    hints: Mapping[NamedNode, NamedNode] | None = None,
    guesses: Mapping[NamedNode, NamedNode] | None = None,
    *,
    leading: bool = False,
    person: NamedNode | None = None,
) -> Mapping[NamedNode, Implied]:
    """The kinds of entities that `known` has no classes of, where what is said of them leaves one only.

    Where several statements say something of a name, the most specific of their classes is taken, and none
    where any of them excludes it. Where they leave several, the ontology may say which is usual.
    `hints` are the classes that names themselves suggest: one decides where a statement leaves several
    classes, and a class that is disjoint with it is not taken. `guesses` are weaker: one is asked where all
    else leaves several classes open, and decides which of them it is. With `leading`, of what is then left
    open the first class that the ontology names is taken, but `person` only for a name of `guesses`.
    """
    hints, guesses = hints or {}, guesses or {}
    sound = [link for link in links if not misfits(link, known, linker)]
    while True:
        found = _implied(sound, known, linker, hints, guesses, leading, person)
        classes = {**{node: frozenset({one.kind}) for node, one in found.items()}, **known}
        standing = [link for link in sound if all(classes.get(node) for node, _ in link.ends())]
        if len(standing) == len(sound):
            return found
        sound = standing


def misfits(link: Link, known: Mapping[NamedNode, frozenset[NamedNode]], linker: Linker) -> bool:
    """Whether an end is known to have no class that fits; then the gate refuses the statement."""
    return link.subject == link.object or any(
        bool(known.get(node)) and linker.fit(known[node], wanted) is not Fit.INSTANCE
        for node, wanted in link.ends()
    )


def _implied(
    links: Iterable[Link],
    known: Mapping[NamedNode, frozenset[NamedNode]],
    linker: Linker,
    hints: Mapping[NamedNode, NamedNode],
    guesses: Mapping[NamedNode, NamedNode],
    leading: bool,
    person: NamedNode | None,
) -> Mapping[NamedNode, Implied]:
    wanted: dict[NamedNode, list[tuple[frozenset[NamedNode], Link]]] = {}
    for link in links:
        for node, classes in link.ends():
            if classes and not known.get(node):
                wanted.setdefault(node, []).append((classes, link))
    found: dict[NamedNode, Implied] = {}
    for node, demands in wanted.items():
        hint = hints.get(node)
        sole = [
            (kind, link) for classes, link in demands if (kind := _sole(classes, hint, linker)) is not None
        ]
        fitting = [
            (kind, link)
            for kind, link in sole
            if (hint is None or linker.fit((hint,), frozenset({kind})) is not Fit.DISJOINT)
            and all(linker.fit((kind,), classes) is Fit.INSTANCE for classes, _ in demands)
        ]
        if not fitting:
            fitting = _usual(node, demands, hint, linker)
        if not fitting and hint is None and (guess := guesses.get(node)) is not None:
            fitting = _guessed(guess, demands, linker)
        assumed = False
        if not fitting and leading:
            fitting = _leading(node, demands, hint, linker, person)
            assumed = bool(fitting)
        if not fitting:
            fitting = [
                (kind, link)
                for kind, link in sole
                if all(
                    linker.fit((kind,), classes) is not Fit.DISJOINT
                    for classes in (*(one for one, _ in demands), *([frozenset({hint})] if hint else []))
                )
            ]
        if fitting:
            kind, _ = fitting[0]
            surest = max((link for one, link in fitting if one == kind), key=lambda link: link.score or 0.0)
            found[node] = Implied(kind, surest, assumed)
    return found


def _guessed(
    guess: NamedNode, demands: Sequence[tuple[frozenset[NamedNode], Link]], linker: Linker
) -> list[tuple[NamedNode, Link]]:
    """The classes of several that a guess is one of: of places and events a church is a place.

    That is all a guess decides: no more is said of the name than what each statement asks for.
    """
    above = [
        (kind, link)
        for classes, link in demands
        for kind in sorted(classes, key=lambda node: node.value)
        if linker.fit((guess,), frozenset({kind})) is Fit.INSTANCE
    ]
    return [
        (kind, link)
        for kind, link in above
        if all(linker.fit((kind,), classes) is Fit.INSTANCE for classes, _ in demands)
    ]


def _usual(
    node: NamedNode,
    demands: Iterable[tuple[frozenset[NamedNode], Link]],
    hint: NamedNode | None,
    linker: Linker,
) -> list[tuple[NamedNode, Link]]:
    """The usual classes of what is said of a name, where each other statement allows them too."""
    demands = list(demands)
    return [
        (kind, link)
        for _, link in demands
        if (kind := link.usual(node)) is not None
        and (hint is None or linker.fit((hint,), frozenset({kind})) is not Fit.DISJOINT)
        and all(linker.fit((kind,), classes) is Fit.INSTANCE for classes, _ in demands)
    ]


def _leading(
    node: NamedNode,
    demands: Iterable[tuple[frozenset[NamedNode], Link]],
    hint: NamedNode | None,
    linker: Linker,
    person: NamedNode | None,
) -> list[tuple[NamedNode, Link]]:
    """The classes that every demand allows, those first that the ontology names first."""
    demands = list(demands)
    left = [
        (kind, link)
        for classes, link in demands
        for kind in link.order(node)
        if kind in classes
        and kind != person
        and (hint is None or linker.fit((hint,), frozenset({kind})) is not Fit.DISJOINT)
        and all(linker.fit((kind,), others) is Fit.INSTANCE for others, _ in demands)
    ]
    hinted = [pair for pair in left if hint and linker.fit((hint,), frozenset({pair[0]})) is Fit.INSTANCE]
    return hinted or left


def _sole(classes: frozenset[NamedNode], hint: NamedNode | None, linker: Linker) -> NamedNode | None:
    """The one class that is left: the only one, the only one above the hint, or the hint below several."""
    if hint is None or len(classes) == 1:
        return next(iter(classes)) if len(classes) == 1 else None
    above = [kind for kind in classes if linker.fit((hint,), frozenset({kind})) is Fit.INSTANCE]
    return above[0] if len(above) == 1 else hint if above else None


_DOUBTED: Final = 0.6
"""What a doubt leaves of a confidence: with the usual threshold of .5 a sure statement is accepted with a
warning, and one of .8 waits in review."""
_EXCHANGED: Final = 0.1
"""The same where the ends seem to be exchanged: of 2,000 right statements two seemed so, and a third of them
with their ends exchanged (the gold sets of `research` and 210 annotated passages)."""


@dataclass(frozen=True)
class PlausibilityChecks:
    """Checks statements; `held`: all of them, since a person wants to see each.

    `weighed`: what makes a statement doubtful lowers its confidence, and only the threshold refuses it.
    """

    schema: Schema
    linker: Linker
    minimum_confidence: float
    held: bool = False
    weighed: bool = False

    def check_class(
        self, name: Name, words: str, expected: frozenset[NamedNode], term: OntologyProperty
    ) -> Iterable[Problem]:
        """Report a known entity of an impossible class; the gate checks the classes of new ones."""
        if not name.new and name.classes and self.linker.fit(name.classes, expected) is Fit.DISJOINT:
            have, want = (self.class_labels(classes) for classes in (name.classes, expected))
            message = (
                f'"{words}" is {with_article(have)}, and "{term.label}" asks for {with_article(want)} in its '
                "place."
            )
            yield Problem(WRONG_CLASS, message, term.iri, name.iri)

    def class_labels(self, classes: Iterable[NamedNode]) -> str:
        """Their labels in order, for a message."""
        known = self.schema.classes
        return " or ".join(sorted(known[iri].label if iri in known else iri.value for iri in classes))

    def check_triple(self, reading: Interpretation, subject: Name) -> Iterable[Problem]:
        """Report words that the text does not contain or state, and low confidence."""
        triple, grounded = reading.said.triple, reading.grounded
        # The text seldom says what class a name has: the model may choose one.
        classified = (
            reading.type is not None
            and _is_label(reading.type, triple.object)
            and (subject.new or self._is_of(subject, reading.type))
        )
        for name, span in ((triple.subject, grounded.subject), (triple.object, grounded.object)):
            if span is None and not (classified and name is triple.object):
                yield Problem(NOT_IN_TEXT, f'The text does not contain "{name}".', value=Literal(name))
        if (reservation := grounded.reservation) is not None and not self.weighed:
            message = (
                f'The text does not state it: "{reservation.cue}" makes it {reservation.kind}. Accept it '
                "only if the text says it as a fact."
            )
            yield Problem(HEDGED, message, value=Literal(reservation.cue))
        if self.held:
            message = "It was extracted in the open mode, where a person decides about every statement."
            yield Problem(HELD, message)

    def check_confidence(self, confidence: float | None, doubts: Iterable[Problem]) -> Iterable[Problem]:
        """Report a confidence below the threshold, with what lowered it."""
        if confidence is not None and confidence < self.minimum_confidence:
            message = f"The model's confidence {confidence:.2f} is below {self.minimum_confidence:.2f}."
            yield Problem(LOW_CONFIDENCE, " ".join([message, *(doubt.message for doubt in doubts)]))

    def weigh(self, reading: Interpretation, text: GroundedText) -> tuple[float | None, tuple[Problem, ...]]:
        """The confidence of a statement, lowered by each doubt about it, and the doubts in words.

        A model that gives no probabilities is taken to be sure of what it says until something is doubtful.
        """
        triple, doubts = reading.said.triple, []
        if reading.doubt is not None:
            doubts.append(
                Problem(UNWORDED, reading.doubt, reading.relation.iri if reading.relation else None)
            )
        if (reservation := reading.grounded.reservation) is not None:
            message = f'The text may not state it as a fact: "{reservation.cue}" makes it {reservation.kind}.'
            doubts.append(Problem(HEDGED, message, value=Literal(reservation.cue)))
        cited = text.quoted(triple.quote) if triple.quote else None
        ends = [span for span in (reading.grounded.subject, reading.grounded.object) if span is not None]
        if cited is not None and ends and not any(text.is_near(cited, span) for span in ends):
            message = f'The words quoted for it are not near "{triple.subject}" or "{triple.object}".'
            doubts.append(Problem(NOT_IN_TEXT, message, value=Literal(triple.quote)))
        if not doubts:
            return triple.confidence, ()
        sure = 1.0 if triple.confidence is None else triple.confidence
        for doubt in doubts:
            sure *= _EXCHANGED if doubt.rule == UNWORDED else _DOUBTED
        return sure, tuple(doubts)

    def check_quote(self, reading: Interpretation, text: GroundedText) -> Iterable[Problem]:
        """Report a quote that the text does not contain."""
        quote = reading.said.triple.quote
        if quote and text.quoted(quote) is None:
            message = f'The text does not contain the words that it is said to rest on: "{quote}".'
            yield Problem(NOT_IN_TEXT, message, value=Literal(quote))

    def check_wording(self, reading: Interpretation) -> Iterable[Problem]:
        """Report a relation that the words of the text do not say."""
        if reading.doubt is not None:
            message = f"{reading.doubt} Accept it only if the text says so in other words."
            yield Problem(UNWORDED, message, reading.relation.iri if reading.relation else None)

    def check_kind(self, name: Name, words: str, kind: OntologyClass | None) -> Iterable[Problem]:
        """Report a class that is unrelated to the known classes of an entity."""
        if kind is None or name.new or not name.classes:
            return
        above = self.schema.superclasses(kind.iri)
        if not any(c in above or kind.iri in self.schema.superclasses(c) for c in name.classes):
            known = self.class_labels(name.classes)
            message = (
                f'"{words}" is known as {with_article(known)}; that it is also {with_article(kind.label)} is '
                "for a person to say."
            )
            yield Problem(WRONG_CLASS, message, RDF_TYPE, kind.iri)

    def _is_of(self, name: Name, kind: OntologyClass) -> bool:
        return any(kind.iri in self.schema.superclasses(class_) for class_ in name.classes)


def _is_label(term: OntologyClass, words: str) -> bool:
    return name_key(words) in {name_key(label) for label in (term.label, *term.alternative_labels)}
