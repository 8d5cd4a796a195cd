"""The gate: SHACL decides, statement by statement, before anything is committed.

It judges the change, never the store: affected pairs of shape and focus node, run over an overlay of
store and change. What was wrong before is not charged to the newcomer.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from pyoxigraph import NamedNode, Triple

from shapes.affected import AffectedPairs, Pairs
from shapes.blame import INCOMPLETE, Blame
from shapes.engine import Engine, PyshaclEngine
from shapes.loading import ShapesFiles
from shapes.model import targeted_shapes
from sparql.change import Delta, Derive, Rejection, Statement, Violation
from sparql.source import Overlay, Term, TripleSource
from sparql.vocabulary import RDF, SH

Selection = tuple[tuple[Statement, ...], tuple[Rejection, ...], tuple[Rejection, ...]]


@dataclass(frozen=True)
class _Trial:
    """The batch as far as it is still standing, and what the shapes say of it."""

    violations: tuple[Violation, ...]
    warnings: tuple[Violation, ...]


class ShapesGate:
    """Judges changes by the shapes of one folder. Immutable: an edit of the shapes makes a new gate."""

    def __init__(self, files: ShapesFiles, engine: Engine | None = None) -> None:
        shapes = targeted_shapes(files.graph)
        self.version = files.version
        self.pairs = AffectedPairs(shapes)
        self._engine = engine or PyshaclEngine(files.graph, {shape.name: shape.node for shape in shapes})

    def select(
        self,
        before: TripleSource,
        additions: tuple[Statement, ...],
        removals: frozenset[Triple],
        derive: Derive,
        *,
        partial: bool,
    ) -> Selection:
        """Accepted, rejected and warned statements.

        With `partial` the maximal conforming part is accepted: what a violation is charged to is taken
        out until nothing violates, then what was taken out is tried again, component by component and
        one by one (but for an incomplete entity, which is held together). Without, one violation rejects the
        whole. Deterministic.
        """
        standing = {statement.triple: statement for statement in additions}
        trial = self._try(before, standing, removals, derive)
        if not trial.violations:
            return additions, (), self._warned(trial, standing, before, removals)
        if not partial:
            return (), self._charge_all(trial.violations, standing, before, removals), ()
        charges: dict[Triple, list[Violation]] = {}
        while trial.violations and standing:
            blame = Blame(standing, before, self.pairs.shapes)
            taken: set[Triple] = set()
            for violation in trial.violations:
                blamed = blame.of(violation) or frozenset(standing)
                for triple in blamed:
                    charges.setdefault(triple, []).append(violation)
                taken |= blamed
            standing = {t: s for t, s in standing.items() if t not in taken}
            trial = self._try(before, standing, removals, derive)
        taken_out = {s.triple: s for s in additions if s.triple in charges}
        groups = _components(taken_out, before)
        groups += [[t] for t in sorted(taken_out, key=_rank(taken_out)) if not _held(charges[t])]
        standing = self._retry(before, standing, taken_out, groups, removals, derive)
        accepted = tuple(s for s in additions if s.triple in standing)
        rejected = tuple(
            Rejection(s, _distinct(charges[s.triple])) for s in additions if s.triple not in standing
        )
        final = self._try(before, standing, removals, derive)
        return accepted, rejected, self._warned(final, standing, before, removals)

    def report(self, source: TripleSource) -> list[Violation]:
        """Full validation of everything the source holds (used by `validate`, after bulk loads)."""
        return self._engine.check(source, self.pairs.everything(source))

    def _retry(
        self,
        before: TripleSource,
        standing: dict[Triple, Statement],
        taken_out: Mapping[Triple, Statement],
        groups: list[list[Triple]],
        removals: frozenset[Triple],
        derive: Derive,
    ) -> dict[Triple, Statement]:
        """Put back what conforms after all, until nothing more does."""
        progress = True
        while progress:
            progress = False
            for group in groups:
                attempt = standing | {t: taken_out[t] for t in group if t not in standing}
                grows = len(attempt) > len(standing)
                if grows and not self._try(before, attempt, removals, derive).violations:
                    standing, progress = attempt, True
        return standing

    def _try(
        self,
        before: TripleSource,
        standing: Collection[Triple],
        removals: frozenset[Triple],
        derive: Derive,
    ) -> _Trial:
        derived = derive(standing, removals)
        delta = Delta(frozenset(standing) | derived.additions, removals | derived.removals)
        if not delta.additions and not delta.removals:
            return _Trial((), ())
        if not self.pairs.concerns(delta.additions, delta.removals):
            return _Trial((), ())
        after = Overlay(before, delta.additions, delta.removals)
        either = Overlay(before, delta.additions)
        pairs = self.pairs.of(delta.additions, delta.removals, either, after)
        found = [v for v in self._engine.check(after, pairs) if v.severity != SH.Info]
        if found:
            found = self._new_ones(before, found)
        return _Trial(tuple(v for v in found if v.blocking), tuple(v for v in found if not v.blocking))

    def _new_ones(self, before: TripleSource, found: list[Violation]) -> list[Violation]:
        """Those that were not there before the change."""
        pairs: Pairs = {}
        for violation in found:
            if violation.shape is not None:
                pairs.setdefault(violation.shape.value, set()).add(violation.focus)
        earlier = {_key(v) for v in self._engine.check(before, self._targets_only(before, pairs))}
        return [violation for violation in found if _key(violation) not in earlier]

    def _targets_only(self, source: TripleSource, pairs: Pairs) -> Pairs:
        return {
            name: {node for node in nodes if self.pairs.is_target(source, name, node)}
            for name, nodes in pairs.items()
        }

    def _charge_all(
        self,
        violations: Iterable[Violation],
        standing: dict[Triple, Statement],
        before: TripleSource,
        removals: frozenset[Triple],
    ) -> tuple[Rejection, ...]:
        charges: dict[Triple, list[Violation]] = {}
        blame = Blame(standing, before, self.pairs.shapes)
        for violation in violations:
            blamed = (
                blame.of(violation) or _removed_about(violation.focus, removals) or _any(standing, removals)
            )
            for triple in blamed:
                charges.setdefault(triple, []).append(violation)
        return tuple(
            Rejection(standing.get(triple) or Statement(triple), _distinct(found))
            for triple, found in sorted(charges.items(), key=lambda item: str(item[0]))
        )

    def _warned(
        self,
        trial: _Trial,
        standing: dict[Triple, Statement],
        before: TripleSource,
        removals: frozenset[Triple],
    ) -> tuple[Rejection, ...]:
        return self._charge_all(trial.warnings, standing, before, removals)


def _rank(statements: Mapping[Triple, Statement]) -> Callable[[Triple], tuple[float, str]]:
    def rank(triple: Triple) -> tuple[float, str]:
        confidence = statements[triple].confidence
        return (-(1.0 if confidence is None else confidence), str(triple))

    return rank


def _held(violations: Iterable[Violation]) -> bool:
    return any(violation.component in INCOMPLETE for violation in violations)


def _removed_about(focus: Term, removals: frozenset[Triple]) -> frozenset[Triple]:
    return frozenset(t for t in removals if focus in (t.subject, t.object))


def _any(standing: Iterable[Triple], removals: frozenset[Triple]) -> frozenset[Triple]:
    return frozenset(sorted((*standing, *removals), key=str)[:1])


def _distinct(violations: Iterable[Violation]) -> tuple[Violation, ...]:
    return tuple(dict.fromkeys(violations))


def _key(violation: Violation) -> tuple[object, ...]:
    return (violation.shape, violation.focus, violation.component, violation.path, violation.value)


def _components(rejected: Collection[Triple], before: TripleSource) -> list[list[Triple]]:
    """Rejected statements grouped by the new nodes they share, in stable order."""
    group: dict[Triple, int] = {}
    owner: dict[Term, int] = {}
    members: dict[int, list[Triple]] = {}
    for number, triple in enumerate(sorted(rejected, key=str)):
        group[triple] = number
        members[number] = [triple]
        for node in (triple.subject, triple.object):
            is_new = isinstance(node, NamedNode) and not any(True for _ in before.match(node, None, None))
            if not is_new or (triple.predicate == RDF.type and node == triple.object):
                continue
            other = owner.setdefault(node, group[triple])
            if other != group[triple]:
                merged = members.pop(group[triple])
                for moved in merged:
                    group[moved] = other
                for shared, holder in owner.items():
                    if holder == number:
                        owner[shared] = other
                members[other] += merged
    return [sorted(triples, key=str) for _, triples in sorted(members.items())]
