"""A change to the graph, what became of it, and the interfaces of those who judge it."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol, Self

from pyoxigraph import BlankNode, NamedNode, Quad, Triple

from sparql.model.errors import TooMuchDepends
from sparql.model.graph_reading import QuadSource
from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import SH


class Origin(StrEnum):
    """Where a statement comes from; each origin but the asserted has a system graph of its own."""

    ASSERTED = "asserted"
    EXTRACTED = "extracted"


@dataclass(frozen=True)
class Statement:
    """One proposed triple of the default graph and how sure its source is of it (0 to 1)."""

    triple: Triple
    confidence: float | None = None
    _quad: Quad | None = field(default=None, init=False, compare=False, repr=False)

    @classmethod
    def of(cls, quad: Quad) -> Self:
        """The statement that a quad of the default graph makes."""
        statement = object.__new__(cls)
        statement.__dict__.update(triple=quad.triple, _quad=quad)
        return statement

    @property
    def quad(self) -> Quad:
        """The triple in the default graph; kept, since making it takes a while."""
        quad = self._quad
        if quad is None:
            quad = Quad(self.triple.subject, self.triple.predicate, self.triple.object)
            object.__setattr__(self, "_quad", quad)
        return quad


@dataclass(frozen=True)
class Violation:
    """Why a statement does not fit, in the words of SHACL's validation result (SHACL, 3.6.2)."""

    focus: Term
    message: str
    component: NamedNode
    shape: NamedNode | BlankNode | None = None
    path: str | None = None
    value: Term | None = None
    severity: NamedNode = SH.Violation

    @property
    def blocking(self) -> bool:
        """Whether it rejects; a warning accepts and queues, an information is only logged."""
        return self.severity == SH.Violation


@dataclass(frozen=True)
class Rejection:
    """A statement that was kept out, with every reason."""

    statement: Statement
    violations: tuple[Violation, ...]


@dataclass(frozen=True)
class Delta:
    """Triples of the default graph that come and go together."""

    additions: frozenset[Triple] = frozenset()
    removals: frozenset[Triple] = frozenset()


class Reach(StrEnum):
    """How far a gate goes after the nodes that depend on one statement (a hub)."""

    BOUNDED = "bounded"
    """To its fan-in; beyond that it needs a `BackgroundValidation`, or raises `TooMuchDepends`."""
    FULL = "full"
    """To all of them, up to a number that others can wait for; beyond that it raises `TooMuchDepends`."""
    UNLIMITED = "unlimited"


@dataclass(frozen=True)
class BackgroundValidation:
    """What was found beside other writes, of shapes by which very much depends on a change.

    `suspects` are by the shape's name those of all its targets that may newly fail with `additions`, which
    were looked at together.
    """

    additions: frozenset[Triple]
    suspects: Mapping[str, frozenset[Term]]


