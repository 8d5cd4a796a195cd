"""The change of the inferences that follows from a change of the graph: delete, rederive, insert.

Everything derived from a removed triple is deleted first, whatever else supports it; then what still follows
from the rest is added back (Gupta, Mumick, Subrahmanian: Maintaining Views Incrementally, SIGMOD 1993,
section 7: DRed). Counting derivations instead would let statements of a cycle support each other. Additions
are followed forwards, each new triple joined once with all existing ones (semi-naive evaluation).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from pyoxigraph import Triple

from sparql.inference.rules import Rules, is_axiom
from sparql.model.change import Delta
from sparql.model.errors import InferenceTooLarge
from sparql.model.source import Overlay, TripleIndex, TripleSource

_WAYS = 50
"""In how many ways a conclusion may follow on average; in a chain of n transitive steps it is n/3."""


class Chase:
    """One chase over a graph that does not change meanwhile.

    `before` holds what is stated and all that follows from it; `holds` says whether it has a triple, and
    `is_inferred` whether that is only inferred. If there are more than `most` different conclusions to add or
    to remove, none is drawn: InferenceTooLarge. So it is where they follow in more than `_WAYS` times as many
    ways, which bounds the time.
    """

    def __init__(
        self,
        before: TripleSource,
        holds: Callable[[Triple], bool],
        is_inferred: Callable[[Triple], bool],
        most: int | None = None,
    ) -> None:
        self._before = before
        self._holds = holds
        self._is_inferred = is_inferred
        self._most = most
        self._drawn = 0
        self._found = 0

    def delta(self, asserted: Collection[Triple], retracted: Collection[Triple]) -> Delta:
        """The inferred triples to add and remove when the first are stated and the others no longer are.

        An inferred triple that is stated now is no longer an inference; one that is stated no longer becomes
        an inference if it still follows.
        """
        stated = frozenset(asserted)
        out = self._resting_on(frozenset(retracted) - stated, stated)
        added = TripleIndex()
        rules = Rules(Overlay(self._before, added, out))
        waiting = [triple for triple in stated if self._enter(triple, added, out, rules)]
        waiting += [t for t in out if rules.follows(t) and self._enter(t, added, out, rules)]
        self._follow(waiting, added, out, rules)
        returned = {t for t in added.triples if t in out and t not in retracted}
        lost = {t for t in out if t not in retracted and t not in added}
        lost |= {triple for triple in stated if self._is_inferred(triple)}
        return Delta(frozenset(added.triples - stated - returned), frozenset(lost))

    def missing(self, triples: Iterable[Triple]) -> set[Triple]:
        """What follows from these triples, together with all others, and is not in the graph yet."""
        added = TripleIndex()
        self._follow(list(triples), added, frozenset(), Rules(Overlay(self._before, added)))
        return added.triples

    def _resting_on(self, retracted: frozenset[Triple], stated: frozenset[Triple]) -> frozenset[Triple]:
        """The removed triples, with every inferred triple that some derivation from them leads to."""
        out, waiting = set(retracted), list(retracted)
        rules = Rules(self._before)
        while waiting:
            triple = waiting.pop()
            for conclusion in self._conclusions(rules, triple):
                if conclusion not in out and conclusion not in stated and self._is_inferred(conclusion):
                    out.add(conclusion)
                    self._count_conclusion()
                    if not rules.settles(triple, conclusion):
                        waiting.append(conclusion)
        return frozenset(out)

    def _follow(
        self, waiting: list[Triple], added: TripleIndex, out: frozenset[Triple], rules: Rules
    ) -> None:
        while waiting:
            triple = waiting.pop()
            for conclusion in self._conclusions(rules, triple):
                new = self._enter(conclusion, added, out, rules)
                if new:
                    self._count_conclusion()
                if new and not rules.settles(triple, conclusion):
                    waiting.append(conclusion)

    def _enter(self, triple: Triple, added: TripleIndex, out: frozenset[Triple], rules: Rules) -> bool:
        """Add a triple to the graph after the change; whether it is new."""
        if triple in added or (triple not in out and self._holds(triple)):
            return False
        added.add(triple)
        if is_axiom(triple):
            rules.forget()
        return True

    def _conclusions(self, rules: Rules, triple: Triple) -> list[Triple]:
        # A list, since the caller adds to the graph that these are read from.
        found = []
        for conclusion in rules.conclusions(triple):
            self._drawn += 1
            if self._most is not None and self._drawn > self._most * _WAYS:
                raise InferenceTooLarge(self._most)
            found.append(conclusion)
        return found

    def _count_conclusion(self) -> None:
        self._found += 1
        if self._most is not None and self._found > self._most:
            raise InferenceTooLarge(self._most)
