"""The answer to a question: sentences made only from the plan and the results, and a map."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from pyoxigraph import Literal, NamedNode

from geo.errors import GeometryError
from ontology import Schema
from sparql.ask.linking.summary import RunQuery
from sparql.ask.plan.json_form import FindTerm
from sparql.ask.plan.nodes import Compiler, Coverage, Plan, Quantity, Shown, nodes_of
from sparql.ask.plan.quantities import Arithmetic, CountOf, DistanceTo, SizeOf, ValueOf
from sparql.ask.plan.questions import Count, List, Values
from sparql.ask.plan.sets import Named, Near, Or
from sparql.ask.plan.sparql import Outcome, Query, Result, rows_of
from sparql.ask.plan.terms import QuantityKind, Term, enumerate_labels, kilometers
from sparql.ask.plan.typing import Typing

_NAMED: Final = 3
_SHOWN: Final = 10


def answer_words(plan: Plan, outcome: Outcome, shown: Shown) -> str:
    """Return sentences for what was found, including zero, and for what was measured or assumed."""
    sentences = [plan.sentence(outcome, shown), *_known(shown.coverage)]
    return " ".join([*sentences, *_measured(plan, outcome, shown), *_assumptions(plan)])


def _known(coverage: Coverage | None) -> Iterator[str]:
    """Of how many of the compared things the value is known, where not of all."""
    if coverage is None or coverage.known == coverage.of:
        return
    yield (
        f"Of {coverage.of:,} {coverage.set.phrase(singular=coverage.of == 1)}, {coverage.known:,} "
        f"{'has' if coverage.known == 1 else 'have'} {coverage.quantity.recorded()}."
    )


def _measured(plan: Plan, outcome: Outcome, shown: Shown) -> Iterator[str]:
    """Whose sizes are not stated, but measured of the geometry."""
    sizes = [node.size for node in nodes_of(plan) if isinstance(node, SizeOf)]
    if sizes:
        yield f"The {sizes[0]} is measured from the geometry."
    elif shown.measured and isinstance(shown.quantity, ValueOf):
        words = shown.quantity.words
        if len(shown.measured) < len(shown.values):
            labels = {}
            if outcome.query.result is Result.ENTITIES:
                iris = (row[outcome.query.variable]["value"] for row in outcome.rows)
                labels = dict(zip(iris, outcome.labels, strict=True))
            entities = [node.entity for node in nodes_of(plan) if isinstance(node, Named)]
            named = {entity.iri.value: entity.words for entity in entities}
            whose = [label for iri, label in {**named, **labels}.items() if iri in shown.measured]
            of = enumerate_labels(whose) if len(whose) <= _NAMED else f"{len(whose)} of those shown"
            words = f"{words} of {of}"
        yield f"The {words} is measured from the geometry, since none is stated."


def _assumptions(plan: Plan) -> Iterator[str]:
    for part in nodes_of(plan):
        if isinstance(part, Near) and part.assumed:
            km = kilometers(part.meters / 1000)
            yield f"The question gives no distance, so near {part.of.phrase()} was taken as {km}."


async def find_coverage(
    plan: Plan, compiler: Compiler, typing: Typing, run_query: RunQuery
) -> Coverage | None:
    """Return of how many of the compared things the quantity is known; None where that tells nothing."""
    found = plan.about().deciding() if isinstance(plan, List | Count) else None
    if found is None:
        return None
    quantity, base = found
    if isinstance(quantity, CountOf | DistanceTo) or not base.has_kind():
        return None
    row = (await run_query(compiler.coverage(base, quantity, typing)))["results"]["bindings"][0]
    return Coverage(quantity, base, int(row["known"]["value"]), int(row["all"]["value"]))


async def find_shown(
    plan: Plan, outcome: Outcome, schema: Schema, compiler: Compiler, typing: Typing, run_query: RunQuery
) -> Shown:
    """Return the values of what was found, or of the two ends of a comparison."""
    found = plan.deciding()
    if found is None:
        return Shown(schema)
    quantity, _ = found
    if quantity.kind(typing) is QuantityKind.TEXT or isinstance(quantity, Arithmetic):
        return Shown(schema)
    things = _things(outcome) if isinstance(plan, List) else plan.ends()
    if not things:
        return Shown(schema, quantity)

    async def values_of(quantity: Quantity) -> dict[str, str]:
        query = compiler.compile(Values(quantity, Or(tuple(map(Named, things)))), typing)
        value = query.columns[0]
        rows = rows_of(await run_query(query.text))
        return {row[query.variable]["value"]: row[value]["value"] for row in rows if value in row}

    values = await values_of(quantity)
    measured = frozenset(values) if isinstance(quantity, SizeOf) else frozenset()
    if isinstance(quantity, ValueOf) and quantity.measured is not None:
        measured = frozenset(values) - frozenset(await values_of(replace(quantity, measured=None)))
    return Shown(schema, quantity, values, measured)


def _things(outcome: Outcome) -> list[Term]:
    if outcome.query.result is not Result.ENTITIES:
        return []
    cells = [row.get(outcome.query.variable) for row in outcome.results["results"]["bindings"][:_SHOWN]]
    return [Term(NamedNode(cell["value"]), "") for cell in cells if cell and cell["type"] == "uri"]


def plain_answer(results: Mapping[str, Any], find: FindTerm) -> str:
    """Return what a query without a plan found: its first column; `find` gives the term of an IRI."""
    if "boolean" in results:
        return "Yes." if results["boolean"] else "No."
    rows = rows_of(results)
    counted = f"The query gives {len(rows):,} row{'' if len(rows) == 1 else 's'}"
    cells = [row[name] for row in rows for name in results["head"]["vars"][:1] if name in row]
    terms = [find(cell["value"]) if cell["type"] == "uri" else None for cell in cells[:_SHOWN]]
    names = [cell["value"] if term is None else term.words for term, cell in zip(terms, cells, strict=False)]
    more = f" and {len(cells) - _SHOWN:,} more" if len(cells) > _SHOWN else ""
    return f"{counted}: {', '.join(names)}{more}." if names else f"{counted}."


def draw_map(outcome: Outcome) -> dict[str, Any] | None:
    """Return a GeoJSON FeatureCollection (RFC 7946, CRS84), or None where the answer needs no map.

    Counts, plain values and entities without a geometry need none. A geometry that cannot be read is left
    out; its entity stays in the results.
    """
    query = outcome.query
    if query.result is not Result.ENTITIES:
        return None
    features = [feature for row in outcome.rows if (feature := _feature(query, row)) is not None]
    return {"type": "FeatureCollection", "features": features} if features else None


def _feature(query: Query, row: Mapping[str, Mapping[str, str]]) -> dict[str, Any] | None:
    from shapely.geometry import mapping

    from geo.formats.literals import parse_geometry

    term, wkt = row.get(query.variable), row.get("wkt")
    if term is None or wkt is None or "datatype" not in wkt:
        return None
    try:
        shape = parse_geometry(Literal(wkt["value"], datatype=NamedNode(wkt["datatype"])))
    except GeometryError:
        return None
    label = row["label"]["value"] if "label" in row else None
    values = {column: row[column]["value"] for column in query.columns if column in row}
    return {
        "type": "Feature",
        "id": term["value"],
        "geometry": mapping(shape),
        "properties": {"iri": term["value"], "label": label, **values},
    }
