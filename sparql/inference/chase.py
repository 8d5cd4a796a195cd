"""The change of the inferences that follows from a change of the graph: delete, rederive, insert.

Everything derived from a removed triple is deleted first, whatever else supports it; then what still follows
from the rest is added back (Gupta, Mumick, Subrahmanian: Maintaining Views Incrementally, SIGMOD 1993,
section 7: DRed). Counting derivations instead would let statements of a cycle support each other. Additions
are followed forwards, each new triple joined once with all existing ones (semi-naive evaluation).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from pyoxigraph import Triple

from sparql.inference.derivation_rules import DerivationRules, RuleRun
from sparql.inference.rules import Rules
from sparql.inference.spilling import SpillingStack
from sparql.model.change import Delta
from sparql.model.errors import InferenceTooLarge, RuleUnsettled
from sparql.model.source import Overlay, TripleIndex, TripleSource

PORTION = 20_000
"""The number of conclusions between two writes to the graph, where all is inferred."""
_ROUNDS = 20
"""How often a change is worked out anew when rules no longer conclude something."""
_WAYS = 50
"""In how many ways a conclusion may follow on average; in a chain of n transitive steps it is n/3."""


class Chase:
    """One chase over a graph that does not change meanwhile.

    `before` holds what is stated and all that follows from it; `holds` says whether it has a triple, and
    `is_inferred` whether that is only inferred. If there are more than `most` different conclusions to add or
    to remove, none is drawn: InferenceTooLarge. So it is where they follow in more than `_WAYS` times as many
    ways, which bounds the time. `more` are rules besides those of OWL.
    """

    def __init__(
        self,
        before: TripleSource,
        holds: Callable[[Triple], bool],
        is_inferred: Callable[[Triple], bool],
        most: int | None = None,
        more: DerivationRules | None = None,
    ) -> None:
        self._before = before
        self._more = more
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
        unsound: frozenset[Triple] = frozenset()
        shrinking = ""
        for _ in range(_ROUNDS):
            self._drawn = self._found = 0
            gone = (frozenset(retracted) - stated) | unsound
            out = self._resting_on(gone, stated)
            added = TripleIndex()
            after = Overlay(self._before, added, out)
            rules = Rules(after)
            run = None
            if self._more is not None:
                run = RuleRun(self._more, self._before, after, self._is_inferred)
                for triple in out:
                    run.add(self._more.affected(triple, self._before))
                    run.add(self._more.candidates(triple, after))
            waiting = [triple for triple in stated if self._enter(triple, added, out, rules)]
            waiting += [t for t in out if rules.follows(t) and self._enter(t, added, out, rules)]
            self._follow(waiting, added, out, rules, run)
            if run is None or run.unsound <= out:
                break
            unsound |= run.unsound - out
            shrinking = run.shrinking
        else:
            raise RuleUnsettled(shrinking)
        returned = {t for t in added.triples if t in out and t not in retracted}
        lost = {t for t in out if t not in retracted and t not in added}
        lost |= {triple for triple in stated if self._is_inferred(triple)}
        return Delta(frozenset(added.triples - stated - returned), frozenset(lost))

    def complete(self, triples: Iterable[Triple], write: Callable[[set[Triple]], None]) -> None:
        """Draw what follows from these triples, together with all others, and is not in the graph yet.

        It is written in portions of `PORTION`, to the graph that is read; what is still to be followed
        waits in a file where it is more. So the memory needed does not grow with the number of conclusions.
        """
        added = TripleIndex()
        rules = Rules(Overlay(self._before, added))

        def write_added(least: int) -> None:
            if len(added) >= least:
                write(added.triples)
                added.clear()

        with SpillingStack(PORTION) as waiting:
            for triple in triples:
                waiting.append(triple)
                self._follow(waiting, added, frozenset(), rules, None, lambda: write_added(PORTION))
        write_added(1)

    def complete_rules(self, write: Callable[[set[Triple]], None]) -> None:
        """The same for the rules besides those of OWL, when what follows by these is in the graph.

        Raises `UnusableRule`.
        """
        assert self._more is not None, "without such rules there is nothing to draw"
        added = TripleIndex()
        after = Overlay(self._before, added)
        run = RuleRun(self._more, None, after, self._is_inferred)
        run.add(self._more.everything(after))
        self._follow([], added, frozenset(), Rules(after), run)
        write(added.triples)

    def _resting_on(self, retracted: frozenset[Triple], stated: frozenset[Triple]) -> frozenset[Triple]:
        """The removed triples, with every inferred triple that some derivation from them leads to."""
        out, waiting = set(retracted), list(retracted)
        rules = Rules(self._before)
        while waiting:
            triple = waiting.pop()
            for conclusion in self._counted(self._resting(rules, triple)):
                if conclusion not in out and conclusion not in stated and self._is_inferred(conclusion):
                    out.add(conclusion)
                    self._count_conclusion()
                    if self._more is not None or not rules.settles(triple, conclusion):
                        waiting.append(conclusion)
        return frozenset(out)

    def _follow(
        self,
        waiting: list[Triple] | SpillingStack,
        added: TripleIndex,
        out: frozenset[Triple],
        rules: Rules,
        run: RuleRun | None,
        on_new: Callable[[], None] = lambda: None,
    ) -> None:
        # Conclusions are added to the graph while it is read. What a reading misses of them is joined when
        # the conclusion itself is followed.
        while True:
            while waiting:
                triple = waiting.pop()
                if run is not None:
                    run.note(triple)
                for conclusion in self._counted(rules.conclusions(triple)):
                    if self._enter(conclusion, added, out, rules):
                        self._count_conclusion()
                        if run is not None or not rules.settles(triple, conclusion):
                            waiting.append(conclusion)
                        on_new()
            if not run:
                return
            for conclusion in self._counted(run.draw()):
                if self._enter(conclusion, added, out, rules):
                    self._count_conclusion()
                    waiting.append(conclusion)

    def _enter(self, triple: Triple, added: TripleIndex, out: frozenset[Triple], rules: Rules) -> bool:
        """Add a triple to the graph after the change; whether it is new."""
        if triple in added or (triple not in out and self._holds(triple)):
            return False
        added.add(triple)
        rules.notice(triple)
        return True

    def _resting(self, rules: Rules, triple: Triple) -> Iterator[Triple]:
        """What follows from a triple of the graph before, by all rules."""
        yield from rules.conclusions(triple)
        if self._more is not None:
            for pair in self._more.affected(triple, self._before):
                yield from self._more.conclusions(pair, self._before)

    def _counted(self, conclusions: Iterable[Triple]) -> Iterator[Triple]:
        for conclusion in conclusions:
            self._drawn += 1
            if self._most is not None and self._drawn > self._most * _WAYS:
                raise InferenceTooLarge(self._most)
            yield conclusion

    def _count_conclusion(self) -> None:
        self._found += 1
        if self._most is not None and self._found > self._most:
            raise InferenceTooLarge(self._most)
