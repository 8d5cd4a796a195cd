"""The gate: SHACL decides, statement by statement, before anything is committed.

It judges the change, never the store: affected pairs of shape and focus node, run over an overlay of
store and change. What was wrong before is not charged to the newcomer.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from pyoxigraph import BlankNode, NamedNode, Triple

from shapes.gate.affected import FAN_IN, AffectedPairs, Pairs
from shapes.gate.attribution import INCOMPLETE, Blame
from shapes.gate.full_report import portions
from shapes.gate.judging import Engine, Found, in_order
from shapes.gate.what_if import HubPolicy, Trial
from shapes.loading import ShapesFiles
from shapes.model import TargetedShape, targeted_shapes
from shapes.policies import conflicts_by_source, severities_by_source
from shapes.terms import to_oxigraph
from shapes.time_limit import TimeLimit
from sparql.model.change import Delta, Derive, Reach, Rejection, Selection, Statement, Survey, Violation
from sparql.model.errors import JudgingTimeout
from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import RDF, UKG
from sparql.storage.embedded_store import EmbeddedStore

if TYPE_CHECKING:
    from rdflib.term import Node

    from shapes.engine.compiled import CompiledEngine
    from shapes.engine.pyshacl_engine import PyshaclEngine

_LOGGER = logging.getLogger(__name__)
EngineName = Literal["compiled", "pyshacl"]

_PORTION = 500
"""So many focus nodes of a shape are judged at a time in a full validation."""
FAN_IN_FULL = 200_000
"""On so many focus nodes the dependants of one triple are judged while others wait to write."""


class ShapesGate:
    """Judges changes by the shapes of one folder. Immutable: an edit of the shapes makes a new gate.

    `shapes` are those of the files, where they are known from an earlier start; then what judges them is made
    when it is first needed, or by `warm`. Otherwise all is read at once; raises `ShapeMalformed`.
    """

    def __init__(
        self,
        files: ShapesFiles,
        engine: EngineName = "compiled",
        *,
        derives_from: Callable[[Triple], bool] = lambda triple: True,
        fan_in: int = FAN_IN,
        fan_in_full: int = FAN_IN_FULL,
        shapes: Sequence[TargetedShape] | None = None,
    ) -> None:
        found = targeted_shapes(files.graph) if shapes is None else tuple(shapes)
        self.version = files.version
        self.pairs = AffectedPairs(found, fan_in)
        self._engines = _Engines(files, {shape.name: shape.node for shape in found}, engine)
        if shapes is None:
            self.warm()
        self._fan_in_full = fan_in_full
        self._limit = TimeLimit()
        self.exceeded: frozenset[str] = frozenset()
        """Names of the shapes that took too long at some change."""
        self._derives_from = derives_from
        self._policies = severities_by_source(files.graph)
        self.conflicts = conflicts_by_source(files.graph)
        """By way and property, how severe it is that geometries contradict a statement."""

    def warm(self) -> None:
        """Make what judges, if it is not there; raises `ShapeMalformed`."""
        self._engines.made()

    def use(
        self,
        engine: EngineName,
        *,
        inferring: bool = False,
        fan_in: int | None = None,
        fan_in_full: int | None = None,
        limit: TimeLimit | None = None,
    ) -> None:
        """Judge by this engine from now on; `inferring` tells that anything may follow from any statement.

        Where more focus nodes than `fan_in` depend on one triple, it counts as a hub, and `fan_in_full` is
        how many are judged while others wait. Each judgement ends with an error at the `limit`.
        """
        self._engines.name = engine
        self._limit = limit or self._limit
        self.pairs.fan_in = fan_in or self.pairs.fan_in
        self._fan_in_full = fan_in_full or self._fan_in_full
        if inferring:
            self._derives_from = lambda triple: True

    def select(
        self,
        before: TripleSource,
        additions: tuple[Statement, ...],
        removals: frozenset[Triple],
        derive: Derive,
        *,
        partial: bool,
        source: str = "",
        reach: Reach = Reach.FULL,
        survey: Survey | None = None,
    ) -> Selection:
        """Accepted, rejected and warned statements.

        With `partial` the maximal conforming part is accepted: what a violation is charged to is taken
        out until nothing violates, then what was taken out is tried again, component by component and
        one by one (but for an incomplete entity, which is held together). Without, one violation rejects the
        whole. `source` is the way by which the change came, for shapes that judge ways differently.
        Deterministic. Raises `TooMuchDepends` where more depends on a statement than `reach` goes, or than a
        `survey` of the change tells of what stands of it in the end; `JudgingTimeout` when it takes too long.
        """
        with self._limited():
            return self._select(before, additions, removals, derive, partial, source, reach, survey)

    def _select(
        self,
        before: TripleSource,
        additions: tuple[Statement, ...],
        removals: frozenset[Triple],
        derive: Derive,
        partial: bool,
        source: str,
        reach: Reach,
        survey: Survey | None,
    ) -> Selection:
        standing = {statement.triple: statement for statement in additions}
        if not self.concerns(standing, removals):
            return Selection(additions)
        trial = Trial(
            self.pairs,
            self._engines,
            before,
            standing,
            removals,
            derive,
            derives_from=self._derives_from,
            severities=self._policies.get(source),
            hubs=HubPolicy(
                surveys=reach is Reach.BOUNDED,
                most=self._fan_in_full if reach is Reach.FULL else None,
                survey=survey,
            ),
        )
        if not trial.violations:
            warnings = self._charge_all(trial.warnings(), standing, before, removals)
            _log(trial)
            return Selection(additions, (), warnings, frozenset(trial.hubs))
        if not partial:
            return Selection((), self._charge_all(trial.violations, standing, before, removals))
        charges = self._take_out_to_blame(trial, before)
        if trial.violations:
            # It is the removals that break a shape: then nothing of the change happens.
            return Selection((), self._all_held(trial.violations, additions, charges, removals))
        taken_out = {s.triple: s for s in additions if s.triple in charges}
        groups = _components(taken_out, before)
        groups += [[t] for t in sorted(taken_out, key=_rank(taken_out)) if not _held(charges[t])]
        _put_back(trial, taken_out, groups)
        accepted = tuple(s for s in additions if s.triple in trial.standing)
        rejected = tuple(
            Rejection(s, _distinct(charges[s.triple])) for s in additions if s.triple not in trial.standing
        )
        warnings = self._charge_all(trial.warnings(), trial.standing, before, removals)
        _log(trial)
        if survey is not None and survey.additions != trial.standing.keys() and _stands(trial):
            # The survey looked at statements that are out now, and what is out may bear on what it found.
            raise trial.too_much(survey.suspects, self.pairs.fan_in)
        return Selection(accepted, rejected, warnings, frozenset(trial.hubs))

    @contextmanager
    def _limited(self) -> Iterator[None]:
        try:
            with self._limit.running():
                yield
        except JudgingTimeout as error:
            self.exceeded |= {error.shape}
            raise

    def __reduce__(self) -> tuple[Any, ...]:
        # What judges is made anew: it is of functions, which cannot be sent to another process.
        shapes = tuple(self.pairs.shapes.values())
        options = (self._engines.name, self.pairs.fan_in, self._fan_in_full, self.exceeded)
        return _made_again, (self._engines.files, shapes, *options)

    def concerns(self, additions: Collection[Triple], removals: Collection[Triple] = ()) -> bool:
        """Whether any shape speaks of such triples, or of what may follow from them."""
        derives_from = self._derives_from
        return self.pairs.concerns(additions, removals) or any(
            derives_from(triple) for triples in (additions, removals) for triple in triples
        )

    def _take_out_to_blame(self, trial: Trial, before: TripleSource) -> dict[Triple, list[Violation]]:
        """Take out what violations are charged to, until nothing violates; the charges."""
        charges: dict[Triple, list[Violation]] = {}
        while trial.standing and (violations := trial.violations):
            blame = Blame(trial.standing, before, self.pairs.shapes)
            taken: set[Triple] = set()
            for violation in violations:
                blamed = blame.of(violation) or frozenset(trial.standing)
                for triple in blamed:
                    charges.setdefault(triple, []).append(violation)
                taken |= blamed
            trial.take_out(taken)
        return charges

    def judge(
        self, before: TripleSource, additions: Iterable[Triple], removals: frozenset[Triple] = frozenset()
    ) -> list[Violation]:
        """What a change would newly break or be warned of, in stable order; nothing is derived from it."""
        standing = {triple: Statement(triple) for triple in additions}
        with self._limited():
            trial = Trial(
                self.pairs,
                self._engines,
                before,
                standing,
                removals,
                _nothing,
                derives_from=lambda triple: False,
            )
            return [*trial.violations, *trial.warnings()]

    def _all_held(
        self,
        violations: Sequence[Violation],
        additions: Sequence[Statement],
        charges: Mapping[Triple, list[Violation]],
        removals: frozenset[Triple],
    ) -> tuple[Rejection, ...]:
        """Everything refused; a removal that is refused is told like a statement."""
        told = [Rejection(s, _distinct(charges.get(s.triple, violations))) for s in additions]
        held = sorted(removals, key=str)
        return (*told, *(Rejection(Statement(triple), _distinct(violations)) for triple in held))

    def report(self, source: TripleSource) -> list[Violation]:
        """Full validation of everything the source holds, in stable order. Raises `StoreClosing`."""
        return in_order([list(self.results(source))])

    def results(self, source: TripleSource) -> Iterator[Violation]:
        """The same as they are found; of a store on the disk in memory that does not grow with it.

        The time limit is for each portion of the nodes. A shape that exceeds it is not judged any further,
        and a violation says so. Raises `StoreClosing` when the server ends.
        """
        given_up: set[str] = set()
        ordered = isinstance(source, EmbeddedStore) and source.is_ordered
        for portion, pairs in portions(self.pairs, source) if ordered else self._portions(source):  # type: ignore[arg-type]
            while left := {name: nodes for name, nodes in pairs.items() if name not in given_up}:
                try:
                    found = self.check(portion, left)
                except JudgingTimeout as error:
                    if error.shape not in left:
                        raise
                    given_up.add(error.shape)
                    yield self._given_up(error.shape, error)
                    continue
                yield from found
                break

    def _portions(self, source: TripleSource) -> Iterator[tuple[TripleSource, Pairs]]:
        for name, nodes in self.pairs.everything(source).items():
            rest = iter(nodes)
            while portion := set(islice(rest, _PORTION)):
                yield source, {name: portion}

    def _given_up(self, name: str, error: JudgingTimeout) -> Violation:
        shape = to_oxigraph(self.pairs.shapes[name].node)
        assert isinstance(shape, NamedNode | BlankNode)
        return Violation(focus=shape, message=str(error), component=UKG.NotJudged, shape=shape)

    def check(self, source: TripleSource, pairs: Pairs) -> list[Violation]:
        """What these pairs violate, whatever was there before. Raises `JudgingTimeout`."""
        with self._limited():
            return in_order(self._engines.check(source, pairs).values())

    def failing(self, source: TripleSource, pairs: Pairs) -> Pairs:
        """Those of these pairs that violate something, or are warned or told of. Raises `JudgingTimeout`."""
        found: Pairs = {}
        with self._limited():
            for (name, node), violations in self._engines.check(source, pairs).items():
                if violations:
                    found.setdefault(name, set()).add(node)
        return found

    def suspects(self, source: TripleSource, pairs: Pairs) -> Pairs:
        """The pairs that may violate something, found fast; the others surely conform.

        Raises `JudgingTimeout`.
        """
        with self._limited():
            return self._engines.made()[0].doubtful(source, pairs)

    def _charge_all(
        self,
        violations: Iterable[Violation],
        standing: Mapping[Triple, Statement],
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


def _made_again(
    files: ShapesFiles,
    shapes: Sequence[TargetedShape],
    engine: EngineName,
    fan_in: int,
    fan_in_full: int,
    exceeded: frozenset[str],
) -> ShapesGate:
    gate = ShapesGate(files, engine, fan_in=fan_in, fan_in_full=fan_in_full, shapes=shapes)
    gate.exceeded = exceeded
    return gate


def _stands(trial: Trial) -> bool:
    """Whether a hub stands of the change."""
    return not trial.hubs.isdisjoint(trial.standing)


def _log(trial: Trial) -> None:
    """Results of severity sh:Info go to the log and nowhere else."""
    for remark in trial.remarks:
        _LOGGER.info("%s: %s (%s)", remark.focus, remark.message, remark.shape)


def _nothing(additions: Collection[Triple], removals: Collection[Triple]) -> Delta:
    return Delta()


def _put_back(trial: Trial, taken_out: Mapping[Triple, Statement], groups: Iterable[list[Triple]]) -> None:
    """Put back what conforms after all, until nothing more does."""
    attempts = list(dict.fromkeys(frozenset(group) for group in groups))
    progress = True
    while progress:
        progress = False
        for attempt in attempts:
            missing = {t: taken_out[t] for t in attempt if t not in trial.standing}
            if missing and trial.put_back(missing):
                progress = True


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


def _components(rejected: Collection[Triple], before: TripleSource) -> list[list[Triple]]:
    """Rejected statements grouped by the new nodes they share, in stable order."""
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


class _Engines:
    """The engine that is in use, of two that are made when they are first needed."""

    def __init__(self, files: ShapesFiles, nodes: Mapping[str, "Node"], name: EngineName) -> None:
        self.files = files
        self._nodes = nodes
        self._making = Lock()
        self._made: tuple[CompiledEngine, PyshaclEngine] | None = None
        self.name = name

    def made(self) -> "tuple[CompiledEngine, PyshaclEngine]":
        """Both engines. Raises `ShapeMalformed`."""
        # With pySHACL in it, this import takes longer than all that a start needs of this room.
        from shapes.engine.compiled import CompiledEngine
        from shapes.engine.pyshacl_engine import PyshaclEngine

        with self._making:
            if self._made is None:
                reference = PyshaclEngine(self.files.graph, self._nodes)
                self._made = CompiledEngine(self.files.graph, self._nodes, reference), reference
            return self._made

    def check(self, source: TripleSource, pairs: Pairs) -> Found:
        """Violations of these pairs."""
        return self._in_use().check(source, pairs)

    def breaks(self, after: TripleSource, before: TripleSource, pairs: Pairs) -> bool | None:
        """Whether a pair has a blocking violation that is new; None if only `check` can tell."""
        return self._in_use().breaks(after, before, pairs)

    def _in_use(self) -> Engine:
        compiled, reference = self._made or self.made()
        return compiled if self.name == "compiled" else reference
