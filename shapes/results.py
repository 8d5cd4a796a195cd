"""What engines find: violations by shape and focus node, and as a SHACL validation report (SHACL, 3.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from shapes.gate.affected import Pairs
from sparql.model.change import Rejection, Violation
from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import RDF, SH, XSD

Pair = tuple[str, Term]
"""A shape's name and a focus node."""

Found = dict[Pair, list[Violation]]
"""Violations by the pair they were found for; those of a nested shape concern nodes further away."""


class Engine(Protocol):
    """Runs shapes on focus nodes over a source, reading only what they need."""

    def check(self, source: TripleSource, pairs: Pairs) -> Found:
        """Violations of these pairs; pairs without any may be left out."""
        ...

    def breaks(self, after: TripleSource, before: TripleSource, pairs: Pairs) -> bool | None:
        """Whether a pair has a blocking violation that is new; None where only `check` can decide."""
        ...


def in_order(found: Iterable[Sequence[Violation]]) -> list[Violation]:
    """All violations in stable order."""
    return sorted((violation for violations in found for violation in violations), key=_place)


def _place(violation: Violation) -> tuple[str, ...]:
    named = (violation.focus, violation.path or "", violation.component, violation.value, violation.shape)
    return tuple(map(str, named))


PREFIXES = {"sh": SH.iri, "xsd": XSD.iri}


def validation_report(rejections: Iterable[Rejection]) -> list[Triple]:
    """The report as triples: each violation once, whichever statements it was charged to.

    ``sh:resultPath`` is given for paths of one predicate, forward or inverse; longer ones are in the shape.
    """
    violations = dict.fromkeys(one for rejection in rejections for one in rejection.violations)
    report = BlankNode()
    conforms = not any(violation.blocking for violation in violations)
    triples = [
        Triple(report, RDF.type, SH.ValidationReport),
        Triple(report, SH.conforms, Literal(conforms)),
    ]
    for violation in violations:
        result = BlankNode()
        triples.append(Triple(report, SH.result, result))
        triples += result_triples(result, violation)
    return triples


def result_triples(result: NamedNode | BlankNode, violation: Violation) -> Iterator[Triple]:
    """One validation result (SHACL, 3.6.2)."""
    yield Triple(result, RDF.type, SH.ValidationResult)
    yield Triple(result, SH.focusNode, violation.focus)
    yield Triple(result, SH.resultSeverity, violation.severity)
    yield Triple(result, SH.sourceConstraintComponent, violation.component)
    yield Triple(result, SH.resultMessage, Literal(violation.message))
    if violation.shape is not None:
        yield Triple(result, SH.sourceShape, violation.shape)
    if violation.value is not None:
        yield Triple(result, SH.value, violation.value)
    yield from _path(result, violation.path)


def _path(result: NamedNode | BlankNode, path: str | None) -> Iterator[Triple]:
    """The path of a result; see ``shapes.paths.text`` for how it is written."""
    if path is None or path.count("://") > 1:
        return
    try:
        predicate = NamedNode(path.removeprefix("^"))
    except ValueError:
        return
    if path.startswith("^"):
        inverse = BlankNode()
        yield Triple(result, SH.resultPath, inverse)
        yield Triple(inverse, SH.inversePath, predicate)
    else:
        yield Triple(result, SH.resultPath, predicate)
