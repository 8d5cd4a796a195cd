"""A change to the graph, its outcome, and the interfaces of the gate and the deriver."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple, Protocol, Self

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, Triple

from sparql.model.errors import ProtectedGraph
from sparql.model.source import QuadSource, Term, TripleSource
from sparql.model.vocabulary import ASSERTED, DEFAULT, DERIVED, EXTRACTED, ONTOLOGY, SH, SYSTEM_GRAPHS


class Origin(StrEnum):
    """Where a statement comes from; every origin except asserted has its own system graph."""

    ASSERTED = "asserted"
    EXTRACTED = "extracted"


@dataclass(frozen=True)
class Statement:
    """One proposed triple of the default graph, with the confidence of its source (0 to 1)."""

    triple: Triple
    confidence: float | None = None
    _quad: Quad | None = field(default=None, init=False, compare=False, repr=False)

    @classmethod
    def of(cls, quad: Quad) -> Self:
        """The statement made by a quad of the default graph."""
        statement = object.__new__(cls)
        statement.__dict__.update(triple=quad.triple, _quad=quad)
        return statement

    @property
    def quad(self) -> Quad:
        """The triple in the default graph; kept, since creating it is slow."""
        quad = self._quad
        if quad is None:
            quad = Quad(self.triple.subject, self.triple.predicate, self.triple.object)
            object.__setattr__(self, "_quad", quad)
        return quad


def choose_text(texts: Mapping[str, str], languages: Sequence[str]) -> str | None:
    """The text in the first of these languages that there is one in; None where there is none.

    A language is meant with its regions (RFC 4647, 3.3.1: "de" takes "de-AT"), and one with a region takes
    the same without it (3.4: "de-AT" takes "de"), before the next language.
    """
    by_tag = {tag.casefold(): texts[tag] for tag in sorted(texts)}
    for language in languages:
        wanted = language.casefold()
        while wanted:
            for tag, text in by_tag.items():
                if tag == wanted or tag.startswith(f"{wanted}-"):
                    return text
            wanted = wanted.rpartition("-")[0]
    return None


@dataclass(frozen=True)
class Violation:
    """Why a statement does not conform, in the terms of a SHACL validation result (SHACL, 3.6.2)."""

    focus: Term
    message: str
    component: NamedNode
    shape: NamedNode | BlankNode | None = None
    path: str | None = None
    value: Term | None = None
    severity: NamedNode = SH.Violation
    translations: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The message by language, where the shape has it in several; `message` is the one by setting."""

    @property
    def blocking(self) -> bool:
        """Whether it rejects; a warning accepts and queues, an information is only logged."""
        return self.severity == SH.Violation

    def in_language(self, languages: Sequence[str]) -> "Violation":
        """The same with the message in the first of these languages that there is one in."""
        if not self.translations or not languages:
            return self
        return replace(self, message=choose_text(self.translations, languages) or self.message)


@dataclass(frozen=True)
class Rejection:
    """A statement that was rejected, with every reason."""

    statement: Statement
    violations: tuple[Violation, ...]


@dataclass(frozen=True)
class Delta:
    """Triples of the default graph that are added and removed together."""

    additions: frozenset[Triple] = frozenset()
    removals: frozenset[Triple] = frozenset()


