"""From the words of a relation to the property of the ontology that they name, or to none.

Four steps, each tried only where the one before found nothing: the label or an alternative label; the same
words in another form ("was located inside" for "located in", "date of opening" for "opening date"); the same
relation seen from its other end ("designer of" for "designed by", "contains" where there is only "located
in"); a misspelling. From the second step on a property counts only if both ends fit it: a wrong
property is worse than none, and what finds none is a proposal for the ontology engineers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from pyoxigraph import NamedNode

from extractors.grounding.linking import Fit, nearly_equal
from ontology.labels import normalize, stem, words
from ontology.schema import Schema
from ontology.terms import OntologyProperty, PropertyKind

FORM_SCORE: Final = 0.95
"""Another form of a label's own words: nearly always the same relation."""
CONVERSE_SCORE: Final = 0.9
"""The same relation from the other end: the words agree, the direction is our reading."""
LEAST_SIMILARITY: Final = 0.7
"""Least trigram similarity (Dice) of a misspelling. One wrong letter in a label of ten leaves .7 to .8, and
"assigned by" is .67 like "designed by"; besides, every word must be spelled nearly alike."""
LEAST_MARGIN: Final = 0.05
"""How much liker a misspelling must be to one property than to any other."""

_AUXILIARIES: Final = frozenset(
    "is are was were be been being am gets got the a an also now currently still today presently".split()
)
_BEING: Final = frozenset({"is", "are", "was", "were", "be", "been", "being", "gets", "got"})
_HAVING: Final = frozenset({"has", "have", "had", "having"})
# Prepositions after a verb; those that say the same are one.
_PLAIN: Final = "on at by of for from to with near after under over through between as across".split()
_PREPOSITIONS: Final = {
    **{word: word for word in _PLAIN},
    **dict.fromkeys(("in", "within", "inside", "into"), "in"),
    **dict.fromkeys(("along", "alongside"), "along"),
    "upon": "on",
}
_CONVERSE_MARKERS: Final = {
    "by": ("", "agent"),
    "": ("by",),
    "agent": ("by",),
    "of": ("has",),
    "has": ("of",),
}
# Verbs that say from the other end what a preposition says, for ontologies that have only one of both.
_CONVERSES: Final = {
    "contain": ("located in", "lies in", "in", "within", "part of"),
    "includ": ("part of", "located in", "in", "within"),
    "encompass": ("located in", "in", "within"),
    "compris": ("part of", "located in"),
    "preced": ("follows", "succeeded", "successor of"),
    "follow": ("precedes", "preceded", "predecessor of"),
}


@dataclass(frozen=True)
class Ends:
    """What is known of a relation's ends: their classes (none: unknown); `is_value`: a date, a number."""

    subject: frozenset[NamedNode] = frozenset()
    object: frozenset[NamedNode] = frozenset()
    is_value: bool = False

    @property
    def swapped(self) -> Ends:
        return Ends(self.object, self.subject)


@dataclass(frozen=True)
class Canonical:
    """The property that words name; `swapped` when subject and object change places. `score` is 0 to 1."""

    property: OntologyProperty
    swapped: bool
    score: float


@dataclass(frozen=True)
class _Form:
    """Words without auxiliaries and order: their stems, and what gives direction.

    That is the preposition, "has", or "agent" for "designer of". `voice` separates "is run from" (passive)
    from "runs from" (finite); it does not count where one of two forms leaves it open.
    """

    stems: frozenset[str]
    marker: str
    voice: str = field(default="", compare=False)


Fitting = Callable[[frozenset[NamedNode], frozenset[NamedNode]], Fit]


