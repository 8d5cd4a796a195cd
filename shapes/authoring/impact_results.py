"""What an edit is compared with, how far, and what the comparison finds."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import rdflib
from pyoxigraph import NamedNode, Triple
from rdflib.namespace import RDF, SH

from ontology import Schema
from shapes.authoring.term_changes import OfferedRewrite, TermUse
from shapes.gate.gate import ShapesGate
from shapes.loading import ShapesFiles
from shapes.model import CustomComponent, custom_components
from sparql.model.change import Violation
from sparql.model.source import Term
from sparql.provenance.records import Support

_FOLLOWED = frozenset(
    (
        SH.property, SH.node, SH["not"], SH.qualifiedValueShape, SH["and"], SH["or"], SH.xone, SH.sparql,
        SH.prefixes, SH.declare, SH.path, RDF.first, RDF.rest, SH.parameter, SH.validator, SH.nodeValidator,
        SH.propertyValidator,
    )
)  # fmt: skip
"""Besides blank nodes, only the values of these belong to a shape."""


def shape_digests(graph: rdflib.Graph, shapes: Iterable[rdflib.term.Node]) -> dict[rdflib.term.Node, str]:
    """A digest over each shape, its messages, the shapes it refers to, and the components it uses."""
    digester = _Digester(graph)
    return {shape: digester.digest(shape, frozenset()) for shape in shapes}


class _Digester:
    def __init__(self, graph: rdflib.Graph) -> None:
        self._graph = graph
        self._components = custom_components(graph)
        self._of_components: dict[CustomComponent, str] = {}

    def digest(self, node: rdflib.term.Node, above: frozenset[rdflib.term.Node]) -> str:
        if node in above:
            return "circle"
        inside = above | {node}
        said = []
        for predicate, value in self._graph.predicate_objects(node):
            part = value.n3() if not isinstance(value, rdflib.BNode) else ""
            if isinstance(value, rdflib.BNode) or (
                isinstance(value, rdflib.URIRef) and predicate in _FOLLOWED
            ):
                part += self.digest(value, inside)
            said.append(f"{predicate} {part}")
        said += [self._component(one) for one in self._components if one.applies_to(self._graph, node)]
        return hashlib.sha256("\n".join(sorted(said)).encode()).hexdigest()

    def _component(self, component: CustomComponent) -> str:
        """What a constraint component says: a shape that uses it judges by its validators."""
        known = self._of_components.get(component)
        if known is None:
            # A component that uses itself ends here.
            self._of_components[component] = "circle"
            known = self._of_components[component] = self.digest(component.node, frozenset())
        return f"component {known}"


@dataclass(frozen=True)
class Bounds:
    """How much of a large graph is examined."""

    tested: int = 40_000
    """Targets tested per shape, the first by name; the result says that it is partial."""
    judged: int = 2_000
    """Nodes judged in full per shape; others that may fail are counted as suspects."""
    touched: int = 5_000
    """A class axiom that concerns more instances is not followed to each of them."""
    many: int = 500
    """For more nodes than this, everything that a shape reads is read at once."""


BOUNDS = Bounds()


@dataclass(frozen=True)
class ComparedRules:
    """One side of the comparison."""

    schema: Schema
    files: ShapesFiles
    gate: ShapesGate

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """A digest of each shape, by name."""
        graph = self.files.graph
        shapes = self.gate.pairs.shapes
        digests = shape_digests(graph, {shape.node for shape in shapes.values()})
        return {name: digests[shape.node] for name, shape in shapes.items()}


@dataclass(frozen=True)
class ShapeImpact:
    """One shape: how it changed, and what that affects.

    `failing` are new violations, `fixed` those that disappear. Of the `targets`, `tested` were tested;
    `suspects` of them may fail, and `judged` of these were run in full. Where that is not all, the counts
    cover only the judged nodes, and the graph holds more.
    """

    name: str
    change: str
    targets: int
    tested: int
    suspects: int
    judged: int
    failing: tuple[Violation, ...]
    fixed: tuple[Violation, ...]

    @property
    def is_exact(self) -> bool:
        """Whether all targets were tested, and all that may fail were run in full."""
        return self.tested == self.targets and self.judged == self.suspects


class QueuedStatement(Protocol):
    """A statement of the review queue: what the gate refused, with its violations."""

    @property
    def iri(self) -> NamedNode: ...

    @property
    def triple(self) -> Triple: ...

    @property
    def violations(self) -> Sequence[Violation]: ...

    @property
    def support(self) -> Support: ...

    @property
    def accepted(self) -> bool: ...

    @property
    def document(self) -> NamedNode | None: ...

    @property
    def source(self) -> str | None: ...

    @property
    def created(self) -> str: ...


@dataclass(frozen=True)
class Inference:
    """A conclusion that the edit adds or removes, and how many statements lead to it."""

    conclusion: str
    added: bool
    statements: int
    examples: tuple[Term, ...]


@dataclass(frozen=True)
class Impact:
    """All that an edit would change. `waiting` counts the open items of the review queue."""

    shapes: tuple[ShapeImpact, ...]
    passing: tuple[QueuedStatement, ...]
    waiting: int
    inferences: tuple[Inference, ...]
    terms: tuple[TermUse, ...] = ()
    """Terms that it removes or deprecates, and that the graph uses."""
    rewrites: tuple[OfferedRewrite, ...] = ()
    """What statements may use instead, and what they use again where the edit returns to a version."""
    notes: tuple[str, ...] = ()
    """What was not examined, and how to do so."""

    @property
    def failing(self) -> tuple[Violation, ...]:
        """Every violation that would be new."""
        return tuple(violation for shape in self.shapes for violation in shape.failing)
