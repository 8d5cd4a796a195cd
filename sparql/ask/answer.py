"""What is reported of a plan's results: sentences made only from them, a map, or what is missing.

Missing is a word, a name, a term of the ontology, or data. Each gap is also a missing triple, with "?" for
its unknown parts, so that it can be completed later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from itertools import takewhile
from typing import Any, Final

from pyoxigraph import Literal, NamedNode

from geo.errors import GeometryError
from ontology import Schema
from sparql.ask.linking.linker import LinkedQuestion
from sparql.ask.linking.readings import ClassName, EntityName, PropertyName
from sparql.ask.linking.summary import RunQuery
from sparql.ask.linking.words import Token
from sparql.ask.plan.json_form import FindTerm
from sparql.ask.plan.nodes import UNKNOWN, Compiler, Coverage, Node, Plan, Quantity, Set, Shown, nodes_of
from sparql.ask.plan.quantities import Arithmetic, CountOf, DistanceTo, SizeOf, ValueOf
from sparql.ask.plan.questions import Aggregation, Count, Difference, List, Values
from sparql.ask.plan.sets import (
    And,
    Compare,
    CompareTo,
    Kind,
    Minus,
    Named,
    Near,
    Or,
    PlaceLink,
    PropertyLink,
    Related,
    SideOf,
    Top,
    conjunction,
    parts_of_set,
)
from sparql.ask.plan.sparql import Outcome, Query, Result, rows_of
from sparql.ask.plan.terms import Place, QuantityKind, Term, enumerate_labels, kilometers
from sparql.ask.plan.typing import Typing
from sparql.model.vocabulary import XSD

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


_SURE: Final = 0.3


class GapKind(StrEnum):
    """What is missing: an entity, a term of the ontology, a statement in the graph, or a choice."""

    ENTITY = "entity"
    SCHEMA = "schema"
    DATA = "data"
    AMBIGUOUS = "ambiguous"


@dataclass(frozen=True)
class Gap:
    """One thing that is missing, as a sentence and as a triple; `step` is a plan's step, 0 for none."""

    kind: GapKind
    message: str
    step: int = 0
    subject: str = UNKNOWN
    property: str = UNKNOWN
    object: str = UNKNOWN

    def as_json(self) -> dict[str, Any]:
        """Return the gap as a JSON object."""
        return {**asdict(self), "kind": self.kind.value}


def word_gaps(linked: LinkedQuestion, words: Sequence[Token]) -> list[Gap]:
    """Return a gap for each run of words that no plan uses: a name, or a word for a class or property."""
    return [_word_gap(run, linked) for run in _runs(linked.tokens, words)]


def _word_gap(run: Sequence[Token], linked: LinkedQuestion) -> Gap:
    words = linked.text[run[0].start : run[-1].end]
    is_name = any(token.raw[:1].isupper() for token in run) and run[0] is not linked.tokens[0]
    known = next(_named_by(run, linked), None)
    if known is not None:
        message = f"I know {known.words}, but no query that fits all words of the question. Say it otherwise."
        return Gap(GapKind.SCHEMA, message, 0, known.words)
    declared = None if is_name else _property_of(run, linked)
    if declared is not None:
        message = (
            f'The ontology has "{declared.words}", but the graph has no statement of it that fits all words '
            "of the question. Say it otherwise, or add the statement."
        )
        return Gap(GapKind.DATA, message, 0, _subject_of(linked), declared.words)
    if is_name:
        words = linked.text[run[0].start : _end_of_name(run[-1], linked.tokens).end]
        message = f"I did not use: {words}. No entity of the graph has this name. Check it, or add it."
        return Gap(GapKind.ENTITY, message, 0, words)
    message = (
        f"I did not use: {words}. Nothing in the graph or ontology stands for it here. Say it otherwise."
    )
    return Gap(GapKind.SCHEMA, message, 0, UNKNOWN, words)


