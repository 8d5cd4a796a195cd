"""SHACL property paths (SHACL 2.3.1): walking them, inverting them, and finding what they use."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import rdflib
from pyoxigraph import Literal, NamedNode
from rdflib.collection import Collection
from rdflib.namespace import RDF, SH

from shapes.errors import ShapeMalformed
from shapes.time_limit import check_time
from sparql.model.source import Term, TripleSource


@dataclass(frozen=True)
class Step:
    """One predicate, forward or (`forward=False`) inverse. A None predicate means any."""

    predicate: NamedNode | None
    forward: bool = True


@dataclass(frozen=True)
class Sequence:
    """Paths one after the other; the empty sequence leads to its start."""

    parts: tuple["Path", ...] = ()


@dataclass(frozen=True)
class Alternative:
    """Any of the paths."""

    parts: tuple["Path", ...]


@dataclass(frozen=True)
class Repeat:
    """The path repeated: zero or more, one or more, zero or one times."""

    part: "Path"
    at_least_one: bool = False
    at_most_one: bool = False


Path = Step | Sequence | Alternative | Repeat
HERE = Sequence()


@dataclass(frozen=True)
class Effect:
    """Which changes of a triple can turn a verdict from good to bad."""

    added: bool
    removed: bool

    def __or__(self, other: "Effect") -> "Effect":
        return Effect(self.added or other.added, self.removed or other.removed)

    @property
    def opposite(self) -> "Effect":
        """The same for a verdict that is negated."""
        return Effect(self.removed, self.added)


ANY = Effect(True, True)
ADDED = Effect(True, False)
REMOVED = Effect(False, True)
NEITHER = Effect(False, False)


@dataclass(frozen=True)
class Dependency:
    """`step` at the end of `path`; with `path` None the triple may concern any focus node."""

    path: Path | None
    step: Step
    effect: Effect = ANY


def join(*paths: Path) -> Path:
    """One path after the other, flattened."""
    parts: list[Path] = []
    for path in paths:
        parts.extend(path.parts if isinstance(path, Sequence) else (path,))
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def invert(path: Path) -> Path:
    """The path from its end to its start."""
    match path:
        case Step():
            return Step(path.predicate, not path.forward)
        case Sequence():
            return Sequence(tuple(invert(part) for part in reversed(path.parts)))
        case Alternative():
            return Alternative(tuple(invert(part) for part in path.parts))
        case Repeat():
            return Repeat(invert(path.part), path.at_least_one, path.at_most_one)


def walk(source: TripleSource, start: Term, path: Path) -> set[Term]:
    """The nodes at the end of the path."""
    match path:
        case Step():
            if not path.forward:
                return {triple.subject for triple in source.match(None, path.predicate, start)}
            if isinstance(start, Literal):
                return set()
            return {triple.object for triple in source.match(start, path.predicate, None)}
        case Sequence():
            reached = {start}
            for part in path.parts:
                reached = _from_each(source, reached, part)
            return reached
        case Alternative():
            return {end for part in path.parts for end in walk(source, start, part)}
        case Repeat():
            return _repeat(source, start, path)


def _from_each(source: TripleSource, nodes: Iterable[Term], path: Path) -> set[Term]:
    reached: set[Term] = set()
    for node in nodes:
        check_time()
        reached |= walk(source, node, path)
    return reached


def _repeat(source: TripleSource, start: Term, path: Repeat) -> set[Term]:
    reached: set[Term] = set() if path.at_least_one else {start}
    frontier = {start}
    while frontier:
        following = _from_each(source, frontier, path.part)
        frontier = set() if path.at_most_one else following - reached
        reached |= following
    return reached


def uses(path: Path) -> Iterator[tuple[Path, Step]]:
    """Every step of the path, with the path that leads to it from the start."""
    match path:
        case Step():
            yield HERE, path
        case Sequence():
            for index, part in enumerate(path.parts):
                for prefix, step in uses(part):
                    yield join(*path.parts[:index], prefix), step
        case Alternative():
            for part in path.parts:
                yield from uses(part)
        case Repeat():
            again = HERE if path.at_most_one else Repeat(path.part)
            for prefix, step in uses(path.part):
                yield join(again, prefix), step


def parse_path(graph: rdflib.Graph, node: rdflib.term.Node, above: tuple[rdflib.term.Node, ...] = ()) -> Path:
    """The path that a node of the shapes graph describes, within those `above`. Raises `ShapeMalformed`."""
    if isinstance(node, rdflib.URIRef):
        return Step(NamedNode(str(node)))
    if node in above or len(above) > _DEEPEST:
        raise ShapeMalformed(str(node), "its sh:path contains itself, or nests too deep")
    within = (*above, node)
    if (node, RDF.first, None) in graph:
        return Sequence(_parts(graph, node, within))
    alternatives = graph.value(node, SH.alternativePath)
    if alternatives is not None:
        return Alternative(_parts(graph, alternatives, within))
    for predicate, build in _FORMS.items():
        inner = graph.value(node, predicate)
        if inner is not None:
            return build(parse_path(graph, inner, within))
    raise ShapeMalformed(str(node), "its sh:path is neither an IRI, a list nor a path expression")


def _parts(
    graph: rdflib.Graph, node: rdflib.term.Node, above: tuple[rdflib.term.Node, ...]
) -> tuple[Path, ...]:
    try:
        members = list(Collection(graph, node))
    except ValueError as error:
        raise ShapeMalformed(str(node), f"a list of its sh:path does not end: {error}") from error
    return tuple(parse_path(graph, part, above) for part in members)


_DEEPEST = 30
"""Path expressions in one another."""
_FORMS: dict[rdflib.URIRef, Callable[[Path], Path]] = {
    SH.inversePath: lambda path: invert(path),
    SH.zeroOrMorePath: Repeat,
    SH.oneOrMorePath: lambda path: Repeat(path, at_least_one=True),
    SH.zeroOrOnePath: lambda path: Repeat(path, at_most_one=True),
}


def text(path: Path) -> str:
    """The path as text: the IRI of a plain predicate, else SPARQL's path syntax."""
    match path:
        case Step():
            return ("" if path.forward else "^") + (path.predicate.value if path.predicate else "*")
        case Sequence():
            return "/".join(text(part) for part in path.parts)
        case Alternative():
            return "(" + "|".join(text(part) for part in path.parts) + ")"
        case Repeat():
            mark = "+" if path.at_least_one else "?" if path.at_most_one else "*"
            return f"({text(path.part)}){mark}"


def sparql_text(path: Path) -> str:
    """The path in SPARQL 1.1's property path syntax (9.1)."""
    match path:
        case Step():
            name = "!<>" if path.predicate is None else f"<{path.predicate.value}>"
            return name if path.forward else f"^{name}"
        case Sequence():
            return "(" + "/".join(sparql_text(part) for part in path.parts) + ")"
        case Alternative():
            return "(" + "|".join(sparql_text(part) for part in path.parts) + ")"
        case Repeat():
            mark = "+" if path.at_least_one else "?" if path.at_most_one else "*"
            return f"({sparql_text(path.part)}){mark}"
