"""What the spans of a question may mean."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sparql.ask.linking.readings import ClassName, DateValue, EntityName, Number, PropertyName, TextValue
from tests.sparql.ask.conftest import City

C = "https://example.org/city/"


async def entities(city: City, question: str) -> set[str]:
    linked, _ = await city.link(question)
    found = [one.meaning for one in linked.names]
    return {m.term.iri.value.removeprefix(C) for m in found if isinstance(m, EntityName)}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who designed the Glass Museum?", {"glass"}),
        ("who designed the glass museum", {"glass"}),
        ("Who designed the Glasshouse?", {"glass"}),
        ("Who designed the Glass Musuem?", {"glass"}),
        ("What did Quill design?", {"ada"}),
        ("What happens at the Lights Festival?", {"lights"}),
        ("Which museums are in Northside and Southside?", {"north", "south"}),
        ("Which museums are in Atlantis?", set()),
    ],
)
async def test_names_are_found_in_the_forms_that_people_use(
    city: City, question: str, names: set[str]
) -> None:
    assert await entities(city, question) == names


async def test_parts_of_a_name_mean_nothing_else(city: City) -> None:
    linked, _ = await city.link("Where is the Clock Museum?")
    assert not any(isinstance(one.meaning, ClassName) for one in linked.readings)


async def test_classes_and_properties_are_found_by_label_and_synonym(city: City) -> None:
    linked, _ = await city.link("Which galleries opened?")
    found = {
        type(one.meaning): one.meaning.term.words for one in linked.readings if hasattr(one.meaning, "term")
    }
    assert found[ClassName] == "art museum"
    assert found[PropertyName] == "opened"


async def test_numbers_have_units_and_dates_are_as_precise_as_written(city: City) -> None:
    linked, _ = await city.link("within 1.5 km, half a mile, in the 1930s and in May 1935")
    numbers = {
        (float(m.value), m.unit) for m in (r.meaning for r in linked.readings) if isinstance(m, Number)
    }
    assert {(1.5, "KiloM"), (0.5, "MI")} <= numbers
    dates = {
        (m.value.value, m.last.value if m.last else None)
        for m in (r.meaning for r in linked.readings)
        if isinstance(m, DateValue)
    }
    assert dates == {("1930", "1939"), ("1935-05", None)}


async def test_a_text_of_the_graph_is_found_as_it_is_written(city_with: Callable[[str], City]) -> None:
    city = city_with('c:glass t:opened "Spring Week"')
    linked, _ = await city.link("Which museums opened in Spring Week?")
    texts = [one.meaning for one in linked.readings if isinstance(one.meaning, TextValue)]
    assert [(text.property.words, text.value.value) for text in texts] == [("opened", "Spring Week")]


async def test_words_without_a_reading_are_reported(city: City) -> None:
    linked, _ = await city.link("Which wooden museums are in Northside?")
    assert [token.raw for token in linked.unread] == ["wooden"]
