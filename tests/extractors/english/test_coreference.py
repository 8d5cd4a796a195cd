"""Pronouns and descriptions: resolved where the text is plain, left alone where it is not."""

import pytest

from extractors.candidates import NOT_A_NAME, NOT_IN_TEXT, RDF_TYPE
from ontology.schema import Schema
from tests.support.scripted import ScriptedModel, reply, small_pipeline, urban, xsd

Row = tuple[str, str, str]
UNIVERSITY: Row = ("Columbia University", "is a", "university")


async def owner(schema: Schema, text: str, *rows: Row) -> str | None:
    """The name of the subject of the last row's statement; None when it was left unresolved."""
    found = await small_pipeline(schema, ScriptedModel(reply(rows), reply([]))).extract(text)
    last = found.candidates[-1]
    if any(problem.rule == NOT_A_NAME for problem in last.problems):
        return None
    return next(entity.label for entity in found.entities if entity.iri == last.subject)


@pytest.mark.parametrize(
    ("text", "rows", "name"),
    [
        ("Columbia University is a university in New York City. It was established in 1754.",
         [UNIVERSITY, ("It", "established", "1754")], "Columbia University"),
        ("Columbia University is a university. The university was established in 1754.",
         [UNIVERSITY, ("The university", "established", "1754")], "Columbia University"),
        ("Astor Park lies beside Bowery Hall. The park opened in 1902.",
         [("the park", "opened", "1902")], "Astor Park"),
        ("Ada Stone designed Elm Hall. She was born in Brooklyn.",
         [("Ada Stone", "is a", "person"), ("Elm Hall", "is a", "building"), ("She", "born in", "Brooklyn")],
         "Ada Stone"),
        ("Astor Park is old. Many people like it. It opened in 1902.",
         [("It", "opened", "1902")], "Astor Park"),
        ("In Manhattan, Astor Park is old. It opened in 1902.", [("It", "opened", "1902")], "Astor Park"),
    ],
)  # fmt: skip
async def test_what_is_plain_is_resolved(schema: Schema, text: str, rows: list[Row], name: str) -> None:
    assert await owner(schema, text, *rows) == name


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        # Two that fit.
        ("Astor Park adjoins Bowery Park. Elm Street crosses Astor Park. The park opened in 1902.",
         [("The park", "opened", "1902")]),
        ("Astor Park and Bowery Hall are old, but Astor Park is green, and it opened in 1902.",
         [("it", "opened", "1902")]),
        # Several things under one word.
        ("Astor Park is old. The parks opened in 1902.", [("The parks", "opened", "1902")]),
        ("Astor Park is old. They opened in 1902.", [("They", "opened", "1902")]),
        # A person is no thing, and a thing no person.
        ("Astor Park is old. He was born in Brooklyn.",
         [("Astor Park", "is a", "park"), ("He", "born in", "Brooklyn")]),
        # Nothing before it, another paragraph, nothing of that kind.
        ("It opened in 1902, and Astor Park followed.", [("It", "opened", "1902")]),
        ("Astor Park is old.\n\nIt opened in 1902.", [("It", "opened", "1902")]),
        ("Astor Park is old. The museum opened in 1902.", [("The museum", "opened", "1902")]),
    ],
)  # fmt: skip
async def test_what_is_open_is_left_for_a_person(schema: Schema, text: str, rows: list[Row]) -> None:
    assert await owner(schema, text, *rows) is None


async def test_the_quote_stays_where_the_pronoun_stands_and_the_name_keeps_its_own(schema: Schema) -> None:
    text = "Columbia University is a university. It was established in 1754."
    rows = [UNIVERSITY, ("It", "established", "1754")]
    found = await small_pipeline(schema, ScriptedModel(reply(rows))).extract(text)
    last = found.candidates[-1]
    assert (last.predicate, last.object, last.problems) == (urban("established"), xsd("1754", "gYear"), ())
    assert last.evidence is not None
    assert last.evidence.quote == "It was established in 1754"
    assert '"It"' in (last.reply or "")
    (entity,) = found.entities
    assert {mention.quote for mention in entity.mentions} == {"Columbia University"}


async def test_ends_that_are_not_in_the_text_are_marked_inferred(schema: Schema) -> None:
    text = "The Elm Hall was designed by Ada Stone."
    rows = [
        ("Elm Hall", "designed by", "Ada Stone"),
        ("Ada Stone", "is a", "person"),
        ("Elm Hall", "opened", "1902"),
    ]
    found = await small_pipeline(schema, ScriptedModel(reply(rows))).extract(text)
    by = {candidate.predicate: candidate for candidate in found.candidates}
    assert by[urban("designedBy")].inferred == ()
    assert (by[RDF_TYPE].inferred, by[RDF_TYPE].problems) == (("object",), ())
    assert by[urban("opened")].inferred == ("object",)
    assert [problem.rule for problem in by[urban("opened")].problems] == [NOT_IN_TEXT]
