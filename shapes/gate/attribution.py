"""Which of the new statements a violation is charged to, and which of them conform after all."""

from collections.abc import Callable, Collection, Iterable, Mapping

from pyoxigraph import NamedNode, Triple

from shapes.gate.what_if import WhatIf
from shapes.model import TargetedShape
from sparql.model.change import Rejection, Statement, Violation
from sparql.model.source import Term, TripleIndex, TripleSource
from sparql.model.vocabulary import RDF, SH

INCOMPLETE = frozenset(
    (
        SH.MinCountConstraintComponent,
        SH.HasValueConstraintComponent,
        SH.QualifiedMinCountConstraintComponent,
    )
)
_TOO_MANY = frozenset(
    (
        SH.MaxCountConstraintComponent,
        SH.QualifiedMaxCountConstraintComponent,
        SH.UniqueLangConstraintComponent,
    )
)


class Attribution:
    """Charges violations to the statements of one batch.

    For an incomplete entity, all statements about it; for too many values, the least confident one; for a
    value that does not fit, its statement; otherwise the statements that made the node a target of the shape.
    """

    def __init__(
        self,
        statements: Mapping[Triple, Statement],
        before: TripleSource,
        shapes: Mapping[str, TargetedShape],
    ) -> None:
        self._statements = statements
        self._index: TripleIndex | None = None
        self._before = before
        self._shapes = shapes

    @property
    def _added(self) -> TripleIndex:
        """The statements by their parts, built on demand: most batches have no violation."""
        if self._index is None:
            self._index = TripleIndex(self._statements)
        return self._index

    def of(self, violation: Violation) -> frozenset[Triple]:
        """The statements to take out so that this violation can disappear; empty if none is at fault."""
        shape = self._shapes.get(_name(violation))
        focus = violation.focus
        own = set(self._added.match(focus, None, None))
        about = own | set(self._added.match(None, None, focus))
        concerned = {t for t in own if shape is None or t.predicate in shape.predicates}
        valued = self._valued(violation)
        targeting = self._targeting(violation, shape)
        on_path = self._on_path(violation)
        if violation.component in INCOMPLETE:
            choices = [about] if self._is_new(violation) else [targeting, concerned, about]
        elif violation.component in _TOO_MANY:
            choices = [self._weakest(on_path), self._weakest(concerned), targeting, about]
        elif violation.path is None:
            types = {t for t in own if t.predicate == RDF.type}
            choices = [targeting, self._weakest(types), self._weakest(concerned), about]
        else:
            choices = [valued, self._weakest(on_path), self._weakest(concerned), targeting, about]
        return frozenset(next((choice for choice in choices if choice), ()))

    def _is_new(self, violation: Violation) -> bool:
        return not any(True for _ in self._before.match(violation.focus, None, None))

    def _valued(self, violation: Violation) -> set[Triple]:
        if violation.value is None:
            return set()
        return {
            triple
            for triple in self._on_path(violation)
            if violation.value in (triple.object, triple.subject)
        }

    def _on_path(self, violation: Violation) -> set[Triple]:
        path = violation.path or ""
        if path.startswith("^") and path[1:2] != "(":
            return set(self._added.match(None, NamedNode(path[1:]), violation.focus))
        if path and not any(mark in path for mark in ("(", "*", "^")) and "://" in path:
            return set(self._added.match(violation.focus, NamedNode(path), None))
        return set()

    def _targeting(self, violation: Violation, shape: TargetedShape | None) -> set[Triple]:
        if shape is None:
            return set()
        focus = violation.focus
        found = {t for p in shape.subjects_of for t in self._added.match(focus, p, None)}
        found |= {t for p in shape.objects_of for t in self._added.match(None, p, focus)}
        if shape.classes and not found:
            found = self._weakest(set(self._added.match(focus, RDF.type, None)))
        return found

    def _weakest(self, triples: set[Triple]) -> set[Triple]:
        """The least confident one; of equals the last in text order, for a stable result."""
        if not triples:
            return set()

        def rank(triple: Triple) -> tuple[float, str]:
            confidence = self._statements[triple].confidence
            return (-(1.0 if confidence is None else confidence), str(triple))

        return {max(triples, key=rank)}


def charge_all(
    violations: Iterable[Violation],
    remaining: Mapping[Triple, Statement],
    before: TripleSource,
    removals: frozenset[Triple],
    shapes: Mapping[str, TargetedShape],
) -> tuple[Rejection, ...]:
    """The statements, or refused removals, that violations are charged to, with what each is charged with."""
    charges: dict[Triple, list[Violation]] = {}
    attribution = Attribution(remaining, before, shapes)
    for violation in violations:
        charged = (
            attribution.of(violation)
            or _removed_about(violation.focus, removals)
            or _any(remaining, removals)
        )
        for triple in charged:
            charges.setdefault(triple, []).append(violation)
    return tuple(
        Rejection(remaining.get(triple) or Statement(triple), distinct(found))
        for triple, found in sorted(charges.items(), key=lambda item: str(item[0]))
    )


def distinct(violations: Iterable[Violation]) -> tuple[Violation, ...]:
    """Each violation once, in order."""
    return tuple(dict.fromkeys(violations))


def _removed_about(focus: Term, removals: frozenset[Triple]) -> frozenset[Triple]:
    return frozenset(t for t in removals if focus in (t.subject, t.object))


def _any(remaining: Iterable[Triple], removals: frozenset[Triple]) -> frozenset[Triple]:
    return frozenset(sorted((*remaining, *removals), key=str)[:1])


def _name(violation: Violation) -> str:
    shape = violation.shape
    return "" if shape is None else shape.value


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
