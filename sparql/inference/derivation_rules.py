"""Rules besides those of OWL: each draws its conclusions from one focus node and what is around it.

A rule may conclude less when more is stated (it asks for what is absent). So it is run when nothing else
waits, in the order of its rank, and drawn again when something that it depends on changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import count
from typing import Protocol

from pyoxigraph import Literal, Triple

from sparql.model.errors import RuleUnsettled, RuleWithoutEnd
from sparql.model.source import Term, TripleSource

__all__ = ["DerivationRules", "Pair", "RuleRun"]

Pair = tuple[str, Term]
"""A rule, by its name, and a focus node."""
_GENERATIONS = 100
"""How many times in a row a rule may make values from values that rules have made."""


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
