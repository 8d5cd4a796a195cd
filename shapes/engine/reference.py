"""pySHACL, the reference engine, over lazy views of the data and the shapes."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice, repeat
from typing import Any, Final

import rdflib
from pyshacl.errors import ConstraintLoadError, ReportableRuntimeError, ShapeLoadError, ValidationFailure
from pyshacl.pytypes import SHACLExecutor
from pyshacl.shapes_graph import ShapesGraph
from rdflib.namespace import SH as R_SH
from rdflib.namespace import NamespaceManager
from rdflib.paths import Path
from rdflib.plugins.sparql import CUSTOM_EVALS, prepareQuery
from rdflib.plugins.sparql.algebra import traverse
from rdflib.plugins.sparql.evaluate import evalJoin
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.plugins.sparql.sparql import Query, QueryContext
from rdflib.store import Store as RdflibStore

from shapes.engine.functions import bind_function, limit_expression
from shapes.errors import UNEXPECTED, ShapeMalformed, in_words
from shapes.gate.affected import Pairs
from shapes.graph import to_oxigraph, to_rdflib
from shapes.paths import parse_path, text
from shapes.results import Found
from shapes.time_limit import check_time, checked
from sparql.model.change import Violation, choose_text
from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import SH, UKG

_NAMES_KEPT: Final = 10_000


class PrefixedNames(NamespaceManager):
    """The prefixes of a graph. The engine binds the same ones and writes the same names for every result."""

    def __init__(self, graph: rdflib.Graph) -> None:
        self._bound: set[tuple[object, str]] = set()
        self._written: dict[str, str] = {}
        super().__init__(graph, bind_namespaces="none")

    def bind(self, prefix: str | None, namespace: Any, override: bool = True, replace: bool = False) -> None:
        """Bind a prefix, unless it is bound to that namespace already."""
        if (prefix, str(namespace)) not in self._bound:
            super().bind(prefix, namespace, override, replace)
            self._bound.add((prefix, str(namespace)))
            self._written.clear()

    def normalizeUri(self, rdfTerm: str) -> str:
        """A prefixed name, or the full IRI where no prefix fits."""
        written = self._written.get(rdfTerm)
        if written is None:
            written = super().normalizeUri(rdfTerm)
            if len(self._written) >= _NAMES_KEPT:
                self._written.clear()
            self._written[rdfTerm] = written
        return written


_KEPT: Final = 20_000
"""Answers cached before the cache is cleared; the engine also looks up nodes of the data."""


class ShapesGraphCache(rdflib.Graph):
    """A graph that caches its answers. It must not change once it was read, except by `add`."""

    def __init__(self, graph: rdflib.Graph) -> None:
        super().__init__(store=graph.store, identifier=graph.identifier, bind_namespaces="none")
        self.namespace_manager = PrefixedNames(self)
        self._answers: dict[Any, tuple[Any, ...]] = {}

    def add(self, triple: Any) -> "ShapesGraphCache":
        """Add a triple, as the engine does before it reads."""
        self._answers.clear()
        super().add(triple)
        return self

    def triples(self, triple: Any) -> Iterator[Any]:  # type: ignore[override]
        """What fits a pattern."""
        if isinstance(triple[1], Path):
            return iter(super().triples(triple))
        answer = self._answers.get(triple)
        if answer is None:
            if len(self._answers) >= _KEPT:
                self._answers.clear()
            answer = self._answers[triple] = tuple(super().triples(triple))
        return iter(answer)


_FEW: Final = 64
"""The largest answer that is cached, in triples."""


class DataGraph(rdflib.Graph):
    """An rdflib graph over a `TripleSource` that does not change.

    `prefixes` are those of queries that declare none. It is always true: the engine tests `if graph`, which
    would count the whole store.
    """

    def __init__(self, source: TripleSource, prefixes: Mapping[str, rdflib.URIRef] | None = None) -> None:
        self._view = _SourceStore(source)
        self._prefixes = {name: str(namespace) for name, namespace in (prefixes or {}).items()}
        super().__init__(store=self._view, bind_namespaces="none")
        self.namespace_manager = PrefixedNames(self)

    def __bool__(self) -> bool:
        return True

    def query(self, query_object: Any, *args: Any, **options: Any) -> Any:
        """Run a query of a SHACL-SPARQL constraint; each text is parsed once, not once per focus node."""
        if isinstance(query_object, str):
            namespaces = options.pop("initNs", None) or self._prefixes
            query_object = _prepared(query_object, tuple(sorted(dict(namespaces).items())))
        return super().query(query_object, *args, **options)

    def original(self, node: rdflib.term.Node) -> Term:
        """The term exactly as the source gave it (rdflib lower-cases language tags, for one)."""
        return self._view.seen.get(node) or to_oxigraph(node)


@lru_cache(maxsize=512)
def _prepared(text: str, namespaces: tuple[tuple[str, Any], ...]) -> Query:
    query = prepareQuery(text, initNs=dict(namespaces))
    traverse(query.algebra, visitPre=_bind)
    return query


def _bind(part: Any) -> None:
    """Have a part of a query run by what ends with the judgment, and by the functions of the endpoint."""
    limit_expression(part)
    bind_function(part)


def _checking_time(context: QueryContext, part: CompValue) -> Any:
    """Check the time at each evaluated part of a query, and at each row of a join.

    A join of sub-selects reads no triple, so the check at each triple would not notice how long it takes.
    """
    check_time()
    if part.name == "Join":
        return checked(evalJoin(context, part))
    raise NotImplementedError


CUSTOM_EVALS["urbankg:time"] = _checking_time


class _SourceStore(RdflibStore):
    context_aware = False
    formula_aware = False
    transaction_aware = False

    def __init__(self, source: TripleSource) -> None:
        super().__init__()
        self._source = source
        self.seen: dict[rdflib.term.Node, Term] = {}
        self._prefixes: dict[str, rdflib.URIRef] = {}
        self._answers: dict[Any, list[Any]] = {}

    def triples(self, triple_pattern: Any, context: Any = None) -> Iterator[tuple[Any, Iterator[Any]]]:
        check_time()
        answer = self._answers.get(triple_pattern)
        return zip(self._read(triple_pattern) if answer is None else answer, repeat(iter(())))

    def _read(self, pattern: Any) -> Iterator[Any]:
        """Read what fits a pattern, the first triples at once, and cache it if that is all."""
        found = self._matching(*pattern)
        if pattern[0] is None:
            return found
        first = list(islice(found, _FEW + 1))
        if len(first) > _FEW:
            return chain(first, found)
        if len(self._answers) >= _KEPT:
            self._answers.clear()
        self._answers[pattern] = first
        return iter(first)

    def _matching(self, subject: Any, predicate: Any, object_: Any) -> Iterator[Any]:
        if isinstance(subject, rdflib.Literal) or isinstance(predicate, rdflib.Literal | rdflib.BNode):
            # A query joins by variables, so it may look for a node that was found elsewhere as a predicate.
            return
        lookup = [None if node is None else self._term(node) for node in (subject, predicate, object_)]
        for triple in self._source.match(lookup[0], lookup[1], lookup[2]):  # type: ignore[arg-type]
            check_time()
            nodes = tuple(self._node(term) for term in (triple.subject, triple.predicate, triple.object))
            if None not in nodes:
                yield nodes

    def _node(self, term: Term) -> rdflib.term.Node | None:
        node = to_rdflib(term)
        if node is not None:
            self.seen.setdefault(node, term)
        return node

    def _term(self, node: rdflib.term.Node) -> Term:
        return self.seen.get(node) or to_oxigraph(node)

    def __len__(self, context: Any = None) -> int:
        raise TypeError("A graph being judged is never counted: that would read the whole store")

    def bind(self, prefix: str, namespace: rdflib.URIRef, override: bool = True) -> None:
        self._prefixes[prefix] = namespace

    def namespace(self, prefix: str) -> rdflib.URIRef | None:
        return self._prefixes.get(prefix)

    def prefix(self, namespace: rdflib.URIRef) -> str | None:
        return next((p for p, n in self._prefixes.items() if n == namespace), None)

    def namespaces(self) -> Generator[tuple[str, rdflib.URIRef], None, None]:
        yield from self._prefixes.items()


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
