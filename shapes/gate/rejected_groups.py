"""Rejected statements that belong together, in which order they are tried, and what conforms after all."""

from collections.abc import Callable, Collection, Iterable, Mapping

from pyoxigraph import NamedNode, Triple

from shapes.gate.what_if import WhatIf
from sparql.model.change import Statement
from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import RDF


def components(rejected: Collection[Triple], before: TripleSource) -> list[list[Triple]]:
    """Rejected statements, grouped by the new nodes they share, in stable order."""
    ordered = sorted(rejected, key=str)
    sharing: dict[Term, list[Triple]] = {}
    for triple in ordered:
        for node in (triple.subject, triple.object):
            is_new = isinstance(node, NamedNode) and not any(True for _ in before.match(node, None, None))
            if is_new and not (triple.predicate == RDF.type and node == triple.object):
                sharing.setdefault(node, []).append(triple)
    components: list[list[Triple]] = []
    placed: set[Triple] = set()
    for triple in ordered:
        component: set[Triple] = set()
        left = [triple]
        while left:
            one = left.pop()
            if one not in placed:
                placed.add(one)
                component.add(one)
                left += (other for node in (one.subject, one.object) for other in sharing.pop(node, ()))
        if component:
            components.append(sorted(component, key=str))
    return components


def put_back(what_if: WhatIf, taken_out: Mapping[Triple, Statement], groups: Iterable[list[Triple]]) -> None:
    """Put back what conforms after all, until nothing else does."""
    attempts = list(dict.fromkeys(frozenset(group) for group in groups))
    progress = True
    while progress:
        progress = False
        for attempt in attempts:
            missing = {t: taken_out[t] for t in attempt if t not in what_if.remaining}
            if missing and what_if.put_back(missing):
                progress = True


def by_confidence(statements: Mapping[Triple, Statement]) -> Callable[[Triple], tuple[float, str]]:
    """The order in which statements are tried: those of high confidence first."""

    def rank(triple: Triple) -> tuple[float, str]:
        confidence = statements[triple].confidence
        return (-(1.0 if confidence is None else confidence), str(triple))

    return rank