class Selection(NamedTuple):
    """The gate's decision on a change."""

    accepted: tuple[Statement, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    warnings: tuple[Rejection, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """The outcome of a change. `revision` is None when nothing was written.

    `derived` are relations of geometries, `inferred` the conclusions from axioms, where these are stored.
    `replaced` are the pairs of `Change.replaces` that took place.
    """

    accepted: tuple[Statement, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    warnings: tuple[Rejection, ...] = ()
    derived: Delta = field(default_factory=Delta)
    inferred: Delta = field(default_factory=Delta)
    revision: int | None = None
    replaced: frozenset[tuple[Triple, Triple]] = frozenset()

    @classmethod
    def of_stated(cls, accepted: tuple[Statement, ...], revision: int) -> Self:
        """The verdict on a change that only adds statements, with nothing else to report."""
        # As in `Change.stating`.
        verdict = object.__new__(cls)
        verdict.__dict__.update(accepted=accepted, derived=NOTHING, inferred=NOTHING, revision=revision)
        return verdict

    @property
    def conforms(self) -> bool:
        return not self.rejected


NOTHING = Delta()
Record = Callable[[Verdict], Iterable[Quad]]
"""Given the verdict, returns system quads (provenance, review items) to add or remove in the same commit."""


@dataclass(frozen=True)
class Change:
    """Everything that happens in one commit.

    `additions` and `removals` concern the default graph and are judged. `graph_additions` and
    `graph_removals` concern clients' named graphs and are not judged; the graphs themselves may also be
    created and dropped (`graphs_created`, `graphs_dropped`). With `partial`, the maximal conforming part is
    committed, otherwise all or nothing. `refused` are statements rejected before the gate: they are only
    recorded. `doubts` are warnings from before the gate, reported for accepted statements. `withdrawals` are
    triples that no text supports any longer: each is removed unless another origin supports it. `judged`
    means that the caller, under the writer's lock, has already consulted the gate. `retract` gives the system
    quads to remove. With `dry_run` there is a verdict and nothing is written.
    `replaces` are pairs of an addition and a triple that is removed if the addition is accepted.
    """

    additions: tuple[Statement, ...] = ()
    removals: frozenset[Triple] = frozenset()
    replaces: frozenset[tuple[Triple, Triple]] = frozenset()
    withdrawals: frozenset[Triple] = frozenset()
    graph_additions: frozenset[Quad] = frozenset()
    graph_removals: frozenset[Quad] = frozenset()
    graphs_created: frozenset[NamedNode] = frozenset()
    graphs_dropped: frozenset[NamedNode] = frozenset()
    origin: Origin = Origin.ASSERTED
    source: str = ""
    """Its route ("update", "load" ...), for shapes that distinguish routes; if empty, its origin."""
    partial: bool = False
    dry_run: bool = False
    judged: bool = False
    refused: tuple[Rejection, ...] = ()
    doubts: tuple[Rejection, ...] = ()
    record: Record | None = None
    retract: Record | None = None

    @classmethod
    def stating(cls, additions: tuple[Statement, ...], *, partial: bool = False) -> Self:
        """A change that only adds these statements."""
        # Does what the constructor does, in a tenth of the time: every update calls it.
        change = object.__new__(cls)
        change.__dict__.update(additions=additions, partial=partial)
        return change

    @property
    def only_states(self) -> bool:
        """Whether it only adds asserted statements."""
        return self.origin is Origin.ASSERTED and not (
            self.removals
            or self.replaces
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
        """The same change with a record and its route."""
        # Does what `dataclasses.replace` does, twenty times faster: every update calls it.
        change = object.__new__(type(self))
        change.__dict__.update(self.__dict__, record=record, retract=retract, source=source)
        return change


Derive = Callable[[Collection[Triple], Collection[Triple]], Delta]
"""Maps additions and removals to the derived triples that they add and remove."""


class Gate(Protocol):
    """Decides, statement by statement, what is accepted."""

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
        """Accepted, rejected and warned statements. Without `partial`, one violation rejects all.

        Raises `JudgingTimeout`.
        """
        ...

    def concerns(self, additions: Collection[Triple]) -> bool:
        """Whether it may object to a change that only adds these."""
        ...


class Deriver(Protocol):
    """Keeps derived triples up to date, for example relations of geometries."""

    def plan(
        self,
        before: TripleSource,
        derived: TripleSource,
        additions: Collection[Triple],
        removals: Collection[Triple],
    ) -> Delta:
        """The change of the derived triples, given the graph before and the triples derived so far."""
        ...

    def catch_up(self, source: TripleSource, derived: TripleSource) -> Delta:
        """How the derived triples differ from what the graph implies, after untracked growth."""
        ...

    def marked(self, store: QuadSource, *, whole: bool = False) -> tuple[list[Quad], list[Quad]]:
        """The state quads to add and remove with the plan, or when everything is derived again."""
        ...

    def derives_from(self, triple: Triple) -> bool:
        """Whether this triple may affect derived triples."""
        ...

    def undo(self) -> None:
        """Discard the plan; the graph did not change."""
        ...

    def keep(self) -> None:
        """The plan was committed."""
        ...

    def rebuild(self, source: TripleSource) -> None:
        """Read everything again from the graph."""
        ...


# The support of a triple: each origin has its own graph, and a triple stays while any of them holds it.
_ORIGINS = (ASSERTED, EXTRACTED, DERIVED, ONTOLOGY)


class View(Protocol):
    """The graph as it is, or as the pending changes of a group leave it."""

    def contains(self, quad: Quad) -> bool: ...


def quad_of(triple: Triple, graph: NamedNode | DefaultGraph) -> Quad:
    """The triple in a graph."""
    if graph == DEFAULT:
        # The same quad, created in a quarter of the time.
        return Quad(triple.subject, triple.predicate, triple.object)
    return Quad(triple.subject, triple.predicate, triple.object, graph)


def only_asserted(view: View, triple: Triple, origins: Collection[NamedNode]) -> bool:
    """Whether the graph holds it and no graph of these origins does: then it was asserted."""
    return view.contains(quad_of(triple, DEFAULT)) and not any(
        view.contains(quad_of(triple, graph)) for graph in origins
    )


def is_supported(view: View, triple: Triple, *, besides: NamedNode) -> bool:
    """Whether another origin states or derives it."""
    return any(view.contains(quad_of(triple, graph)) for graph in _ORIGINS if graph != besides)


def withdrawn(change: Change) -> frozenset[Triple]:
    """The triples that no text supports any longer, except those that the change itself states."""
    return change.withdrawals - {statement.triple for statement in change.additions}


def unsupported(view: View, change: Change) -> frozenset[Triple]:
    """The withdrawn triples that only texts supported: they are removed from the graph."""
    return frozenset(
        triple
        for triple in withdrawn(change)
        if view.contains(quad_of(triple, EXTRACTED)) and not is_supported(view, triple, besides=EXTRACTED)
    )


def withdrawn_quads(view: View, change: Change, derived: Delta) -> Iterator[Quad]:
    """The quads to remove for withdrawn triples that another origin supports too."""
    for triple in withdrawn(change):
        if not view.contains(quad_of(triple, EXTRACTED)):
            continue
        yield quad_of(triple, EXTRACTED)
        asserted = view.contains(quad_of(triple, ASSERTED))
        explained = view.contains(quad_of(triple, ONTOLOGY)) or (
            view.contains(quad_of(triple, DERIVED)) and triple not in derived.removals
        )
        if asserted and not explained:
            yield quad_of(triple, ASSERTED)
        elif not asserted and not explained:
            yield quad_of(triple, DEFAULT)


def refuse_system_graphs(change: Change) -> None:
    """Raise `ProtectedGraph` where a client's change affects system graphs."""
    for quad in (*change.graph_additions, *change.graph_removals):
        if quad.graph_name in SYSTEM_GRAPHS:
            raise ProtectedGraph(quad.graph_name)
    for graph in (*change.graphs_created, *change.graphs_dropped):
        if graph in SYSTEM_GRAPHS:
            raise ProtectedGraph(graph)
