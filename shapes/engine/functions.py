"""What queries and patterns of shapes call: functions, casts, and regular expressions that end in time.

A call of a function that an engine lacks is an error of its expression (SPARQL 1.1 Query, 17.6): a FILTER
then drops the row, and the shape accepts everything. So both engines have the same functions, and a query
that calls any other is refused when it is read.

A regular expression that backtracks endlessly ends with the time limit of the judgment. The package `regex`
compiles what Python's `re` does, lets other threads run while it matches, and takes a timeout. Both engines
use it, for `sh:pattern` (SHACL, 4.4.3) and for REGEX and REPLACE in SHACL-SPARQL constraints (SPARQL 1.1,
17.4.3.14 and 17.4.3.15), whose own implementations use `re`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import MethodType
from typing import Any, Final, TypeVar

import rdflib
import regex
from pyoxigraph import Literal, NamedNode, Store
from pyshacl.constraints import CONSTRAINT_PARAMETERS_MAP
from pyshacl.constraints.core.string_based_constraints import PatternConstraintComponent
from rdflib.namespace import SH
from rdflib.plugins.sparql.algebra import traverse
from rdflib.plugins.sparql.operators import _CUSTOM_FUNCTIONS, string
from rdflib.plugins.sparql.parserutils import CompValue, Expr
from rdflib.plugins.sparql.sparql import SPARQLError

from geo.errors import GeoError
from shapes.graph import to_oxigraph, to_rdflib
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


Result = TypeVar("Result")

_FLAGS: Final[Mapping[str, int]] = {"i": regex.IGNORECASE, "s": regex.DOTALL, "m": regex.MULTILINE}
_SHORT: Final = 200
"""Characters of a text in which a simple expression tries some million possibilities at most."""
_ESCAPE = re.compile(r"\\[^0-9gk]", re.DOTALL)
_CHARACTER_CLASS = re.compile(r"\[\^?\]?[^\]]*\]")
_REPEATED_GROUP = re.compile(r"\)[*+{]")


class RegularExpression:
    """A compiled regular expression. Raises `regex.error` when it is not well-formed."""

    def __init__(self, pattern: str, flags: str = "") -> None:
        self._compiled = _compiled(pattern, flags)
        # Most patterns of shapes are simple, and a timeout takes ten times as long as they do.
        self._short = _SHORT if is_simple(pattern) else -1

    def search(self, text: str) -> Any:
        """The first match in the text, or None. Raises `JudgingTimeout`."""
        if len(text) <= self._short:
            return self._compiled.search(text)
        return _limited(self._compiled.search, text)

    def match(self, text: str) -> Any:
        """The match at the beginning of the text, or None. Raises `JudgingTimeout`."""
        if len(text) <= self._short:
            return self._compiled.match(text)
        return _limited(self._compiled.match, text)

    def replace(self, text: str, replacement: str) -> str:
        """The text with each match replaced; the groups of a match are `\\1` to `\\9`.

        Raises `JudgingTimeout`, and `regex.error` for a group that there is not.
        """
        replaced: str = _limited(self._compiled.sub, replacement, text)
        return replaced


def is_simple(pattern: str) -> bool:
    """Whether an expression surely tries few possibilities: two repetitions of single characters at most."""
    bare = _CHARACTER_CLASS.sub("x", _ESCAPE.sub("x", pattern))
    repetitions = bare.count("*") + bare.count("+") + bare.count("{")
    return (
        repetitions <= 2
        and bare.count("?") + bare.count("|") <= 4
        and not _REPEATED_GROUP.search(bare)
        and set(bare).isdisjoint("\\[]")
    )


def _limited(call: Callable[..., Result], *arguments: str) -> Result:
    try:
        return call(*arguments, timeout=remaining_s())
    except TimeoutError:
        end_judgment()


@lru_cache(maxsize=1024)
def _compiled(pattern: str, flags: str) -> Any:
    given = regex.V0
    for letter in flags:
        given |= _FLAGS.get(letter, 0)
    return regex.compile(pattern, given)


class _PatternComponent(PatternConstraintComponent):
    """pySHACL's `sh:pattern`, which only searches with what it compiled."""

    def __init__(self, shape: Any) -> None:
        super().__init__(shape)
        flags = "" if self.flags is None else str(self.flags).lower().replace("s", "")
        for pattern, compiled in self.compiled_cache.items():
            self.compiled_cache[pattern] = RegularExpression(compiled.pattern, flags)  # type: ignore[assignment]


CONSTRAINT_PARAMETERS_MAP[SH.pattern] = _PatternComponent


def limit_expression(node: Any) -> None:
    """Have REGEX and REPLACE, if this part of a prepared query is one, end with the judgment."""
    if isinstance(node, Expr) and node.name in _BUILTINS:
        builtin = _BUILTINS[node.name]
        node._evalfn = MethodType(lambda expression, context: builtin(expression), node)  # noqa: SLF001


def _regex(expression: Expr) -> rdflib.Literal:
    found = _expression(expression).search(str(string(expression.text)))
    return rdflib.Literal(found is not None)


def _replace(expression: Expr) -> rdflib.Literal:
    text = string(expression.arg)
    # `$1` in SPARQL is `\1` here.
    replacement = regex.sub(r"\$([0-9]*)", r"\\\1", str(string(expression.replacement)))
    try:
        replaced = _expression(expression).replace(str(text), replacement)
    except regex.error as error:
        raise SPARQLError(str(error)) from error
    return rdflib.Literal(replaced, datatype=text.datatype, lang=text.language)


def _expression(expression: Expr) -> RegularExpression:
    try:
        return RegularExpression(str(string(expression.pattern)), str(expression.flags or ""))
    except regex.error as error:
        raise SPARQLError(str(error)) from error


_BUILTINS: Final[Mapping[str, Callable[[Expr], rdflib.Literal]]] = {
    "Builtin_REGEX": _regex,
    "Builtin_REPLACE": _replace,
}
