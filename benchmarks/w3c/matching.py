"""Whether two lots of rows are the same but for the names of their blank nodes.

A row is a tuple of terms: a solution, or a quad. One procedure then compares solutions, graphs and datasets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

Term = NamedNode | BlankNode | Literal | Triple | None
Row = tuple[Term, ...]

_XSD = "http://www.w3.org/2001/XMLSchema#"
_FLOATS = (_XSD + "double", _XSD + "float")
_DECIMALS = (_XSD + "decimal", _XSD + "integer")


def same_rows(expected: Sequence[Row], actual: Sequence[Row], *, ordered: bool = False) -> bool:
    """Whether a one-to-one renaming of blank nodes makes the rows equal, as lists or as bags.

    Numbers and truth values of one datatype are equal when their values are.
    """
    if len(expected) != len(actual):
        return False
    wanted = [tuple(map(canonical, row)) for row in expected]
    found = [tuple(map(canonical, row)) for row in actual]
    if ordered:
        pairs: dict[str, str] = {}
        return all(_unify_rows(left, right, pairs) for left, right in zip(wanted, found, strict=True))
    ground, others = _split(wanted)
    ground_found, others_found = _split(found)
    return ground == ground_found and _match(others, others_found, {})


def subset_of_rows(actual: Sequence[Row], expected: Sequence[Row]) -> bool:
    """Whether each row occurs, at most as often as expected and at least once (LaxCardinality)."""
    wanted = Counter(tuple(map(canonical, row)) for row in expected)
    found = Counter(tuple(map(canonical, row)) for row in actual)
    return set(wanted) == set(found) and all(found[row] <= wanted[row] for row in found)


def _split(rows: Sequence[Row]) -> tuple[Counter[Row], list[Row]]:
    ground = Counter(row for row in rows if not any(map(_has_blank, row)))
    return ground, [row for row in rows if any(map(_has_blank, row))]


def _has_blank(term: Term) -> bool:
    if isinstance(term, Triple):
        return _has_blank(term.subject) or _has_blank(term.object)
    return isinstance(term, BlankNode)


def _match(wanted: list[Row], found: list[Row], pairs: dict[str, str]) -> bool:
    """Backtracking; the row with the fewest counterparts goes first."""
    if len(wanted) != len(found):
        return False
    if not wanted:
        return True
    choices = []
    for index, row in enumerate(wanted):
        fitting = [other for other in range(len(found)) if _unify_rows(row, found[other], dict(pairs))]
        if not fitting:
            return False
        choices.append((len(fitting), index, fitting))
        if len(fitting) == 1:
            break
    _, index, fitting = min(choices)
    for other in fitting:
        renamed = dict(pairs)
        _unify_rows(wanted[index], found[other], renamed)
        if _match(wanted[:index] + wanted[index + 1 :], found[:other] + found[other + 1 :], renamed):
            return True
    return False


def _unify_rows(left: Row, right: Row, pairs: dict[str, str]) -> bool:
    return len(left) == len(right) and all(_unify(a, b, pairs) for a, b in zip(left, right, strict=True))


def _unify(left: Term, right: Term, pairs: dict[str, str]) -> bool:
    """Whether the terms agree under ``pairs`` (both directions in one dict), which is added to."""
    if isinstance(left, BlankNode) and isinstance(right, BlankNode):
        there, back = pairs.get("> " + left.value), pairs.get("< " + right.value)
        if there is None and back is None:
            pairs["> " + left.value], pairs["< " + right.value] = right.value, left.value
            return True
        return there == right.value and back == left.value
    if isinstance(left, Triple) and isinstance(right, Triple):
        return (
            left.predicate == right.predicate
            and _unify(left.subject, right.subject, pairs)
            and _unify(left.object, right.object, pairs)
        )
    return left == right


def canonical(term: Term) -> Term:
    """The term with numbers and truth values in one form per value."""
    if isinstance(term, Triple):
        subject, object_ = canonical(term.subject), canonical(term.object)
        return Triple(subject, term.predicate, object_)  # type: ignore[arg-type]
    if not isinstance(term, Literal):
        return term
    datatype = term.datatype.value
    try:
        if datatype in _DECIMALS:
            value = Decimal(term.value.strip())
            return Literal(format(value.normalize(), "f"), datatype=term.datatype)
        if datatype == _XSD + "boolean" and term.value in ("0", "1"):
            return Literal("true" if term.value == "1" else "false", datatype=term.datatype)
        if datatype in _FLOATS:
            digits = 12 if datatype.endswith("double") else 6
            return Literal(f"{float(term.value.replace('INF', 'inf')):.{digits}g}", datatype=term.datatype)
    except (InvalidOperation, ValueError, OverflowError):
        return term
    return term
