"""Spatial joins from the kept relations: which pairs a function is true of is stated in the graph already.

The relations are read as plain statements of the graph of derived ones. Where one side of the join has few
solutions it is asked first; else each part of the query is asked as a whole and they are joined by hashing,
which a sub-select makes the engine do: one lookup for each solution costs it ten times as much as a scan.
No relation is kept of a feature to itself, so for functions that are true of equals the features that both
sides may be, where there are any, are asked for beside the pairs, with the function itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyoxigraph import BlankNode, Variable

from sparql.model.vocabulary import DERIVED, GEO
from sparql.rewriting.ast import building as b
from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.replacing import Elements
from sparql.rewriting.index.features import FeatureMap
from sparql.rewriting.spatial.basic_patterns import part_of
from sparql.rewriting.spatial.feature_rows import class_patterns, times_of
from sparql.rewriting.spatial.geometry_paths import GeometryPath

_ALL: Final = ("ec", "po", "eq", "tpp", "ntpp", "tppi", "ntppi")


@dataclass(frozen=True)
class Kept:
    """The relations that a function can be true of; `exact`: of each of them. Equals may be one feature."""

    relations: tuple[str, ...]
    exact: bool = False

    @property
    def reflexive(self) -> bool:
        """Whether it may be true of a feature and itself."""
        return "eq" in self.relations


KEPT: Final[dict[str, Kept]] = {
    "sfEquals": Kept(("eq",), exact=True),
    "sfIntersects": Kept(_ALL, exact=True),
    "sfTouches": Kept(("ec",), exact=True),
    "sfWithin": Kept(("ntpp", "tpp", "eq"), exact=True),
    "sfContains": Kept(("ntppi", "tppi", "eq"), exact=True),
    "sfCrosses": Kept(("po",)),
    "sfOverlaps": Kept(("po",)),
    "ehMeet": Kept(("ec",), exact=True),
    **{f"rcc8{name}": Kept((name,)) for name in _ALL},
}
"""By local name. The matrices of rcc8* ask for more than the classes (`rcc8`): they are asked again."""

Selective = Callable[[Sequence[n.TriplePattern]], bool]


@dataclass(frozen=True)
class RelatedPlan:
    """The patterns in place of the basic graph pattern's; `exact` where the filter is not needed any more."""

    pattern: n.Group
    exact: bool
    what: str


@dataclass(frozen=True)
class _Side:
    """One side of the join: its geometry path, its patterns, and those of them that must still be asked."""

    geometry_path: GeometryPath
    asked: tuple[n.TriplePattern, ...]
    implied: tuple[n.TriplePattern, ...]


def related_plan(
    function: str,
    condition: n.Expression,
    geometry_paths: tuple[GeometryPath, GeometryPath],
    features: FeatureMap,
    needed: Callable[[str, Collection[n.TriplePattern]], bool],
    selective: Selective,
    fresh: Callable[[], str | None],
) -> RelatedPlan | str:
    """A join over the kept relations, or why there is none.

    `condition` is the filter's; `needed` says whether a variable is used outside these patterns,
    `fresh` gives new ones, or none.
    """
    kept = KEPT.get(function)
    if kept is None:
        return f"geof:{function} is not answered from the kept relations"
    bgp = geometry_paths[0].binding.bgp
    parts = [part_of(bgp, (geometry_path.feature,)) for geometry_path in geometry_paths]
    if any(triple in parts[1] for triple in parts[0]):
        return "other patterns join its two sides already"
    once = all(
        geometry_path.solutions(form) == 1 for geometry_path in geometry_paths for form in features.forms()
    )
    sides: list[_Side] = []
    for geometry_path, part in zip(geometry_paths, parts, strict=True):
        names = {name for triple in geometry_path.triples for name in triple.variables} - {
            geometry_path.feature
        }
        implied = once and kept.exact and not any(needed(name, geometry_path.triples) for name in names)
        named = _without_blank_nodes(part, fresh) if kept.reflexive else part
        if named is None:
            return "its blank nodes would show up in SELECT *"
        is_implied = [implied and triple in geometry_path.triples for triple in part]
        pairs = list(zip(named, is_implied, strict=True))
        sides.append(
            _Side(
                geometry_path,
                tuple(triple for triple, drop in pairs if not drop),
                tuple(triple for triple, drop in pairs if drop),
            )
        )
    rest = [one for one in bgp.triples if one not in parts[0] and one not in parts[1]]
    first, second = sides
    few = [bool(side.asked) and selective(side.asked) for side in sides]
    ordered = [second, first] if few == [False, True] else sides
    left, right = (Variable(geometry_path.feature) for geometry_path in geometry_paths)
    stated = (b.triple(left, GEO.term(f"rcc8{one}"), right) for one in kept.relations)
    related = b.union(*(b.group(b.graph(DERIVED, one)) for one in stated))
    elements = _joined(ordered, related, lateral=any(few))
    if kept.reflexive and _may_be_one(geometry_paths, features):
        itself = _itself(first, second, condition, lateral=any(few))
        elements = (b.union(b.group(*elements), b.group(*itself)),)
    if rest:
        elements = (b.in_braces(*elements), b.statement(*rest))
    how = "beginning with the side that has few solutions" if any(few) else "all at once"
    return RelatedPlan(
        b.group(*elements),
        kept.exact,
        f"pairs of {left} and {right} from the kept relations {', '.join(kept.relations)}, {how}",
    )


