"""SHACL-SPARQL constraints (SHACL, 5) as tests that give a yes or nothing.

Most focus nodes lack what the query joins for sure, and then it has no solutions in any engine. A plain
query, of joins and of filters on texts and identity, is answered here. Only what every engine evaluates alike
is known: anything else raises `NotCompiled` when the query is read, or `Unsure` at a value, and the reference
engine answers.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import rdflib
from pyoxigraph import Literal, NamedNode
from rdflib.namespace import SH, XSD
from rdflib.plugins.sparql.parserutils import CompValue

from shapes.engine.constraint_tests import NotCompiled
from shapes.engine.queries import Pattern, certain_from_this, parsed, plain_parts, query_text
from shapes.engine.reading import Reading, Unsure, ValuesTest
from shapes.graph import to_oxigraph
from shapes.paths import Path, invert
from shapes.time_limit import check_time
from sparql.model.source import Term

_THIS = rdflib.Variable("this")
_Solution = Mapping[Any, Term]
_Text = Callable[[_Solution], str]
_Truth = Callable[[_Solution], bool]
_COMPARE: Mapping[str, Callable[[str, str], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_PARTS: Mapping[str, Callable[[str, str], bool]] = {
    "Builtin_STRSTARTS": str.startswith,
    "Builtin_STRENDS": str.endswith,
    "Builtin_CONTAINS": operator.contains,
}


def has_solution(algebra: CompValue) -> Callable[[Reading, Term], bool]:
    """The question whether the query has a solution for `$this`. Raises `NotCompiled`."""
    parts = plain_parts(algebra)
    if parts is None:
        raise NotCompiled
    steps = _in_order(parts[0])
    bound = {_THIS, *(step.end for step in steps)}
    tests = [_truth(expression, bound) for expression in parts[1]]

    def is_found(reading: Reading, solution: dict[Any, Term], done: int) -> bool:
        if done == len(steps):
            return all(test(solution) for test in tests)
        step = steps[done]
        for value in reading.values(solution[step.start], step.path):
            check_time()
            if step.binds:
                solution[step.end] = value
            elif value != (step.constant or solution[step.end]):
                continue
            if is_found(reading, solution, done + 1):
                return True
        return False

    return lambda reading, focus: is_found(reading, {_THIS: focus}, 0)


@dataclass(frozen=True)
class _Join:
    """A pattern whose start is known, joined with what was found before."""

    start: Any
    path: Path
    end: Any
    binds: bool
    """Whether its end is a variable that no earlier pattern binds."""
    constant: Term | None


def _in_order(patterns: tuple[Pattern, ...]) -> list[_Join]:
    """The patterns, each turned so that an earlier one binds where it starts. Raises `NotCompiled`."""
    left, bound = list(patterns), {_THIS}
    steps: list[_Join] = []
    while left:
        for pattern in left:
            start, path, end = pattern
            if start not in bound:
                start, path, end = end, invert(path), start
            if start in bound:
                break
        else:
            raise NotCompiled
        constant = None if _is_variable(end) else to_oxigraph(end)
        steps.append(_Join(start, path, end, constant is None and end not in bound, constant))
        left.remove(pattern)
        bound |= {start, end}
    return steps


def _truth(node: Any, bound: set[Any]) -> _Truth:
    if not isinstance(node, CompValue):
        raise NotCompiled
    if node.name in ("ConditionalAndExpression", "ConditionalOrExpression"):
        parts = [_truth(part, bound) for part in (node.expr, *node.other)]
        every = all if node.name == "ConditionalAndExpression" else any
        return lambda solution: every([part(solution) for part in parts])
    if node.name == "UnaryNot":
        inner = _truth(node.expr, bound)
        return lambda solution: not inner(solution)
    if node.name in _PARTS:
        whole, part, holds = _text(node.arg1, bound), _text(node.arg2, bound), _PARTS[node.name]
        return lambda solution: holds(whole(solution), part(solution))
    if node.name == "RelationalExpression" and node.op in _COMPARE:
        return _identity(node, bound) or _comparison(node, bound)
    raise NotCompiled


def _comparison(node: CompValue, bound: set[Any]) -> _Truth:
    first, second, holds = _text(node.expr, bound), _text(node.other, bound), _COMPARE[node.op]
    return lambda solution: holds(first(solution), second(solution))


def _identity(node: CompValue, bound: set[Any]) -> _Truth | None:
    """A comparison of IRIs with each other, if it is one."""
    sides = (node.expr, node.other)
    certain = any(isinstance(side, rdflib.URIRef) or side == _THIS for side in sides)
    known = all(isinstance(side, rdflib.URIRef) or side in bound for side in sides if not _is_call(side))
    if node.op not in ("=", "!=") or not certain or not known or any(map(_is_call, sides)):
        return None
    first, second = (_term(side) for side in sides)
    equal = node.op == "="

    def test(solution: _Solution) -> bool:
        one, other = first(solution), second(solution)
        if isinstance(one, Literal) or isinstance(other, Literal):
            raise Unsure
        return (one == other) is equal

    return test


def _term(side: Any) -> Callable[[_Solution], Term]:
    if isinstance(side, rdflib.URIRef):
        iri = NamedNode(str(side))
        return lambda solution: iri
    return lambda solution: solution[side]


def _text(node: Any, bound: set[Any]) -> _Text:
    """A plain text: a constant, STR or LANG of a bound variable, LCASE or UCASE of a plain text."""
    if isinstance(node, rdflib.Literal) and not node.language and node.datatype in (None, XSD.string):
        constant = str(node)
        return lambda solution: constant
    if isinstance(node, CompValue) and node.name in ("Builtin_LCASE", "Builtin_UCASE"):
        inner = _text(node.arg, bound)
        change = str.lower if node.name == "Builtin_LCASE" else str.upper
        return lambda solution: change(inner(solution))
    if isinstance(node, CompValue) and node.name in ("Builtin_STR", "Builtin_LANG") and node.arg in bound:
        variable, kinds = node.arg, (Literal,) if node.name == "Builtin_LANG" else (Literal, NamedNode)

        def text(solution: _Solution) -> str:
            term = solution[variable]
            if not isinstance(term, kinds):
                raise Unsure
            return (term.language or "") if kinds == (Literal,) else term.value  # type: ignore[union-attr]

        return text
    raise NotCompiled


def _is_variable(node: Any) -> bool:
    return isinstance(node, rdflib.Variable | rdflib.BNode)


def _is_call(node: Any) -> bool:
    return isinstance(node, CompValue | rdflib.Literal)


def query_test(graph: rdflib.Graph, constraint: rdflib.term.Node, path: Path | None) -> ValuesTest:
    """The test of a `sh:sparql` constraint. Raises `NotCompiled`."""
    select = graph.value(constraint, SH.select)
    if select is None:
        raise NotCompiled
    algebra = parsed(constraint, query_text(graph, constraint, str(select), path))
    try:
        found = has_solution(algebra)
    except NotCompiled:
        needed = certain_from_this(algebra)
        if not needed:
            raise

        def lacks_what_it_joins(reading: Reading, focus: Term, values: Sequence[Term]) -> bool:
            if any(not reading.values(focus, path) for path in needed):
                return True
            raise Unsure

        return lacks_what_it_joins
    return lambda reading, focus, values: not found(reading, focus)