class Selection(NamedTuple):
    """What a gate says of a change. Of each of the `hubs` more was judged than its fan-in."""

    accepted: tuple[Statement, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    warnings: tuple[Rejection, ...] = ()
    hubs: frozenset[Triple] = frozenset()


@dataclass(frozen=True)
class Verdict:
    """What became of a change. `revision` is None when nothing was written.

    `derived` are relations of geometries, `inferred` what follows by the axioms, where that is kept.
    Statements on which very much depends are either `hubs`, and all that depends on them was judged, or the
    change is `held`, nothing of it is in the graph, and it will be judged beside other writes.
    """

    accepted: tuple[Statement, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    warnings: tuple[Rejection, ...] = ()
    derived: Delta = field(default_factory=Delta)
    inferred: Delta = field(default_factory=Delta)
    revision: int | None = None
    hubs: frozenset[Triple] = frozenset()
    held: TooMuchDepends | None = None

    @classmethod
    def of_stated(cls, accepted: tuple[Statement, ...], revision: int) -> Self:
        """The verdict on a change that only stated, of which nothing else is to be told."""
        # As `Change.stating`.
        verdict = object.__new__(cls)
        verdict.__dict__.update(accepted=accepted, derived=NOTHING, inferred=NOTHING, revision=revision)
        return verdict

    @property
    def conforms(self) -> bool:
        return not self.rejected


NOTHING = Delta()
Record = Callable[[Verdict], Iterable[Quad]]
"""Given the verdict, the system quads (provenance, review items) to commit, or remove, together with it."""


@dataclass(frozen=True)
class Change:
    """Everything that is to happen in one commit.

    `additions` and `removals` concern the default graph and are judged. `graph_additions` and
    `graph_removals` concern clients' named graphs, which are theirs and are not judged; these graphs
    may also come and go as such (`graphs_created`, `graphs_dropped`), which quads do not tell. With
    `partial`, the maximal conforming part is committed; otherwise it is all or nothing. `refused` are
    statements that were found wanting before the gate: they go straight to the record. `doubts` are
    warnings from before the gate, told of those statements that are accepted. `withdrawals` are triples
    that no text supports any longer: each goes unless another origin supports it. With `judged`, whoever
    built the change under the writer's lock has asked the gate already. `retract` gives the system quads
    to remove. With `dry_run` the verdict is given and nothing is written. `hold` gives the system quads that
    are written instead of everything else where more nodes depend on it than `reach` goes.
    """

    additions: tuple[Statement, ...] = ()
    removals: frozenset[Triple] = frozenset()
    withdrawals: frozenset[Triple] = frozenset()
    graph_additions: frozenset[Quad] = frozenset()
    graph_removals: frozenset[Quad] = frozenset()
    graphs_created: frozenset[NamedNode] = frozenset()
    graphs_dropped: frozenset[NamedNode] = frozenset()
    origin: Origin = Origin.ASSERTED
    source: str = ""
    """By which way it came ("update", "load" ...), for shapes that tell ways apart; if empty, its origin."""
    partial: bool = False
    dry_run: bool = False
    judged: bool = False
    refused: tuple[Rejection, ...] = ()
    doubts: tuple[Rejection, ...] = ()
    record: Record | None = None
    retract: Record | None = None
    reach: Reach = Reach.FULL
    validated: BackgroundValidation | None = None
    hold: Callable[[TooMuchDepends], Iterable[Quad]] | None = None

    @classmethod
    def stating(cls, additions: tuple[Statement, ...], *, partial: bool = False) -> Self:
        """A change that only states this."""
        # What the constructor makes in a tenth of its time: this is done for every update.
        change = object.__new__(cls)
        change.__dict__.update(additions=additions, partial=partial)
        return change

    @property
    def only_states(self) -> bool:
        """Whether it is nothing but statements that somebody made."""
        return self.origin is Origin.ASSERTED and not (
            self.removals
            or self.withdrawals
            or self.graph_additions
            or self.graph_removals
            or self.graphs_created
            or self.graphs_dropped
            or self.refused
            or self.doubts
            or self.dry_run
        )

    def recorded(self, record: Record, retract: Record, source: str) -> Self:
        """The same change with a record, as it came by this way."""
        # As `dataclasses.replace`, which takes twenty times as long: this is done for every update.
        change = object.__new__(type(self))
        change.__dict__.update(self.__dict__, record=record, retract=retract, source=source)
        return change


Derive = Callable[[Collection[Triple], Collection[Triple]], Delta]
"""From additions and removals to the derived triples that come and go with them."""


class Gate(Protocol):
    """Decides, statement by statement, what may enter the graph."""

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
        validated: BackgroundValidation | None = None,
    ) -> Selection:
        """Accepted, rejected and warned statements. Without `partial`, one violation rejects all.

        Raises `TooMuchDepends` where more depends on a statement than `reach` goes.
        """
        ...

    def concerns(self, additions: Collection[Triple]) -> bool:
        """Whether it may have anything to say of a change that adds these and nothing else."""
        ...


class Deriver(Protocol):
    """Keeps derived triples true: what geometry implies, for one."""

    def plan(
        self,
        before: TripleSource,
        derived: TripleSource,
        additions: Collection[Triple],
        removals: Collection[Triple],
    ) -> Delta:
        """The change of the derived triples, given the graph before and what is derived so far."""
        ...

    def catch_up(self, source: TripleSource, derived: TripleSource) -> Delta:
        """What is missing or too much among the derived triples of a graph that grew unseen."""
        ...

    def marked(self, store: QuadSource, *, whole: bool = False) -> tuple[list[Quad], list[Quad]]:
        """The quads of the state graph that come and go with the plan, or with all derived anew."""
        ...

    def derives_from(self, triple: Triple) -> bool:
        """Whether a change with this triple may change what is derived."""
        ...

    def undo(self) -> None:
        """Forget the plan; the graph did not change."""
        ...

    def keep(self) -> None:
        """The plan was committed."""
        ...

    def rebuild(self, source: TripleSource) -> None:
        """Read everything anew from the graph."""
        ...