def _may_be_one(geometry_paths: tuple[GeometryPath, GeometryPath], features: FeatureMap) -> bool:
    """Whether any feature may be on both sides; classes that no feature has together rule it out."""
    left, right = (times_of(geometry_path, class_patterns(geometry_path)) for geometry_path in geometry_paths)
    return any(left(form) and right(form) for form in features.forms())


def _without_blank_nodes(
    part: Sequence[n.TriplePattern], fresh: Callable[[], str | None]
) -> list[n.TriplePattern] | None:
    """The patterns with variables in place of blank nodes, so that they can be written twice."""
    names: dict[n.Term, str] = {}
    for term in (term for triple in part for term in (triple.subject, triple.object)):
        if isinstance(term, BlankNode) and term not in names:
            name = fresh()
            if name is None:
                return None
            names[term] = name
    return [_renamed(triple, names) for triple in part] if names else list(part)


def _joined(ordered: Sequence[_Side], related: n.Element, *, lateral: bool) -> Elements:
    if lateral:
        return _one_by_one(_asked(ordered[0].asked), (related,), _asked(ordered[1].asked))
    features = b.select([side.geometry_path.feature for side in ordered], b.group(related))
    return (b.in_braces(features), *(_scanned(side.asked) for side in ordered if side.asked))


def _itself(first: _Side, second: _Side, condition: n.Expression, *, lateral: bool) -> Elements:
    """The features that are on both sides, as far as the function is true of them and themselves."""
    one, other = first.geometry_path.feature, second.geometry_path.feature
    names: dict[n.Term, str] = {Variable(other): one}
    implied = _asked([*first.implied, *(_renamed(triple, names) for triple in second.implied)])
    sides = [first.asked, tuple(_renamed(triple, names) for triple in second.asked)]
    if lateral:
        found = _one_by_one(*map(_asked, sides), implied)
    else:
        scanned = tuple(_scanned(triples) for triples in sides if triples)
        found = _one_by_one(scanned, implied) if implied else scanned
    return (*found, b.filtered(condition), b.bound(b.use(one), other))


def _one_by_one(*parts: Elements) -> Elements:
    """Parts that are each evaluated for every solution of those before it."""
    first, *others = (part for part in parts if part)
    return (b.in_braces(*first), *(b.lateral(*part) for part in others))


def _scanned(triples: Sequence[n.TriplePattern]) -> n.Element:
    names = dict.fromkeys(name for triple in triples for name in triple.variables)
    return b.in_braces(b.select(names, b.group(*_asked(triples))))


def _asked(triples: Sequence[n.TriplePattern]) -> Elements:
    return (b.statement(*triples),) if triples else ()


def _renamed(triple: n.TriplePattern, names: Mapping[n.Term, str]) -> n.TriplePattern:
    """The pattern with new variables for some terms."""

    def term(one: n.Term) -> n.Term:
        return Variable(names[one]) if one in names else one

    verb = triple.verb
    if isinstance(verb, Variable) and verb in names:
        verb = Variable(names[verb])
    return n.TriplePattern(term(triple.subject), verb, term(triple.object))