def _property_of(run: Sequence[Token], linked: LinkedQuestion) -> Term | None:
    """The property of the ontology that just these words name best."""
    found = [
        (reading.cost, reading.meaning.term)
        for reading in linked.readings
        if isinstance(reading.meaning, PropertyName)
        and reading.cost <= _SURE
        and list(linked.tokens[reading.start : reading.end]) == list(run)
    ]
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _subject_of(linked: LinkedQuestion) -> str:
    """The one thing that a question names and that is not only where its things are; "?" for several."""
    meanings = [reading.meaning for reading in linked.names]
    named = {meaning.term.words for meaning in meanings if isinstance(meaning, EntityName)}
    of_kinds = any(isinstance(reading.meaning, ClassName) for reading in linked.readings)
    return named.pop() if len(named) == 1 and not of_kinds else UNKNOWN


def _end_of_name(last: Token, tokens: Sequence[Token]) -> Token:
    """The last capitalized word of a name: of "Mirror Palace" a plan may use "Palace" alone, as a class."""
    following = takewhile(lambda token: token.raw[:1].isupper(), tokens[tokens.index(last) + 1 :])
    return [last, *following][-1]


def _named_by(run: Sequence[Token], linked: LinkedQuestion) -> Iterator[Term]:
    """The entities that just these words name; an article may be before them."""
    for reading in linked.readings:
        words = list(linked.tokens[reading.start : reading.end])
        if isinstance(reading.meaning, EntityName) and words[-len(run) :] == list(run):
            yield reading.meaning.term


def _runs(tokens: Sequence[Token], words: Sequence[Token]) -> Iterator[list[Token]]:
    run: list[Token] = []
    for token in tokens:
        if token in words:
            run.append(token)
        elif run:
            yield run
            run = []
    if run:
        yield run


async def data_gap(plan: Plan, compiler: Compiler, typing: Typing, run_query: RunQuery) -> Gap:
    """Find the first condition after which nothing is left, by an ASK for each beginning of the plan."""
    for node in nodes_of(plan):
        entity = _place_of(node)
        if entity is not None and not await _holds(run_query, compiler.has_geometry(entity, typing)):
            words = entity.words
            message = f"{words} has no geometry in the graph, so nothing can be found near it. Add one."
            return Gap(GapKind.DATA, message, 0, words, "has geometry", UNKNOWN)
    if isinstance(plan, Difference):
        for end in (plan.left, plan.right):
            if not await _holds(run_query, compiler.has_value(end, plan.quantity, typing)):
                return _no_value(end, plan.quantity)
    parts = parts_of_set(plan.about())
    for number in range(1, len(parts) + 1):
        if not await _holds(run_query, compiler.exists(conjunction(parts[:number]), typing)):
            # That there is no architect at all is less exact than that the museum has none.
            of_names = [part for part in parts if _is_link_to_name(part)]
            shown = of_names[:1] if isinstance(parts[number - 1], Kind) else []
            return _empty_part(shown or parts[:number], number)
    if isinstance(plan, Values | Aggregation):
        return _no_value(plan.about(), plan.quantity)
    return Gap(GapKind.DATA, "The result is empty.", len(parts))


def _is_link_to_name(node: Set) -> bool:
    return isinstance(node, Related) and isinstance(node.link, PropertyLink) and isinstance(node.to, Named)


def _no_value(node: Set, quantity: Quantity) -> Gap:
    message = f"Not recorded: {quantity.unknown(node.phrase())}."
    return Gap(GapKind.DATA, message, 1, node.phrase(), quantity.words, UNKNOWN)


def _empty_part(parts: Sequence[Set], number: int) -> Gap:
    part = parts[-1]
    # What is shown may be reading part alone, for the second of a plan.
    before = conjunction(parts[:-1] or parts).phrase() if number > 1 else ""
    subject, relation, object_, message = part.missing(before)
    if not message:
        message = f"The graph has nothing for {part.phrase()}."
        if before:
            message = f"The graph has {before}, but none {part.restriction()}."
    return Gap(GapKind.DATA, message, number, subject, relation, object_)


def _place_of(node: Node) -> Term | None:
    """Return the place whose geometry a node needs."""
    of = node.of if isinstance(node, Near | SideOf) else node.to if isinstance(node, DistanceTo) else None
    return of.name() if of is not None else None


