"""The type check of plans that a person or a model wrote."""

from __future__ import annotations

import pytest

from sparql.ask.errors import PlanError
from sparql.ask.linking.linker import TermFinder
from sparql.ask.plan.json_form import read_plan
from tests.sparql.ask.conftest import City

GLASS = {"op": "named", "entity": "Glass Museum"}
ADA = {"op": "named", "entity": "Ada Quill"}
MUSEUM = {"op": "kind", "of": "museum"}
OPENED = {"op": "value of", "path": ["opened"]}


def related(link: object, to: object) -> dict[str, object]:
    return {"op": "related", "link": link, "to": to}


DESIGNED = {"op": "property link", "property": "designed by"}
WITHIN = {"op": "place link", "place": "within"}
PARK = {"op": "kind", "of": "park"}
SIZE = {"op": "size of", "size": "area"}
MUSEUMS_IN_IT = {"op": "count of", "link": {"op": "place link", "place": "contains"}, "set": MUSEUM}
NORTHEAST = {"op": "position", "side": "northeast"}
SUM = {"op": "arithmetic", "operation": "plus"}


def compared(quantity: object, test: str, value: str) -> dict[str, object]:
    return {"op": "compare", "quantity": quantity, "test": test, "value": value}


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (
            {"op": "list", "set": {"op": "and", "sets": [MUSEUM, {"op": "kind", "of": "architect"}]}},
            'cannot be "architect"',
        ),
        ({"op": "list", "set": related(WITHIN, ADA)}, "has no place on the map"),
        ({"op": "list", "set": related(DESIGNED, GLASS)}, '"designed by" does not lead to "art museum"'),
        ({"op": "list", "set": {"op": "near", "of": ADA, "meters": 5}}, "has no geometry"),
        ({"op": "values", "quantity": OPENED, "set": ADA}, "has no such value"),
        (
            {"op": "aggregation", "aggregate": "sum", "quantity": OPENED, "set": MUSEUM},
            '"sum" needs a quantity of numbers',
        ),
        (
            {"op": "every", "set": MUSEUM, "within": compared(SIZE, "equal", "1960-05")},
            '"1960-05" is no number',
        ),
        (
            {"op": "count", "set": related(WITHIN, compared(SIZE, "more", "0) } #"))},
            '"0) } #" is no number',
        ),
        ({"op": "count", "set": compared(MUSEUMS_IN_IT, "more", "two")}, '"two" is no number'),
        ({"op": "list", "set": {"op": "top", "set": PARK, "quantity": NORTHEAST, "most": True}}, "position"),
        (
            {"op": "values", "quantity": {**SUM, "left": OPENED, "right": SIZE}, "set": MUSEUM},
            '"opened" is no number',
        ),
    ],
)
async def test_what_does_not_fit_is_refused_in_words(city: City, plan: object, words: str) -> None:
    _, context = await city.link("museum")
    with pytest.raises(PlanError) as refused:
        read_plan(plan, TermFinder(city.schema, city.labels, city.summary).find).check(context.typing)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "plan",
    [
        {"op": "count", "set": {"op": "and", "sets": [MUSEUM, related(DESIGNED, ADA)]}},
        {"op": "list", "set": related({**DESIGNED, "inverse": True}, GLASS)},
        {"op": "values", "quantity": {"op": "distance to", "to": GLASS}, "set": {"op": "kind", "of": "park"}},
        {"op": "list", "set": {"op": "lacking", "set": MUSEUM, "property": "opened"}},
    ],
)
async def test_what_fits_is_compiled_and_run(city: City, plan: object) -> None:
    result = await city.asker().run(plan=plan)
    assert result.sparql is not None
    assert result.results is not None
    assert result.answer is not None


@pytest.mark.parametrize(
    "plan",
    [
        {"op": "aggregation", "aggregate": "count", "quantity": {"op": "class of"}, "set": MUSEUM},
        {
            "op": "difference",
            "quantity": {"op": "distance to", "to": GLASS},
            "left": PARK,
            "right": GLASS,
        },
        {"op": "aggregation", "aggregate": "most", "quantity": SIZE, "set": MUSEUM},
    ],
)
async def test_what_has_no_value_is_answered_or_reported_as_missing(city: City, plan: object) -> None:
    result = await city.asker().run(plan=plan)
    assert (result.answer is None) == bool(result.gaps)