class RelationWords:
    """Finds the properties of one ontology by words; made once for it."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._labels: dict[tuple[str, ...], list[OntologyProperty]] = {}
        self._forms: dict[_Form, list[tuple[str, OntologyProperty]]] = {}
        for term in schema.properties.values():
            if term.borrowed or term.deprecated or term.kind is PropertyKind.ANNOTATION:
                continue
            for label in (term.label, *term.alternative_labels):
                known = self._labels.setdefault(normalize(label), [])
                if term not in known:
                    known.append(term)
                form = _form(label)
                self._forms.setdefault(form, []).append((form.voice, term))
        self._labels.pop((), None)

    def read(self, relation: str, ends: Ends, fit: Fitting) -> Canonical | None:
        """The property that the words name between these ends; None if none fits."""
        exact = self._labels.get(normalize(relation), [])
        if exact:
            return self._by_label(relation, exact, ends, fit)
        form = _form(relation)
        if not form.stems:
            return None
        return (
            self._chosen(self._of_form(form), ends, fit, swapped=False, score=FORM_SCORE)
            or self._converse(form, ends, fit)
            or self._misspelled(relation, ends, fit)
        )

    def accepted(self, term: OntologyProperty, ends: Ends, fit: Fitting) -> Canonical | None:
        """The property that people said a word means, where it fits between these ends."""
        return self._chosen([term], ends, fit, swapped=False, score=1.0)

    def _by_label(
        self, relation: str, terms: Sequence[OntologyProperty], ends: Ends, fit: Fitting
    ) -> Canonical:
        """The property of this label that fits best, the main label and the first in the file before others.

        If neither end fits its place but both fit the other, they are swapped.
        """
        main = normalize(relation)
        ranked = sorted(
            terms, key=lambda term: (-_rank(term, ends, fit), normalize(term.label) != main)
        )  # stable: the order of the file decides between equals
        best = ranked[0]
        if best.kind is PropertyKind.OBJECT and ends.subject and ends.object:
            here = [fit(ends.subject, best.domains), fit(ends.object, best.ranges)]
            there = [fit(ends.object, best.domains), fit(ends.subject, best.ranges)]
            if here == [Fit.DISJOINT] * 2 and there == [Fit.INSTANCE] * 2:
                return Canonical(best, True, CONVERSE_SCORE)
        return Canonical(best, False, 1.0)

    def _of_form(self, form: _Form) -> list[OntologyProperty]:
        known = self._forms.get(form, [])
        return [term for voice, term in known if {voice, form.voice} != {"passive", "finite"}]

    def _converse(self, form: _Form, ends: Ends, fit: Fitting) -> Canonical | None:
        if ends.is_value:
            return None
        others = _CONVERSE_MARKERS.get(form.marker, ())
        terms = [term for marker in others for _, term in self._forms.get(_Form(form.stems, marker), [])]
        if form.marker in ("", "has") and len(form.stems) == 1:
            (only,) = form.stems
            for label in _CONVERSES.get(only, ()):
                terms += self._labels.get(normalize(label), [])
        objects = [term for term in terms if term.kind is PropertyKind.OBJECT and not term.symmetric]
        return self._chosen(objects, ends.swapped, fit, swapped=True, score=CONVERSE_SCORE)

    def _misspelled(self, relation: str, ends: Ends, fit: Fitting) -> Canonical | None:
        wanted = normalize(relation)
        found: dict[NamedNode, tuple[float, OntologyProperty]] = {}
        for label, terms in self._labels.items():
            if len(label) != len(wanted) or not all(map(nearly_equal, label, wanted)):
                continue
            similarity = _dice(" ".join(label), " ".join(wanted))
            for term in terms:
                if similarity >= LEAST_SIMILARITY and similarity > found.get(term.iri, (0.0, term))[0]:
                    found[term.iri] = (similarity, term)
        ordered = sorted(found.values(), key=lambda pair: -pair[0])
        if not ordered or (len(ordered) > 1 and ordered[0][0] - ordered[1][0] < LEAST_MARGIN):
            return None
        similarity, term = ordered[0]
        return self._chosen([term], ends, fit, swapped=False, score=similarity)

    def _chosen(
        self, terms: Iterable[OntologyProperty], ends: Ends, fit: Fitting, *, swapped: bool, score: float
    ) -> Canonical | None:
        """The one property that fits best; None where none fits or two fit equally well."""
        ranks = {term.iri: (_rank(term, ends, fit), term) for term in terms}
        fitting = [(rank, term) for rank, term in ranks.values() if rank > 0]
        best = max((rank for rank, _ in fitting), default=0)
        left = [term for rank, term in fitting if rank == best]
        return Canonical(left[0], swapped, score) if len(left) == 1 else None


def _rank(term: OntologyProperty, ends: Ends, fit: Fitting) -> int:
    """How well a property fits two ends; 0: not at all."""
    domain = fit(ends.subject, term.domains)
    if domain is Fit.DISJOINT:
        return 0
    rank = 1 + (domain is Fit.INSTANCE)
    if term.kind is PropertyKind.OBJECT:
        if ends.is_value:
            return 0
        range_ = fit(ends.object, term.ranges)
        return 0 if range_ is Fit.DISJOINT else rank + 2 * (range_ is Fit.INSTANCE)
    return rank + 2 if ends.is_value else 0 if ends.object else rank


def _form(text: str) -> _Form:
    tokens = words(text)
    marker = voice = ""
    while tokens and (tokens[0] in _AUXILIARIES or (tokens[0] in _HAVING and len(tokens) > 1)):
        if tokens[0] in _HAVING:
            marker = "" if tokens[1] in ("been", "its", "had") else "has"
        elif tokens[0] in ("is", "was", "been") and marker == "has":
            marker = ""
        if tokens[0] in _BEING:
            voice = "passive"
        tokens = tokens[1:]
    if tokens and not voice and tokens[0].endswith("s") and not tokens[0].endswith("ss"):
        voice = "finite"
    if len(tokens) > 1 and tokens[-1] in _PREPOSITIONS:
        marker = _PREPOSITIONS[tokens[-1]]
        tokens = tokens[:-1]
        if marker == "of" and tokens[-1].endswith(("er", "or", "ers", "ors")):
            marker = "agent"
    elif len(tokens) == 1 and tokens[0] in _PREPOSITIONS:
        return _Form(frozenset(), _PREPOSITIONS[tokens[0]])
    left = [token for token in tokens if token not in _AUXILIARIES and token != "of"]
    return _Form(frozenset(map(stem, left)), marker, voice)


def _dice(a: str, b: str) -> float:
    ours, theirs = ({f"  {text} "[i : i + 3] for i in range(len(text) + 1)} for text in (a, b))
    return 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours and theirs else 0.0
