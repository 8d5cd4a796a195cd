"""The answer as plain sentences, made only from the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ontology.labels import local_name
from sparql.ask.checking import CheckedPlan, Result
from sparql.ask.compiler import Query
from sparql.ask.plan import ASSUMED_NEAREST, Measure, Op
from sparql.ask.wording import (
    bound_words,
    describe,
    enumerate_labels,
    is_about_one,
    kilometers,
    measured_words,
    plural,
)

__all__ = ["count_of", "is_empty", "state_answer"]


def rows_of(results: Mapping[str, Any]) -> Sequence[Mapping[str, Mapping[str, str]]]:
    """Return the rows with a result; the row of an aggregate over nothing has none."""
    rows: Sequence[Mapping[str, Mapping[str, str]]] = results["results"]["bindings"]
    return [row for row in rows if row]


def count_of(query: Query, results: Mapping[str, Any]) -> int:
    """Return how many things were found: the count, else the number of rows."""
    rows = rows_of(results)
    if query.result is Result.NUMBER:
        return int(rows[0]["count"]["value"]) if rows and "count" in rows[0] else 0
    return sum(query.variable in row for row in rows)


def is_empty(query: Query, results: Mapping[str, Any]) -> bool:
    """Return whether nothing was found: no rows, or a count of zero."""
    return count_of(query, results) == 0


def labels_of(query: Query, results: Mapping[str, Any]) -> list[str]:
    """Return a name for each row: its label, else the literal, else the end of the IRI."""
    labels = []
    for row in rows_of(results):
        term = row.get(query.variable)
        if term is None:
            continue
        value = term["value"]
        name = local_name(value) if term["type"] == "uri" else value
        labels.append(row["label"]["value"] if "label" in row else name)
    return labels


def state_answer(plan: CheckedPlan, query: Query, results: Mapping[str, Any]) -> str:
    """Return sentences for what was found, including zero, and for assumed distances."""
    assumed = dict(query.assumed_km)
    number = count_of(query, results)
    if query.result is Result.NUMBER:
        sentence = _counted(plan, number, assumed)
    elif query.result is Result.MEASURES and number:
        sentence = _measured(plan, query, results)
    elif is_about_one(plan):
        words = _yes_no(plan, assumed)
        sentence = f"Yes: {words}." if number else f"The graph does not show that {words}."
    elif plan.steps[-1].step.op is Op.ENTITY:
        sentence = f"{describe(plan, assumed)} is in the graph."
    else:
        sentence = _listed(plan, query, labels_of(query, results), assumed)
    return " ".join([sentence, *_assumptions(plan, assumed)])


def _counted(plan: CheckedPlan, number: int, assumed: Mapping[int, float]) -> str:
    words = describe(plan, assumed, one=number == 1)
    if plan.steps[0].step.op is Op.ENTITY:
        return f"The graph has {number:,} for {words}."
    if number == 0:
        return f"The graph has no {words}."
    return f"There {'is' if number == 1 else 'are'} {number:,} {words} in the graph."


def _listed(plan: CheckedPlan, query: Query, labels: Sequence[str], assumed: Mapping[int, float]) -> str:
    words = describe(plan, assumed, one=len(labels) == 1)
    of_things = words.startswith(('"', "what "))
    if not labels:
        return f"The graph has {'nothing for' if of_things else 'no'} {words}."
    full = len(labels) >= query.limit
    number = f"{'at least ' if full else ''}{len(labels):,}"
    listed = enumerate_labels(labels) + (
        "." if not full else f". Only the first {query.limit:,} were fetched."
    )
    if not of_things:
        return f"The graph has {number} {words}: {listed}"
    return f"The graph gives {'' if len(labels) == 1 else f'{number} '}for {words}: {listed}"


def _measured(plan: CheckedPlan, query: Query, results: Mapping[str, Any]) -> str:
    """Return the measure of each thing: "Glass Museum is 1.2 km from Green Park."."""
    step = plan.steps[-1].step
    entity = step.entity.words if step.entity else ""
    sizes = [measured_words(step.measure, float(row["size"]["value"])) for row in rows_of(results)]
    labels = labels_of(query, results)
    if len(labels) > 1:
        each = [f"{label}, {size}" for label, size in zip(labels, sizes, strict=True)]
        return f"The graph gives for {describe(plan, {})}: {enumerate_labels(each)}."
    ends = {
        Measure.DISTANCE: f"is {sizes[0]} from {entity}",
        Measure.AREA: f"covers {sizes[0]}",
        Measure.LENGTH: f"is {sizes[0]} long",
    }
    return f"{labels[0]} {ends[step.measure or Measure.DISTANCE]}."


def _yes_no(plan: CheckedPlan, assumed: Mapping[int, float]) -> str:
    """Return the conditions on one thing as a clause: "Central Park is in Manhattan"."""
    parts = []
    for number, checked in enumerate(plan.steps[1:], 2):
        step = checked.step
        entity = step.entity.words if step.entity else ""
        km = kilometers(assumed.get(number) or step.km or 0)
        relation = step.property_.words if step.property_ else ""
        class_ = step.class_.words if step.class_ else ""
        related = f'is the "{relation}" of {entity}' if checked.inverse else f'has "{relation}" {entity}'
        clauses = {
            Op.FIND: f"is one of the {plural(class_)}",
            Op.WITHIN: f"is in {entity}",
            Op.NEAR: f"is within {km} of {entity}",
            Op.TOUCHES: f"borders {entity}",
            Op.DIRECTION: f"is {step.side} of {entity}",
            Op.RELATE: related,
            Op.COMPARE: f"{'was' if checked.dated else 'has'} {bound_words(checked)}",
        }
        parts.append(clauses[step.op])
    subject = plan.steps[0].step.entity
    return f"{subject.words if subject else ''} {' and '.join(parts)}"


def _assumptions(plan: CheckedPlan, assumed: Mapping[int, float]) -> list[str]:
    sentences = []
    for number, km in assumed.items():
        entity = plan.steps[number - 1].step.entity
        words = entity.words if entity else "it"
        sentences.append(f"The question gives no distance, so near {words} was taken as {kilometers(km)}.")
    if any(checked.step.k == 0 for checked in plan.steps):
        sentences.append(f"The question gives no number, so the {ASSUMED_NEAREST} nearest are given.")
    return sentences
