"""The gate: SHACL decides, statement by statement, before anything is committed.

It judges the change, never the store: affected pairs of shape and focus node, run over an overlay of store
and change. Violations that were there before are not charged to the change.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from pyoxigraph import BlankNode, NamedNode, Triple

from shapes.gate.affected import AffectedPairs, Pairs
from shapes.gate.attribution import (
    INCOMPLETE,
    Attribution,
    by_confidence,
    charge_all,
    components,
    distinct,
    put_back,
)
from shapes.gate.full_validation import portions
from shapes.gate.what_if import WhatIf
from shapes.graph import excerpt, to_oxigraph
from shapes.loading import ShapesFiles
from shapes.model import TargetedShape, conflicts_by_source, severities_by_source, targeted_shapes
from shapes.results import Engine, Found, in_order
from shapes.time_limit import TimeLimit
from sparql.model.change import Delta, Derive, Rejection, Selection, Statement, Violation
from sparql.model.errors import JudgingTimeout
from sparql.model.source import TripleSource
from sparql.model.vocabulary import UKG
from sparql.storage.embedded_store import EmbeddedStore

if TYPE_CHECKING:
    from rdflib.term import Node

    from shapes.engine.compiled_engine import CompiledEngine
    from shapes.engine.reference import PyshaclEngine

EngineName = Literal["compiled", "pyshacl"]


class Engines:
    """The two engines, made on first use, and which of them is in use."""

    def __init__(self, files: ShapesFiles, nodes: Mapping[str, Node], name: EngineName) -> None:
        self.files = files
        self._nodes = nodes
        self._making = Lock()
        self._made: tuple[CompiledEngine, PyshaclEngine] | None = None
        self.name = name
        self.languages: tuple[str, ...] = ("en",)

    def made(self) -> tuple[CompiledEngine, PyshaclEngine]:
        """Both engines. Raises `ShapeMalformed`."""
        # This imports pySHACL, which takes longer than everything else that a start needs of this package.
        from shapes.engine.compiled_engine import CompiledEngine
        from shapes.engine.reference import PyshaclEngine

        with self._making:
            if self._made is None:
                reference = PyshaclEngine(self.files.graph, self._nodes, languages=lambda: self.languages)
                self._made = CompiledEngine(self.files.graph, self._nodes, reference), reference
            return self._made

    def check(self, source: TripleSource, pairs: Pairs) -> Found:
        """Violations of these pairs."""
        return self._in_use().check(source, pairs)

    def breaks(self, after: TripleSource, before: TripleSource, pairs: Pairs) -> bool | None:
        """Whether a pair has a blocking violation that is new; None where only `check` can decide."""
        return self._in_use().breaks(after, before, pairs)

    def _in_use(self) -> Engine:
        compiled, reference = self._made or self.made()
        return compiled if self.name == "compiled" else reference


_LOGGER = logging.getLogger(__name__)

_PORTION = 500
"""Focus nodes of a shape judged at a time in a full validation."""


class ShapesGate:
    """Judges changes by the shapes of one folder. Immutable: an edit of the shapes makes a new gate.

    `shapes` are those of the files, if an earlier start cached them; then the engines are made on first use,
    or by `warm`. Otherwise everything is read at once; raises `ShapeMalformed`.
    """

    def __init__(
        self,
        files: ShapesFiles,
        engine: EngineName = "compiled",
        *,
        derives_from: Callable[[Triple], bool] = lambda triple: True,
        shapes: Sequence[TargetedShape] | None = None,
    ) -> None:
        found = targeted_shapes(files.graph) if shapes is None else tuple(shapes)
        self.version = files.version
        self.pairs = AffectedPairs(found)
        self._engines = Engines(files, {shape.name: shape.node for shape in found}, engine)
        if shapes is None:
            self.warm()
        self._limit = TimeLimit()
        self.exceeded: frozenset[str] = frozenset()
        """Names of the shapes that took too long for some change."""
        self._derives_from = derives_from
        self._policies = severities_by_source(files.graph)
        self.conflicts = conflicts_by_source(files.graph)
        """By source and property, the severity of a statement that geometries contradict."""

    def warm(self) -> None:
        """Make the engines if they are not made yet; raises `ShapeMalformed`."""
        self._engines.made()

    def use(
        self,
        engine: EngineName,
        *,
        inferring: bool = False,
        limit: TimeLimit | None = None,
    ) -> None:
        """Judge by this engine from now on; with `inferring`, anything may follow from any statement.

        Each judgment ends with an error at the `limit`.
        """
        self._engines.name = engine
        self._limit = limit or self._limit
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
    ) -> Selection:
        """Accepted, rejected and warned statements.

        With `partial` the maximal conforming part is accepted: statements charged with a violation are taken
        out until nothing violates; then they are tried again, component by component and one by one
        (except those of an incomplete entity, which stay together). Without it, one violation rejects the
        whole change. `source` says how the change was made, for shapes whose severity depends on it.
        Deterministic. Raises `JudgingTimeout` when it takes too long.
        """
        with self._limited():
            return self._select(before, additions, removals, derive, partial, source)

    def _select(
        self,
        before: TripleSource,
        additions: tuple[Statement, ...],
        removals: frozenset[Triple],
        derive: Derive,
        partial: bool,
        source: str,
    ) -> Selection:
        remaining = {statement.triple: statement for statement in additions}
        if not self.concerns(remaining, removals):
            return Selection(additions)
        what_if = WhatIf(
            self.pairs,
            self._engines,
            before,
            remaining,
            removals,
            derive,
            derives_from=self._derives_from,
            severities=self._policies.get(source),
        )
        if not what_if.violations:
            warnings = charge_all(what_if.warnings(), remaining, before, removals, self.pairs.shapes)
            _log(what_if)
            return Selection(additions, (), warnings)
        if not partial:
            violations = what_if.violations
            return Selection((), charge_all(violations, remaining, before, removals, self.pairs.shapes))
        charges = self._take_out_charged(what_if, before)
        if what_if.violations:
            # The removals break a shape: the whole change is refused.
            return Selection((), self._all_held(what_if.violations, additions, charges, removals))
        taken_out = {s.triple: s for s in additions if s.triple in charges}
        groups = components(taken_out, before)
        groups += [[t] for t in sorted(taken_out, key=by_confidence(taken_out)) if not _held(charges[t])]
        put_back(what_if, taken_out, groups)
        accepted = tuple(s for s in additions if s.triple in what_if.remaining)
        rejected = tuple(
            Rejection(s, distinct(charges[s.triple])) for s in additions if s.triple not in what_if.remaining
        )
        warnings = charge_all(what_if.warnings(), what_if.remaining, before, removals, self.pairs.shapes)
        _log(what_if)
        return Selection(accepted, rejected, warnings)

    @contextmanager
    def _limited(self) -> Iterator[None]:
        try:
            with self._limit.running():
                yield
        except JudgingTimeout as error:
            self.exceeded |= {error.shape}
            raise

    def __reduce__(self) -> tuple[Any, ...]:
        # The engines consist of functions, which cannot be sent to another process: they are made again.
        shapes = tuple(self.pairs.shapes.values())
        options = (self._engines.name, self.exceeded, self.languages)
        return _make_again, (self._engines.files, shapes, *options)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of messages, the preferred first."""
        return self._engines.languages

    @languages.setter
    def languages(self, languages: tuple[str, ...]) -> None:
        self._engines.languages = languages

    @property
    def files(self) -> ShapesFiles:
        """What it was made of."""
        return self._engines.files

    def part(self, names: Collection[str]) -> ShapesGate:
        """A gate of these shapes alone, which judges them as this one does."""
        shapes = [shape for name, shape in self.pairs.shapes.items() if name in names]
        graph = excerpt(self.files.graph, [shape.node for shape in shapes])
        files = replace(self.files, graph=graph, sources=(), generated=())
        options = (self._engines.name, self.exceeded, self.languages)
        return _make_again(files, shapes, *options)

    def concerns(self, additions: Collection[Triple], removals: Collection[Triple] = ()) -> bool:
        """Whether any shape depends on such triples, or on what may follow from them."""
        derives_from = self._derives_from
        return self.pairs.concerns(additions, removals) or any(
            derives_from(triple) for triples in (additions, removals) for triple in triples
        )

    def _take_out_charged(self, what_if: WhatIf, before: TripleSource) -> dict[Triple, list[Violation]]:
        """Take out the statements charged with violations until nothing violates; the charges."""
        charges: dict[Triple, list[Violation]] = {}
        while what_if.remaining and (violations := what_if.violations):
            attribution = Attribution(what_if.remaining, before, self.pairs.shapes)
            taken: set[Triple] = set()
            for violation in violations:
                charged = attribution.of(violation) or frozenset(what_if.remaining)
                for triple in charged:
                    charges.setdefault(triple, []).append(violation)
                taken |= charged
            what_if.take_out(taken)
        return charges

    def judge(
        self, before: TripleSource, additions: Iterable[Triple], removals: frozenset[Triple] = frozenset()
    ) -> list[Violation]:
        """The new violations and warnings of a change, in stable order; nothing is derived from it."""
        remaining = {triple: Statement(triple) for triple in additions}
        with self._limited():
            what_if = WhatIf(
                self.pairs,
                self._engines,
                before,
                remaining,
                removals,
                _nothing,
                derives_from=lambda triple: False,
            )
            return [*what_if.violations, *what_if.warnings()]

    def _all_held(
        self,
        violations: Sequence[Violation],
        additions: Sequence[Statement],
        charges: Mapping[Triple, list[Violation]],
        removals: frozenset[Triple],
    ) -> tuple[Rejection, ...]:
        """Everything refused; a refused removal is reported like a statement."""
        rejections = [Rejection(s, distinct(charges.get(s.triple, violations))) for s in additions]
        held = sorted(removals, key=str)
        return (*rejections, *(Rejection(Statement(triple), distinct(violations)) for triple in held))

    def report(self, source: TripleSource) -> list[Violation]:
        """Full validation of everything the source holds, in stable order. Raises `StoreClosing`."""
        return in_order([list(self.results(source))])

    def results(self, source: TripleSource) -> Iterator[Violation]:
        """The same as they are found; for a store on disk, in memory that does not grow with it.

        The time limit applies to each portion of the nodes. A shape that exceeds it is not judged any
        further, and a violation says so. Raises `StoreClosing` when the server stops.
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

    def suspects(self, source: TripleSource, pairs: Pairs) -> Pairs:
        """The pairs that may violate something, found fast; the others certainly conform.

        Raises `JudgingTimeout`.
        """
        with self._limited():
            return self._engines.made()[0].doubtful(source, pairs)


def _make_again(
    files: ShapesFiles,
    shapes: Sequence[TargetedShape],
    engine: EngineName,
    exceeded: frozenset[str],
    languages: tuple[str, ...],
) -> ShapesGate:
    gate = ShapesGate(files, engine, shapes=shapes)
    gate.exceeded = exceeded
    gate.languages = languages
    return gate


def _log(what_if: WhatIf) -> None:
    """Results of severity sh:Info go only to the log."""
    for remark in what_if.remarks:
        _LOGGER.info("%s: %s (%s)", remark.focus, remark.message, remark.shape)


def _nothing(additions: Collection[Triple], removals: Collection[Triple]) -> Delta:
    return Delta()


def _held(violations: Iterable[Violation]) -> bool:
    return any(violation.component in INCOMPLETE for violation in violations)
