"""Plans as JSON."""

from __future__ import annotations

import json

import pytest
from pyoxigraph import Literal, NamedNode

from sparql.ask.errors import PlanError
from sparql.ask.plan.json_form import as_json, read_plan
from sparql.ask.plan.nodes import Plan
from sparql.ask.plan.quantities import CountOf, ValueOf
from sparql.ask.plan.questions import Count, Group, List
from sparql.ask.plan.sets import And, Compare, Kind, Minus, Named, Near, PlaceLink, PropertyLink, Related, Top
from sparql.ask.plan.terms import Op, Place, Term

MUSEUM = Term(NamedNode("http://e/Museum"), "museum")
TOWN = Term(NamedNode("http://e/town"), "Town")
OPENED = Term(NamedNode("http://e/opened"), "opened")
TERMS = {term.words: term for term in (MUSEUM, TOWN, OPENED)} | {
    term.iri.value: term for term in (MUSEUM, TOWN, OPENED)
}
INSIDE = Related(PlaceLink(Place.WITHIN), Named(TOWN))


@pytest.mark.parametrize(
    "plan",
    [
        List(And((Kind(MUSEUM), INSIDE))),
        Count(Minus(Kind(MUSEUM), Related(PropertyLink(OPENED, True), Near(Named(TOWN), 500, True)))),
        List(Top(Kind(MUSEUM), CountOf(PlaceLink(Place.CONTAINS), Kind(MUSEUM)), False, 3, 2)),
        List(Compare(ValueOf((OPENED,)), Op.AT_LEAST, Literal("1900"))),
        Group(Kind(TOWN), PlaceLink(Place.CONTAINS), Kind(MUSEUM)),
    ],
)
def test_a_plan_is_read_as_it_was_written(plan: Plan) -> None:
    written = json.loads(json.dumps(as_json(plan)))
    assert read_plan(written, TERMS.get) == plan


def test_terms_may_be_written_as_words_and_defaults_left_out() -> None:
    message = {"op": "list", "set": {"op": "top", "set": {"op": "kind", "of": "museum"}, "most": True}}
    message["set"]["quantity"] = {"op": "value of", "path": ["opened"]}  # type: ignore[index]
    assert read_plan(message, TERMS.get) == List(Top(Kind(MUSEUM), ValueOf((OPENED,)), True))


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ([], 'the plan needs an "op"'),
        ({"op": "museum"}, "one of: aggregation; "),
        ({"op": "list"}, "missing: set"),
        ({"op": "list", "set": {"op": "kind", "of": "museum"}, "more": 1}, "unknown: more"),
        ({"op": "list", "set": {"op": "kind", "of": "castle"}}, "have no 'castle'"),
        ({"op": "list", "set": {"op": "and", "sets": []}}, "at least one member"),
        ({"op": "list", "set": {"op": "count", "set": {}}}, '"set" of "list" needs an "op"'),
        ({"op": "list", "set": {"op": "near", "of": {"op": "kind", "of": "museum"}, "meters": True}}, "int"),
    ],
)
def test_a_message_says_what_to_write_instead(message: object, words: str) -> None:
    with pytest.raises(PlanError) as refused:
        read_plan(message, TERMS.get)
    assert words in str(refused.value)


def test_a_plan_that_is_nested_too_deep_is_refused() -> None:
    node: dict[str, object] = {"op": "kind", "of": "museum"}
    for _ in range(40):
        node = {"op": "minus", "set": node, "without": {"op": "kind", "of": "museum"}}
    with pytest.raises(PlanError, match="nested"):
        read_plan({"op": "list", "set": node}, TERMS.get)
