"""The words of the form: what is asked, and what an answer says."""

from __future__ import annotations

from extractors.models.chat import NONE
from extractors.readers.form import Field, answer, field_of, opening, read_answer
from ontology.schema import Schema
from tests.support.scripted import ONTOLOGY, urban


def test_a_field_shows_its_relation_with_domain_and_range() -> None:
    assert Field("director", "film", "person").heading == "director (film > person):"


def test_a_field_shows_the_side_that_is_known() -> None:
    assert Field("opened", "place").heading == "opened (place):"
    assert Field("director", "", "person").heading == "director (> person):"
    assert Field("is a").heading == "is a:"


def test_names_in_camel_case_are_shown_as_words() -> None:
    assert Field("birthPlace", "CityPerson", "Place").heading == "birth place (city person > Place):"


def test_a_property_shows_its_classes_and_the_kind_of_its_values() -> None:
    schema = Schema.load(ONTOLOGY)
    opened = field_of(schema, schema.properties[urban("opened")])
    assert (opened.label, opened.range) == ("opened", "date")
    assert field_of(schema, schema.properties[urban("population")]).range == "number"
    assert field_of(schema, schema.properties[urban("bornIn")]) == Field("born in", "person", "place")


def test_an_answer_is_read_as_it_is_written() -> None:
    pairs = [("Old Mill", "1921"), ("Old Mill", "Ashford")]
    assert read_answer(answer(pairs)) == tuple(pairs)


def test_no_pairs_are_written_as_none_and_none_is_no_pair() -> None:
    assert answer([]) == NONE
    assert read_answer(NONE) == ()


def test_a_line_without_both_ends_is_passed_over() -> None:
    assert read_answer(" Old Mill |\n| 1921\nOld Mill | 1921\nOld Mill | 1921") == (("Old Mill", "1921"),)


def test_the_opening_is_one_line_whatever_the_text_is() -> None:
    assert opening("The Old\n Mill  opened. ") == "Text: The Old Mill opened.\n"
