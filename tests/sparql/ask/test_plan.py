"""The plan language: its schema, reading a reply, and whether the steps fit each other."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from outlines_core.fsm.json_schema import build_regex_from_schema
from pyoxigraph import NamedNode

from ontology import Schema
from sparql.ask.checking import CheckedPlan, Result, check_plan
from sparql.ask.errors import PlanError
from sparql.ask.plan import Choice, Choices, plan_schema, read_plan

T = "https://example.org/town#"


def term(name: str) -> NamedNode:
    return NamedNode(T + name)


CHOICES = Choices(
    names={
        "Northside": Choice("Northside", term("north"), frozenset({term("Borough")})),
        "Ada": Choice("Ada", term("ada"), frozenset({term("Architect")})),
        "Glass Museum": Choice("Glass Museum", term("glass"), frozenset({term("ArtMuseum")})),
    },
    classes={words: Choice(words, term(words.title())) for words in ("museum", "person", "festival")},
    properties={
        words: Choice(words, term(name))
        for words, name in (("designed by", "designedBy"), ("opened", "opened"), ("taught by", "taughtBy"))
    },
)

EVERY_STEP = [
    {"op": "entity", "name": "Northside"},
    {"op": "find", "class": "NONE"},
    {"op": "relate", "property": "designed by"},
    {"op": "relate", "property": "designed by", "to": "Ada"},
    {"op": "within", "of": "Northside"},
    {"op": "near", "of": "Northside", "km": 1.5},
    {"op": "touches", "of": "Northside"},
    {"op": "count"},
]


def read(*steps: object) -> Any:
    return read_plan(json.dumps({"steps": list(steps)}), CHOICES)


def check(schema: Schema, *steps: object) -> CheckedPlan:
    return check_plan(read(*steps), schema)


def test_the_schema_is_in_the_dialect_of_tgi_and_admits_every_step() -> None:
    grammar = build_regex_from_schema(json.dumps(plan_schema(CHOICES)))
    assert re.fullmatch(grammar, json.dumps({"steps": EVERY_STEP}))
    assert not re.fullmatch(grammar, json.dumps({"steps": [{"op": "find", "class": "zoo"}]}))
    assert not re.fullmatch(grammar, json.dumps({"steps": []}))


def test_the_schema_works_with_nothing_to_choose_and_with_odd_names() -> None:
    odd = 'a "quoted" {brace} [x](y)* name'
    choices = Choices(names={odd: Choice(odd, term("odd"))})
    grammar = build_regex_from_schema(json.dumps(plan_schema(choices)))
    assert re.fullmatch(grammar, json.dumps({"steps": [{"op": "entity", "name": odd}]}))
    assert re.fullmatch(grammar, json.dumps({"steps": [{"op": "find", "class": "NONE"}]}))


def test_a_plan_reads_back_as_it_was_written_with_the_iris_beside_the_words() -> None:
    plan = read(*EVERY_STEP)
    written = plan.as_json()
    assert [{k: v for k, v in step.items() if k != "iris"} for step in written] == EVERY_STEP
    assert written[3]["iris"] == {"property": T + "designedBy", "to": T + "ada"}


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("find the museums", "not JSON"),
        ("[]", "must be"),
        ('{"steps": []}', "one to 8"),
        ('{"steps": [{"op": "dance"}]}', "Step 1"),
        ('{"steps": [{"op": "find"}]}', "takes class"),
        ('{"steps": [{"op": "find", "class": "zoo"}]}', "museum; person"),
        ('{"steps": [{"op": "find", "class": "museum", "of": "Northside"}]}', "takes class"),
        ('{"steps": [{"op": "near", "of": "Northside", "km": "2"}]}', "number"),
        ('{"steps": [{"op": "near", "of": "Northside", "km": -1}]}', "between 0"),
        ('{"steps": [{"op": "near", "of": "Northside", "km": NaN}]}', "number"),
        ('{"steps": [{"op": "entity", "name": ["Northside"]}]}', "must be one of"),
    ],
)
def test_a_reply_outside_the_plan_language_is_refused_with_the_mend(reply: str, message: str) -> None:
    with pytest.raises(PlanError, match=re.escape(message)):
        read_plan(reply, CHOICES)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([{"op": "count"}], "first step"),
        ([{"op": "find", "class": "museum"}, {"op": "count"}, {"op": "count"}], 'follow "count"'),
        ([{"op": "find", "class": "museum"}, {"op": "entity", "name": "Ada"}], "only the first"),
        ([{"op": "find", "class": "person"}, {"op": "within", "of": "Northside"}], "no place on the map"),
        ([{"op": "find", "class": "museum"}, {"op": "near", "of": "Ada", "km": 1}], '"Ada" has no place'),
        ([{"op": "find", "class": "festival"}, {"op": "relate", "property": "designed by"}], "does not fit"),
        ([{"op": "find", "class": "person"}, {"op": "relate", "property": "opened"}], "does not fit"),
        (
            [{"op": "find", "class": "museum"}, {"op": "relate", "property": "opened", "to": "Ada"}],
            'takes no "to"',
        ),
        (
            [
                {"op": "find", "class": "museum"},
                {"op": "relate", "property": "opened"},
                {"op": "within", "of": "Northside"},
            ],
            "only be counted",
        ),
        ([{"op": "entity", "name": "Northside"}, {"op": "find", "class": "person"}], "cannot give"),
    ],
)
def test_steps_that_do_not_fit_each_other_are_refused_with_the_reason(
    schema: Schema, steps: list[object], message: str
) -> None:
    with pytest.raises(PlanError, match=re.escape(message)):
        check(schema, *steps)


def test_the_class_of_the_thing_tells_in_which_direction_a_property_is_read(schema: Schema) -> None:
    relate = {"op": "relate", "property": "designed by"}
    forward = check(schema, {"op": "entity", "name": "Glass Museum"}, relate)
    backward = check(schema, {"op": "entity", "name": "Ada"}, relate)
    assert [plan.steps[1].inverse for plan in (forward, backward)] == [False, True]
    assert forward.steps[1].classes == (frozenset({term("Person")}),)
    assert backward.steps[1].classes == (frozenset({term("Site")}),)
    kept = check(schema, {"op": "find", "class": "museum"}, {**relate, "to": "Ada"})
    assert not kept.steps[1].inverse
    assert kept.steps[1].classes == (frozenset({term("Museum")}),)


def test_a_property_between_things_of_one_class_is_read_forwards(schema: Schema) -> None:
    plan = check(schema, {"op": "entity", "name": "Ada"}, {"op": "relate", "property": "taught by"})
    assert not plan.steps[1].inverse


def test_what_a_plan_yields_is_known_before_it_runs(schema: Schema) -> None:
    museum = {"op": "find", "class": "museum"}
    assert check(schema, museum).result is Result.ENTITIES
    assert check(schema, museum, {"op": "relate", "property": "opened"}).result is Result.VALUES
    assert check(schema, museum, {"op": "count"}).result is Result.NUMBER
