"""Tries a change: which violations it would cause, with fewer or more of its statements.

Verdicts are kept: when statements are taken out or put back, only the pairs of shape and focus node that
these statements affect are judged again.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from pyoxigraph import NamedNode, Triple

from shapes.gate.affected import AffectedPairs, Pairs
from shapes.results import Engine, Pair, in_order
from sparql.model.change import Derive, Statement, Violation
from sparql.model.source import KnownAbsent, Overlay, TripleIndex, TripleSource
from sparql.model.vocabulary import SH


class WhatIf:
    """The statements of a change that are still in it, over a graph that does not change meanwhile.

    `derives_from` returns whether something may be derived from a triple; `severities` gives, by shape name,
    the severity of all results of a shape where it differs from the shape's own.
    """

    def __init__(
        self,
        pairs: AffectedPairs,
        engine: Engine,
        before: TripleSource,
        remaining: Mapping[Triple, Statement],
        removals: frozenset[Triple],
        derive: Derive,
        derives_from: Callable[[Triple], bool],
        severities: Mapping[str, NamedNode] | None = None,
    ) -> None:
        self._pairs = pairs
        self._engine = engine
        self._before = before = before if isinstance(before, KnownAbsent) else KnownAbsent(before)
        self._removals = removals
        self._derive = derive
        self._derives_from = derives_from
        self._severities = severities or {}
        self.remaining = dict(remaining)
        self._earlier: dict[Pair, frozenset[tuple[object, ...]]] = {}
        self._derived = derive(self.remaining, removals)
        self._touched: Pairs = {}
        self._changed = False
        self._found: dict[Pair, tuple[Violation, ...]] = {}
        additions = {*self.remaining, *self._derived.additions}
        gone = removals | self._derived.removals
        self._concerned = pairs.concerns(additions, gone)
        if self._concerned:
            self._added = TripleIndex(additions)
            self._look()
            self._judge(pairs.of(additions, gone, self._either, self._after))
            self._touched = {name: {n for s, n in self._found if s == name} for name, _ in self._found}

    @property
    def violations(self) -> list[Violation]:
        """What blocks, in stable order."""
        return [v for v in self._all() if v.blocking]

    def warnings(self) -> list[Violation]:
        """What does not block, in stable order; pairs that changed in between are judged again."""
        left = {
            name: {node for node in nodes if self._pairs.is_target(self._after, name, node)}
            for name, nodes in self._touched.items()
        }
        if self._changed and left:
            self._found = {}
            self._judge(left)
        return [v for v in self._all() if not v.blocking and v.severity != SH.Info]

    @property
    def remarks(self) -> list[Violation]:
        """Results of severity sh:Info, in stable order."""
        return [v for v in self._all() if v.severity == SH.Info]

    def take_out(self, triples: Collection[Triple]) -> None:
        """Continue without these statements."""
        for triple in triples:
            del self.remaining[triple]
        came, went = self._change((), triples)
        affected = self._pairs.of(came, went, Overlay(self._either, went), self._after)
        found, self._found = self._found, {}
        for name, node in found:
            if self._pairs.is_target(self._after, name, node):
                affected.setdefault(name, set()).add(node)
        self._touch(affected)
        self._judge(affected)

    def put_back(self, statements: Mapping[Triple, Statement]) -> bool:
        """Continue with these statements too if nothing blocks then; whether they were put back."""
        self.remaining.update(statements)
        came, went = self._change(statements, ())
        affected = self._pairs.of(came, went, self._either, self._after)
        if not self._blocks(affected):
            self._touch(affected)
            return True
        for triple in statements:
            del self.remaining[triple]
        self._change((), statements)
        return False

    def _blocks(self, affected: Pairs) -> bool:
        if not affected:
            return False
        breaks = None
        if not self._severities:
            breaks = self._engine.breaks(self._after, self._before, affected)
        return bool(self._new(affected, blocking=True)) if breaks is None else breaks

    def _change(self, added: Iterable[Triple], removed: Iterable[Triple]) -> tuple[set[Triple], set[Triple]]:
        """Update the view to the remaining statements; the triples that come and go in it."""
        came, went = set(added), set(removed)
        self._changed = True
        if any(self._derives_from(triple) for triple in (*came, *went)):
            old, self._derived = self._derived, self._derive(self.remaining, self._removals)
            came |= self._derived.additions - old.additions
            came |= old.removals - self._derived.removals
            went |= old.additions - self._derived.additions
            went |= self._derived.removals - old.removals
        stays = self._derived.additions
        for triple in went:
            if triple not in self.remaining and triple not in stays:
                self._added.discard(triple)
        for triple in came:
            if triple in self.remaining or triple in stays:
                self._added.add(triple)
        self._look()
        return came, went

    def _look(self) -> None:
        self._after = Overlay(self._before, self._added, self._removals | self._derived.removals)
        self._either = Overlay(self._before, self._added)

    def _touch(self, affected: Pairs) -> None:
        for name, nodes in affected.items():
            self._touched.setdefault(name, set()).update(nodes)

    def _judge(self, affected: Pairs) -> None:
        """Judge these pairs again; the results of other pairs stay."""
        for name, nodes in affected.items():
            for node in nodes:
                self._found.pop((name, node), None)
        self._found.update(self._new(affected))

    def _new(self, pairs: Pairs, *, blocking: bool = False) -> dict[Pair, tuple[Violation, ...]]:
        """Violations of these pairs that were not there before the change."""
        found = {
            pair: [v for v in map(self._weighed, violations) if v.blocking or not blocking]
            for pair, violations in self._engine.check(self._after, pairs).items()
        }
        unknown: Pairs = {}
        for (name, node), violations in found.items():
            if violations and (name, node) not in self._earlier:
                self._earlier[name, node] = frozenset()
                if self._pairs.is_target(self._before, name, node):
                    unknown.setdefault(name, set()).add(node)
        if unknown:
            for pair, earlier in self._engine.check(self._before, unknown).items():
                self._earlier[pair] = frozenset(_key(violation) for violation in earlier)
        new = {
            pair: tuple(v for v in violations if _key(v) not in self._earlier[pair])
            for pair, violations in found.items()
            if violations
        }
        return {pair: violations for pair, violations in new.items() if violations}

    def _weighed(self, violation: Violation) -> Violation:
        """The violation with the severity that applies here."""
        if not self._severities or violation.shape is None:
            return violation
        severity = self._severities.get(violation.shape.value)
        return violation if severity is None else replace(violation, severity=severity)

    def _all(self) -> list[Violation]:
        return in_order(self._found.values())


def _key(violation: Violation) -> tuple[object, ...]:
    return (violation.shape, violation.focus, violation.component, violation.path, violation.value)
