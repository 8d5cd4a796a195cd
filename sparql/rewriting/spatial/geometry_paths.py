"""How a query comes from a feature to the literal of its geometry: patterns that a candidate can replace."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pyoxigraph import BlankNode, NamedNode, Variable

from sparql.rewriting.ast import nodes as n
from sparql.rewriting.index.features import Form
from sparql.rewriting.index.notes import LINKS
from sparql.rewriting.spatial.basic_patterns import Binding


@dataclass(frozen=True)
class GeometryPath:
    """The patterns `triples` that lead from `feature` by `links`, maybe over `node`, to the literal.

    `links` and `serializations` are alternatives. Names are those of variables; a node without one is None.
    """

    binding: Binding
    feature: str
    node: str | None
    links: tuple[NamedNode, ...]
    serializations: tuple[NamedNode, ...]
    triples: tuple[n.TriplePattern, ...]

    def solutions(self, form: Form) -> int:
        """How many solutions the patterns have for a feature that has its geometry so."""
        links, serializations = Counter(self.links), Counter(self.serializations)
        return sum(links[one] for one in form.links) * serializations[form.serialization]


def geometry_path_of(binding: Binding) -> GeometryPath | None:
    """The geometry path of a binding; None where its patterns are others."""
    triple, verb = binding.triple, binding.triple.verb
    if isinstance(verb, Variable):
        return None
    if binding.through_path:
        steps = _steps(verb)
        links, serializations = (_alternatives(one) for one in steps) if len(steps) == 2 else (None, None)
        subject, node = triple.subject, None
        triples: tuple[n.TriplePattern, ...] = (triple,)
    else:
        found = [one for one in binding.bgp.triples if one.object == triple.subject]
        others = [one for one in binding.bgp.triples if one not in (triple, *found)]
        hidden = isinstance(triple.subject, BlankNode)
        if len(found) != 1 or isinstance(found[0].verb, Variable):
            return None
        if hidden and any(triple.subject in (one.subject, one.object) for one in others):
            return None
        links, serializations = _alternatives(found[0].verb), _alternatives(verb)
        subject, triples = found[0].subject, (found[0], triple)
        node = triple.subject.value if isinstance(triple.subject, Variable) else None
    if not links or not serializations or not LINKS.issuperset(links) or not isinstance(subject, Variable):
        return None
    names = [subject.value, binding.variable, *([node] if node else [])]
    if len(set(names)) < len(names):
        return None
    return GeometryPath(binding, subject.value, node, links, serializations, triples)


def _steps(path: n.Path) -> list[n.Path]:
    if isinstance(path, n.PathOperator) and path.operator == "/":
        return [step for part in path.parts for step in _steps(part)]
    return [path]


def _alternatives(path: n.Path) -> tuple[NamedNode, ...] | None:
    """The properties of a step; None where it is none or some other path."""
    if isinstance(path, n.Link):
        return (path.iri,)
    if path.operator != "|":
        return None
    parts = [_alternatives(part) for part in path.parts]
    return None if None in parts else tuple(iri for part in parts for iri in part or ())
