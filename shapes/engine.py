"""The SHACL engine behind an interface: pairs of shapes and focus nodes in, violations out."""

from collections.abc import Mapping
from typing import Any, Protocol

import rdflib
from pyshacl.errors import ConstraintLoadError, ReportableRuntimeError, ShapeLoadError
from pyshacl.pytypes import SHACLExecutor
from pyshacl.shapes_graph import ShapesGraph
from rdflib.namespace import SH as R_SH

from shapes.affected import Pairs
from shapes.data_graph import DataGraph
from shapes.errors import ShapeMalformed
from shapes.paths import parse_path, text
from shapes.terms import to_oxigraph, to_rdflib
from sparql.change import Violation
from sparql.source import TripleSource
from sparql.vocabulary import SH


class Engine(Protocol):
    """Runs shapes on focus nodes over a source, reading only what they ask for."""

    def check(self, source: TripleSource, pairs: Pairs) -> list[Violation]: ...


class PyshaclEngine:
    """pySHACL, the reference engine. The shapes graph is parsed once and kept.

    `shapes` maps the names of targeted shapes to their nodes. Raises `ShapeMalformed` when the engine
    cannot read a shape.
    """

    def __init__(self, graph: rdflib.Graph, shapes: Mapping[str, rdflib.term.Node]) -> None:
        self._graph = graph
        self._loaded = ShapesGraph(graph)
        try:
            known = {shape.node: shape for shape in self._loaded.shapes}
        except (ShapeLoadError, ConstraintLoadError, ReportableRuntimeError) as error:
            raise ShapeMalformed("of the shapes folder", str(error)) from error
        self._shapes = {name: known[node] for name, node in shapes.items() if node in known}

    def check(self, source: TripleSource, pairs: Pairs) -> list[Violation]:
        """Violations of these pairs, in stable order."""
        data = DataGraph(source)
        executor = SHACLExecutor()
        violations = []
        for name in sorted(pairs):
            nodes = [to_rdflib(term) for term in pairs[name]]
            focus = sorted((node for node in nodes if node is not None), key=str)
            if focus and name in self._shapes:
                _, results = self._shapes[name].validate(executor, data, focus=focus)
                violations += [self._violation(name, data, triples) for _, _, triples in results]
        return sorted(violations, key=lambda v: (str(v.focus), v.path or "", str(v.component), str(v.value)))

    def _violation(self, name: str, data: DataGraph, triples: Any) -> Violation:
        parts: dict[Any, list[Any]] = {}
        for _, predicate, value in triples:
            parts.setdefault(predicate, []).append(value[1] if isinstance(value, tuple) else value)

        def first(predicate: rdflib.URIRef) -> Any:
            return parts[predicate][0] if predicate in parts else None

        path, value = first(R_SH.resultPath), first(R_SH.value)
        shape = to_oxigraph(self._shapes[name].node)
        severity = first(R_SH.resultSeverity)
        return Violation(
            focus=data.original(first(R_SH.focusNode)),
            message=" ".join(sorted({str(m) for m in parts.get(R_SH.resultMessage, ())})),
            component=to_oxigraph(first(R_SH.sourceConstraintComponent)),  # type: ignore[arg-type]
            shape=shape,  # type: ignore[arg-type]
            path=None if path is None else text(parse_path(self._graph, path)),
            value=None if value is None else data.original(value),
            severity=SH.Violation if severity is None else to_oxigraph(severity),  # type: ignore[arg-type]
        )
