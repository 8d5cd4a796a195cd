"""The functions that queries of shapes and rules call: casts, and the extension functions of the endpoint.

A call of a function that an engine lacks is an error of its expression (SPARQL 1.1 Query, 17.6): a FILTER
then drops the row, and the shape accepts everything. So both engines have the same functions, and a query
that calls any other is refused when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from types import MethodType
from typing import Any, Final

import rdflib
from pyoxigraph import Literal, NamedNode, Store
from rdflib.plugins.sparql.algebra import traverse
from rdflib.plugins.sparql.operators import _CUSTOM_FUNCTIONS
from rdflib.plugins.sparql.parserutils import CompValue, Expr
from rdflib.plugins.sparql.sparql import SPARQLError

from geo.errors import GeoError
from shapes.terms import to_oxigraph, to_rdflib
from shapes.time_limit import check_time, end_judgment, remaining_s
from sparql.model.source import Term
from sparql.syntax.problems import is_known, is_named_like_aggregate
from sparql.workers.functions import FUNCTION_IRIS, load_functions
from sparql.workers.task import Task, TaskMemoryExceeded, TaskTimeout

_LONG: Final = 100_000
"""Characters of all arguments from which a call is made in a process of its own: geometry of some thousand
points, where nothing interrupts GEOS."""
_MOST_MEMORY_BYTES: Final = 2**30
Function = Callable[..., Term | None]


class CallTooLarge(ValueError):
    """A call that takes more memory than it may."""


def unusable_call(algebra: Any) -> str | None:
    """Why a query cannot be run for a function that it calls; None where all are known."""
    for iri in sorted({str(node.iri) for node in _calls(algebra)}):
        if is_named_like_aggregate(iri):
            return f"it calls the aggregate <{iri}>, which queries of shapes cannot call"
        if rdflib.URIRef(iri) not in _CUSTOM_FUNCTIONS and not is_known(NamedNode(iri)):
            return (
                f"it calls <{iri}>, which this server does not have: its calls are errors, and the query "
                "would find nothing. GET /sparql names the functions"
            )
    return None


def extension_functions(algebra: Any) -> dict[NamedNode, Function] | None:
    """Those of the endpoint, if a query calls any."""
    # Loading them takes longer than reading most shapes.
    if any(_is_extension(str(node.iri)) for node in _calls(algebra)):
        return dict(load_functions())
    return None


def bind_function(node: Any) -> None:
    """Give a part of a prepared query that calls a function which rdflib lacks its implementation."""
    if isinstance(node, Expr) and node.name == "Function" and node.iri not in _CUSTOM_FUNCTIONS:
        function = _function(NamedNode(str(node.iri)))
        node._evalfn = MethodType(lambda expression, context: _called(expression, function), node)  # noqa: SLF001


def _calls(algebra: Any) -> Iterator[CompValue]:
    found: list[CompValue] = []

    def visit(node: Any) -> None:
        if isinstance(node, CompValue) and node.name == "Function":
            found.append(node)

    traverse(algebra, visitPre=visit)
    return iter(found)


def _is_extension(iri: str) -> bool:
    return any(part in iri for part in FUNCTION_IRIS)


@lru_cache(maxsize=512)
def _function(iri: NamedNode) -> Function:
    if not _is_extension(iri.value):
        return lambda *terms: _by_engine(iri, *terms)
    function: Function = load_functions()[iri]

    def call(*terms: Term) -> Term | None:
        if sum(len(term.value) for term in terms if isinstance(term, Literal)) < _LONG:
            return function(*terms)
        return _called_apart(iri, terms)

    return call


def _by_engine(iri: NamedNode, *terms: Term) -> Term | None:
    """What a cast that only the store's engine has gives."""
    arguments = ", ".join(str(term) for term in terms)
    solutions: Any = Store().query(f"SELECT ({iri}({arguments}) AS ?value) {{}}")
    found: Term | None = next(iter(solutions))[0]
    return found


def _called(expression: Expr, function: Function) -> rdflib.term.Node:
    check_time()
    arguments = expression.expr
    terms = [_argument(one) for one in (arguments if isinstance(arguments, list) else [arguments])]
    try:
        value = function(*terms)
    except GeoError as error:
        raise SPARQLError(str(error)) from error
    node = None if value is None else to_rdflib(value)
    if node is None:
        raise SPARQLError("the function gives nothing for these arguments")
    return node


def _argument(value: Any) -> Term:
    if isinstance(value, SPARQLError):
        raise value
    return to_oxigraph(value)


@lru_cache(maxsize=256)
def _result_apart(iri: NamedNode, terms: tuple[Term, ...]) -> Term | GeoError | None:
    """A call in a process that ends with the judgment; cached for the judgments before and after a change.

    Raises `JudgingTimeout` and `CallTooLarge`.
    """
    calls = Task(_MOST_MEMORY_BYTES).run(call_function, iri, terms, timeout_s=remaining_s() or 3600.0)
    try:
        (found,) = calls
    except TaskTimeout:
        end_judgment()
    except TaskMemoryExceeded as error:
        raise CallTooLarge(
            f"{iri} takes more than {_MOST_MEMORY_BYTES // 2**20} MB of memory for them."
        ) from error
    return found


def _called_apart(iri: NamedNode, terms: tuple[Term, ...]) -> Term | None:
    found = _result_apart(iri, terms)
    if isinstance(found, GeoError):
        raise found
    return found


def call_function(iri: NamedNode, terms: tuple[Term, ...]) -> Iterator[Term | GeoError | None]:
    """The result of a call, or the error that it raises, for a process of its own."""
    try:
        yield load_functions()[iri](*terms)
    except GeoError as error:
        yield error
