"""Classes implied by statements about a name: what something is "located in" is a place (rdfs:range).

A text seldom says that Paris is a place, and a name without a class waits in
review. Where the domain or range of a relation leaves one class only, the statement itself says it (RDF
Schema 1.1, sections 3.1 and 3.2). Such a kind rests on that statement alone, so it is only made where the
statement's other end is known to fit too, and it is marked as implied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyoxigraph import NamedNode

from extractors.grounding.linking import Fit, Linker
from ontology.terms import OntologyProperty

__all__ = ["Implied", "Link", "implied_kinds", "misfits"]


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
