"""What an answer shows besides what was found: the values it was chosen by, and of how many one is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pyoxigraph import NamedNode

from sparql.ask.answer.gaps import UNKNOWN, Gap, GapKind, KindOf, nodes_of, set_of, unknown_words
from sparql.ask.compile.compiler import Compiler, Query, Result
from sparql.ask.linking.summary import RunQuery
from sparql.ask.plan.nodes import (
    And,
    Arithmetic,
    Compare,
    CompareTo,
    Count,
    CountOf,
    Difference,
    DistanceTo,
    EarliestOf,
    Exists,
    Kind,
    List,
    Minus,
    Named,
    Or,
    Plan,
    Quantity,
    Set,
    SizeOf,
    Term,
    Top,
    ValueOf,
    Values,
)
from sparql.ask.plan.typing import QuantityKind
from sparql.ask.plan.wording import phrase, quantity_words
from sparql.ask.plan.words import is_participle, with_article

__all__ = ["Coverage", "Shown", "deciding", "find_coverage", "find_shown", "recorded_words", "unknown_gap"]

_SHOWN = 10


@dataclass(frozen=True)
class Coverage:
    """Of how many members of a set a quantity is known."""

    quantity: Quantity
    set: Set
    known: int
    of: int


@dataclass(frozen=True)
class Shown:
    """The quantity that decided, its values by IRI, and which of them were measured of the geometry."""

    quantity: Quantity | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    measured: frozenset[str] = frozenset()
    coverage: Coverage | None = None


def deciding(node: Set) -> tuple[Quantity, Set] | None:
    """Return the quantity by which things of a kind are chosen, and what they are chosen from."""
    if isinstance(node, Top):
        return node.quantity, node.set
    if not isinstance(node, And):
        return None
    for part in node.sets:
        if isinstance(part, Compare | CompareTo):
            rest = tuple(
                p
                for p in node.sets
                if not (isinstance(p, Compare | CompareTo) and p.quantity == part.quantity)
            )
            if rest:
                return part.quantity, And(rest) if len(rest) > 1 else rest[0]
        elif isinstance(part, Top):
            return part.quantity, part.set
    return None


async def find_coverage(plan: Plan, compiler: Compiler, kind: KindOf, run_query: RunQuery) -> Coverage | None:
    """Return of how many of the compared things the quantity is known; None where that says nothing."""
    found = deciding(plan.set) if isinstance(plan, List | Count) else None
    if found is None:
        return None
    quantity, base = found
    if isinstance(quantity, CountOf | DistanceTo) or not _is_kind(base):
        return None
    row = (await run_query(compiler.coverage(base, quantity, kind)))["results"]["bindings"][0]
    return Coverage(quantity, base, int(row["known"]["value"]), int(row["all"]["value"]))


async def unknown_gap(plan: Plan, compiler: Compiler, kind: KindOf, run_query: RunQuery) -> Gap | None:
    """Return why an empty result says nothing: of none of the things compared the quantity is known."""
    coverage = await find_coverage(plan, compiler, kind, run_query)
    if coverage is None:
        return None
    compared = [node.to for node in nodes_of(plan) if isinstance(node, CompareTo)]
    unknown = [coverage.set] if coverage.of and not coverage.known else []
    for node in compared:
        if not (await run_query(compiler.has_value(node, coverage.quantity, kind))).get("boolean"):
            unknown.append(node)
    if not unknown:
        return None
    words, of = quantity_words(coverage.quantity), phrase(unknown[0])
    message = f"Not recorded: {unknown_words(coverage.quantity, of)}."
    if isinstance(coverage.quantity, SizeOf) or getattr(coverage.quantity, "measured", None):
        message = f"{message} It cannot be measured either, without a geometry that has a size."
    return Gap(GapKind.DATA, message, 1, of, words, UNKNOWN)


async def find_shown(
    plan: Plan,
    query: Query,
    results: Mapping[str, Any],
    compiler: Compiler,
    kind: KindOf,
    run_query: RunQuery,
) -> Shown:
    """Return the values of what was found, or of the two ends of a comparison."""
    found = deciding(set_of(plan)) if isinstance(plan, List | Exists) else None
    if isinstance(plan, Values) and isinstance(plan.quantity, ValueOf) and plan.quantity.measured:
        found = plan.quantity, plan.set
    if isinstance(plan, Difference):
        found = plan.quantity, plan.left
    if found is None:
        return Shown()
    quantity, base = found
    if kind(quantity) is QuantityKind.TEXT or isinstance(quantity, Arithmetic):
        return Shown()
    things = _things(query, results) if isinstance(plan, List) else _ends(plan, base)
    if not things:
        return Shown(quantity)
    values = await _values(quantity, things, compiler, kind, run_query)
    measured = frozenset(values) if isinstance(quantity, SizeOf) else frozenset()
    if isinstance(quantity, ValueOf) and quantity.measured is not None:
        stated = await _values(replace(quantity, measured=None), things, compiler, kind, run_query)
        measured = frozenset(values) - frozenset(stated)
    return Shown(quantity, values, measured)


async def _values(
    quantity: Quantity, things: list[Named], compiler: Compiler, kind: KindOf, run_query: RunQuery
) -> dict[str, str]:
    query = compiler.compile(Values(quantity, Or(tuple(things))), kind)
    rows = (await run_query(query.text))["results"]["bindings"]
    return {
        row[query.variable]["value"]: row[query.columns[0]]["value"]
        for row in rows
        if row and query.columns[0] in row
    }


def _things(query: Query, results: Mapping[str, Any]) -> list[Named]:
    if query.result is not Result.ENTITIES:
        return []
    terms = [row.get(query.variable) for row in results["results"]["bindings"][:_SHOWN]]
    return [Named(Term(NamedNode(t["value"]), "")) for t in terms if t and t["type"] == "uri"]


def _ends(plan: Plan, base: Set) -> list[Named]:
    """The thing that is asked about and those it is compared with."""
    if isinstance(plan, Difference):
        return [one for one in (plan.left, plan.right) if isinstance(one, Named)]
    node = set_of(plan)
    others = [part.to for part in node.sets if isinstance(part, CompareTo)] if isinstance(node, And) else []
    return [one for one in (base, *others) if isinstance(one, Named)]


def _is_kind(node: Set) -> bool:
    if isinstance(node, And):
        return any(_is_kind(part) for part in node.sets)
    return _is_kind(node.set) if isinstance(node, Minus) else isinstance(node, Kind)


def recorded_words(quantity: Quantity) -> str:
    """Return a quantity as what may be recorded: "a recorded date (opened)"."""
    match quantity:
        case EarliestOf(properties):
            return f"a recorded date ({', '.join(term.words for term in properties)})"
        case ValueOf((*_, term)) if is_participle(term.words):
            return f"a recorded date ({term.words})"
        case ValueOf(path, size) if size is not None:
            return f"{with_article(path[-1].words)} that is recorded or can be measured"
        case SizeOf(size):
            return f"{with_article(size)} that can be measured"
    return f"a recorded {quantity_words(quantity)}"
