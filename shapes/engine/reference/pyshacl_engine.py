"""pySHACL behind the interface of `shapes.gate.judging`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import rdflib
from pyshacl.errors import ConstraintLoadError, ReportableRuntimeError, ShapeLoadError, ValidationFailure
from pyshacl.pytypes import SHACLExecutor
from pyshacl.shapes_graph import ShapesGraph
from rdflib.namespace import SH as R_SH

from shapes.engine.reference.data_graph import DataGraph
from shapes.engine.reference.shapes_graph import ShapesGraphCache
from shapes.errors import UNEXPECTED, ShapeMalformed, in_words
from shapes.gate.affected import Pairs
from shapes.gate.judging import Found
from shapes.paths import parse_path, text
from shapes.terms import to_oxigraph, to_rdflib
from shapes.time_limit import check_time
from sparql.model.change import Violation, choose_text
from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import SH, UKG

_CANNOT = (ReportableRuntimeError, ValidationFailure, ConstraintLoadError, ShapeLoadError, *UNEXPECTED)
"""What pySHACL raises for shapes that it cannot read, and for values that it cannot compare or count."""


class PyshaclEngine:
    """pySHACL, the reference engine. The shapes graph is parsed once.

    `shapes` maps the names of targeted shapes to their nodes. Raises `ShapeMalformed` when the engine
    cannot read a shape. `languages` are those of messages, the preferred first.
    """

    def __init__(
        self,
        graph: rdflib.Graph,
        shapes: Mapping[str, rdflib.term.Node],
        *,
        languages: Callable[[], Sequence[str]] = lambda: (),
    ) -> None:
        self._languages = languages
        self._graph = kept = ShapesGraphCache(graph)
        self._prefixes = dict(graph.namespaces())
        self._loaded = ShapesGraph(kept)
        try:
            known = {shape.node: shape for shape in self._loaded.shapes}
        except _CANNOT as error:
            raise ShapeMalformed("of the shapes folder", in_words(error)) from error
        self._shapes = {name: known[node] for name, node in shapes.items() if node in known}
        self._nested = frozenset(name for name, node in shapes.items() if _concerns_other_nodes(graph, node))

    def check(self, source: TripleSource, pairs: Pairs) -> Found:
        """Violations of these pairs. A shape that cannot be judged is a violation that says so."""
        data = DataGraph(source, self._prefixes)
        executor = SHACLExecutor()
        found: Found = {}
        for name in sorted(pairs):
            nodes = {node: term for term in pairs[name] if (node := to_rdflib(term)) is not None}
            if name not in self._shapes or not nodes:
                continue
            focus = sorted(nodes, key=str)
            groups = [[node] for node in focus] if name in self._nested else [focus]
            while groups:
                check_time(name)
                group = groups.pop()
                try:
                    _, results = self._shapes[name].validate(executor, data, focus=group)
                except _CANNOT as error:
                    if len(group) > 1:
                        groups += [[node] for node in group]
                    else:
                        found[name, nodes[group[0]]] = [self._not_judged(name, nodes[group[0]], error)]
                    continue
                for _, _, triples in results:
                    violation = self._violation(name, data, triples)
                    focus_node = nodes[group[0]] if len(group) == 1 else violation.focus
                    found.setdefault((name, focus_node), []).append(violation)
        return found

    def breaks(self, after: TripleSource, before: TripleSource, pairs: Pairs) -> bool | None:
        """Always None: this engine only writes reports."""
        return None

    def _not_judged(self, name: str, focus: Term, error: Exception) -> Violation:
        return Violation(
            focus=focus,
            message=f"The shape cannot be judged on these values: {in_words(error)} "
            "Fix the values or the shape.",
            component=UKG.NotJudged,
            shape=to_oxigraph(self._shapes[name].node),  # type: ignore[arg-type]
        )

    def _violation(self, name: str, data: DataGraph, triples: Any) -> Violation:
        parts: dict[Any, list[Any]] = {}
        for _, predicate, value in triples:
            parts.setdefault(predicate, []).append(value[1] if isinstance(value, tuple) else value)

        def first(predicate: rdflib.URIRef) -> Any:
            return parts[predicate][0] if predicate in parts else None

        path, value = first(R_SH.resultPath), first(R_SH.value)
        shape = to_oxigraph(self._shapes[name].node)
        severity = first(R_SH.resultSeverity)
        texts = messages_by_language(parts.get(R_SH.resultMessage, ()))
        return Violation(
            focus=data.original(first(R_SH.focusNode)),
            message=choose_text(texts, self._languages()) or texts.get(min(texts, default=""), ""),
            translations=texts if len(texts) > 1 else {},
            component=to_oxigraph(first(R_SH.sourceConstraintComponent)),  # type: ignore[arg-type]
            shape=shape,  # type: ignore[arg-type]
            path=None if path is None else text(parse_path(self._graph, path)),
            value=None if value is None else data.original(value),
            severity=SH.Violation if severity is None else to_oxigraph(severity),  # type: ignore[arg-type]
        )


def messages_by_language(messages: Iterable[rdflib.Literal]) -> dict[str, str]:
    """The messages of each language in one text; those without a language under "", which comes first."""
    found: dict[str, set[str]] = {}
    for message in messages:
        found.setdefault((getattr(message, "language", None) or "").casefold(), set()).add(str(message))
    return {language: " ".join(sorted(texts)) for language, texts in sorted(found.items())}


def _concerns_other_nodes(graph: rdflib.Graph, node: rdflib.term.Node) -> bool:
    """Whether a shape's results may concern the value nodes of a property shape, not its own focus node."""
    if (node, R_SH.path, None) in graph and (node, R_SH.property, None) in graph:
        return True
    return any((inner, R_SH.property, None) in graph for inner in graph.objects(node, R_SH.property))
