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