async def unknown_gap(plan: Plan, compiler: Compiler, typing: Typing, run_query: RunQuery) -> Gap | None:
    """Return why an empty result tells nothing: of none of the things compared the quantity is known."""
    coverage = await find_coverage(plan, compiler, typing, run_query)
    if coverage is None:
        return None
    quantity = coverage.quantity
    unknown = [coverage.set] if coverage.of and not coverage.known else []
    for node in nodes_of(plan):
        if isinstance(node, CompareTo) and not await _holds(
            run_query, compiler.has_value(node.to, quantity, typing)
        ):
            unknown.append(node.to)
    if not unknown:
        return None
    of = unknown[0].phrase()
    message = f"Not recorded: {quantity.unknown(of)}."
    if quantity.measures is not None:
        message = f"{message} It cannot be measured either, without a geometry that has a size."
    return Gap(GapKind.DATA, message, 1, of, quantity.words, UNKNOWN)


async def first_unrecorded(node: Set, compiler: Compiler, typing: Typing, run_query: RunQuery) -> Set | None:
    """Return the first condition that the graph records nothing about for the subject, None for none.

    A class is closed, and so is what is computed from geometry that both ends have. A property is known for
    a subject that has any value of it.
    """
    head, *rest = (node.set, node.without) if isinstance(node, Minus) else parts_of_set(node)
    for part in rest:
        for condition in part.sets if isinstance(part, And | Or) else (part,):
            for group in condition.recorded(head, compiler, typing):
                if all([await _holds(run_query, query) for query in group]):
                    break
            else:
                return condition
    return None


async def _holds(run_query: RunQuery, query: str) -> bool:
    return bool((await run_query(query)).get("boolean"))


def is_settled(plan: Plan, typing: Typing) -> bool:
    """Return whether an empty result is the answer: places are computed, and all dates are recorded."""
    return is_closed(plan, typing) and not any(isinstance(node, PropertyLink) for node in nodes_of(plan))


def is_closed(plan: Plan, typing: Typing) -> bool:
    """Return whether the graph records the properties of an empty result at all, so that there are none."""
    nodes = list(nodes_of(plan))
    kinds = [node for node in nodes if isinstance(node, Kind)]
    if not kinds and not isinstance(plan, Count):
        return False
    if any(isinstance(node, Top) for node in nodes):
        return False
    # A date with a month may be missed only because the graph has years.
    if any(isinstance(node, Compare) and node.value.datatype == XSD.gYearMonth for node in nodes):
        return False
    # "In Queens and in Brooklyn" may mean either of them: that nothing is in both is no answer.
    inside = [n.to for n in nodes if isinstance(n, Related) and n.link == PlaceLink(Place.WITHIN)]
    if sum(isinstance(to, Named) for to in inside) > 1 and not any(isinstance(n, Minus) for n in nodes):
        return False
    # A point has no border: that none touches or crosses is not known.
    if any(not _has_extent(node, typing) for node in nodes if isinstance(node, And)):
        return False
    links = [node.property.iri for node in nodes if isinstance(node, PropertyLink)]
    # Of a class without members nothing is known.
    if any(typing.of(kind) is None for kind in kinds):
        return False
    values = [term.iri for node in nodes if isinstance(node, ValueOf) for term in node.path]
    return all(typing.edges(iri) for iri in links) and all(
        typing.is_recorded(iri, typing.of(kind)) for iri in values for kind in kinds[:1]
    )


def _has_extent(node: And, typing: Typing) -> bool:
    """Whether things of the kinds that are to touch or cross others have shapes that can."""
    kinds = [typing.of(part) for part in node.sets if isinstance(part, Kind)]
    meets = {PlaceLink(Place.TOUCHES): typing.touching, PlaceLink(Place.OVERLAPS): typing.crossing}
    for part in node.sets:
        if isinstance(part, Related) and part.link in meets:
            there = typing.of(part.to)
            if not all(meets[part.link](kind, there) for kind in kinds):
                return False
    return True
