"""The graph that the SHACL engine sees: a lazy, read-only view of a source of triples.

Nothing is copied. Each lookup of the engine becomes one pattern lookup in the overlay of store and
change, so only what the shapes need of the focus nodes is read, however large the store is. Lookups are
cached: the engine walks up the same classes for every node and every shape.
"""

from collections.abc import Generator, Iterator, Mapping
from functools import lru_cache
from itertools import chain, islice, repeat
from typing import Any, Final

import rdflib
from rdflib.plugins.sparql import CUSTOM_EVALS, prepareQuery
from rdflib.plugins.sparql.algebra import traverse
from rdflib.plugins.sparql.evaluate import evalJoin
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.plugins.sparql.sparql import Query, QueryContext
from rdflib.store import Store as RdflibStore

from shapes.engine.functions import bind_function
from shapes.engine.reference.prefixed import PrefixedNames
from shapes.engine.regular_expressions import limit_expression
from shapes.terms import to_oxigraph, to_rdflib
from shapes.time_limit import check_time, checked
from sparql.model.source import Term, TripleSource

_FEW: Final = 64
"""The largest answer that is cached, in triples."""
_KEPT: Final = 20_000
"""Answers cached before the cache is cleared, so that a run over everything does not grow in memory."""


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
