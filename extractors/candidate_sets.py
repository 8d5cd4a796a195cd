"""The candidates of one text by statement: what they say together, and which of two for one is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pyoxigraph import Literal, NamedNode

from extractors.candidates import NOTHING_STANDS, RDF_TYPE, Candidate, Problem
from extractors.checks.implied_kinds import Link
from extractors.grounding.entities import Name
from ontology.terms import OntologyProperty

__all__ = ["Key", "known_kinds", "link", "mark_unsupported", "merged", "quote"]

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
