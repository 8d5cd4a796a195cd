"""The change of the inferences that follows from a change of the graph: delete, rederive, insert.

Everything derived from a removed triple is deleted first, whatever else supports it; then what still follows
from the rest is added back (Gupta, Mumick, Subrahmanian: Maintaining Views Incrementally, SIGMOD 1993,
section 7: DRed). Counting derivations instead would let statements of a cycle support each other. Additions
are followed forwards, each new triple joined once with all existing ones (semi-naive evaluation).

Rules of shapes (`sh:rule`) take part in the same chase. One may conclude less when more is stated (it asks
for what is absent). So it is run when nothing else waits, in the order of its rank, and drawn again when
something that it depends on changes.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from heapq import heappop, heappush
from itertools import count
from types import TracebackType
from typing import IO, Protocol

from pyoxigraph import Literal, Triple

from sparql.inference.rules import Rules
from sparql.model.change import Delta
from sparql.model.errors import InferenceTooLarge, RuleUnsettled, RuleWithoutEnd
from sparql.model.source import Overlay, Term, TripleIndex, TripleSource

PORTION = 20_000
"""The number of conclusions between two writes to the graph, where all is inferred."""
_ROUNDS = 20
"""How often a change is worked out anew when rules no longer conclude something."""
_WAYS = 50
"""In how many ways a conclusion may follow on average; in a chain of n transitive steps it is n/3."""
Pair = tuple[str, Term]
"""A rule, by its name, and a focus node."""
_GENERATIONS = 100
"""How many times in a row a rule may make values from values that rules have made."""


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


class DerivationRules(Protocol):
    """Rules over any source. `version` changes with what they say."""

    version: str

    @property
    def all_grow(self) -> bool:
        """Whether more statements never lead to fewer conclusions of any rule."""

    def affected(self, triple: Triple, source: TripleSource) -> Iterable[Pair]:
        """The pairs whose conclusions may depend on a triple of the source."""

    def everything(self, source: TripleSource) -> Iterable[Pair]:
        """All pairs."""

    def candidates(self, triple: Triple, source: TripleSource) -> Iterable[Pair]:
        """The pairs that may conclude a triple."""

    def conclusions(self, pair: Pair, source: TripleSource) -> frozenset[Triple]:
        """What a pair concludes; nothing where the node is no target of the rule."""

    def rank(self, name: str) -> tuple[float, bool, str]:
        """Where a rule comes in the order."""

    def only_grows(self, name: str) -> bool:
        """Whether more statements never lead to fewer conclusions of a rule."""


class RuleRun:
    """The pairs that are to be drawn in one chase, from the graph `before` it to the one `after` it.

    `unsound` are inferences of the graph before that rules no longer draw, though nothing was taken out that
    they rest on, and `shrinking` is one of these rules.
    """

    def __init__(
        self,
        rules: DerivationRules,
        before: TripleSource | None,
        after: TripleSource,
        is_inferred: Callable[[Triple], bool],
    ) -> None:
        self.unsound: set[Triple] = set()
        self.shrinking = ""
        self._rules = rules
        self._before = before
        self._after = after
        self._is_inferred = is_inferred
        self._waiting: list[tuple[tuple[float, bool, str], int, Pair]] = []
        self._queued: set[Pair] = set()
        self._number = count()
        self._drawn: dict[Pair, frozenset[Triple]] = {}
        self._generation: dict[Term, int] = {}
        self._turns: dict[Pair, int] = {}

    def add(self, pairs: Iterable[Pair]) -> None:
        """Draw these pairs, each once."""
        for pair in pairs:
            if pair not in self._queued:
                self._queued.add(pair)
                heappush(self._waiting, (self._rules.rank(pair[0]), next(self._number), pair))

    def note(self, triple: Triple) -> None:
        """Draw what may depend on a new triple."""
        self.add(self._rules.affected(triple, self._after))

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def draw(self) -> frozenset[Triple]:
        """What the next pair concludes, but for what it concluded before.

        Raises `RuleUnsettled` and `RuleWithoutEnd`.
        """
        _, _, pair = heappop(self._waiting)
        self._queued.discard(pair)
        found = self._rules.conclusions(pair, self._after)
        known = self._drawn.get(pair)
        if known is not None and not known <= found:
            raise RuleUnsettled(pair[0])
        if known is None and self._before is not None and not self._rules.only_grows(pair[0]):
            former = self._rules.conclusions(pair, self._before)
            unsound = {triple for triple in former - found if self._is_inferred(triple)}
            if unsound:
                self.unsound |= unsound
                self.shrinking = pair[0]
        self._drawn[pair] = found
        new = found - (known or frozenset())
        self._count_generations(pair, new)
        return new

    def _count_generations(self, pair: Pair, triples: Iterable[Triple]) -> None:
        made = {term for triple in triples for term in (triple.subject, triple.object) if self._is_new(term)}
        if not made:
            return
        generation = 1 + max(self._generation.get(pair[1], 0), self._turns.get(pair, 0))
        if generation > _GENERATIONS:
            raise RuleWithoutEnd(pair[0], _GENERATIONS)
        self._turns[pair] = generation
        self._generation |= dict.fromkeys(made, generation)

    def _is_new(self, term: Term) -> bool:
        if isinstance(term, Triple) or term in self._generation:
            return False
        found = self._after.match(None, None, term)
        return next(found, None) is None and not self._is_subject(term)

    def _is_subject(self, term: Term) -> bool:
        return not isinstance(term, Literal) and next(self._after.match(term, None, None), None) is not None


class SpillingStack:
    """A stack with at most twice `size` triples in memory; the file is deleted on leaving the context."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._top: list[Triple] = []
        self._starts: list[int] = []
        self._file: IO[bytes] | None = None

    def append(self, triple: Triple) -> None:
        """Add a triple on top."""
        self._top.append(triple)
        if len(self._top) >= 2 * self._size:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="urbankg-inference-")  # noqa: SIM115
            self._starts.append(self._file.seek(0, 2))
            pickle.dump(self._top[: self._size], self._file)
            del self._top[: self._size]

    def pop(self) -> Triple:
        """Take the topmost triple."""
        if not self._top and self._file is not None:
            start = self._starts.pop()
            self._file.seek(start)
            self._top = pickle.load(self._file)
            self._file.truncate(start)
        return self._top.pop()

    def __bool__(self) -> bool:
        return bool(self._top or self._starts)

    def __enter__(self) -> SpillingStack:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
