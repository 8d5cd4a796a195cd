"""Extracting without an ontology: free words, everything held for a person, the new words as proposals."""

import pytest

from extractors.candidates import HELD, RDFS_LABEL, UNKNOWN_TERM
from extractors.errors import OpenModeUnsupported
from extractors.prompting.methods import OPEN
from ontology.schema import Schema
from tests.support.scripted import ScriptedModel, pipeline, reply, urban

TEXT = "The Elm Hall is a glimmerfax in Manhattan that outshines the Astor House."
ROWS = [
    ("Elm Hall", "is a", "glimmerfax"),
    ("Elm Hall", "located in", "Manhattan"),
    ("Elm Hall", "outshines", "Astor House"),
]


async def test_the_model_is_offered_no_list_of_relations(schema: Schema) -> None:
    model = ScriptedModel(reply(ROWS), profile="full")
    await pipeline(schema, model).extract(TEXT, OPEN)
    messages, served, _ = model.asked[0]
    assert served is not None
    assert "enum" not in served["properties"]["triples"]["items"]["properties"]["relation"]
    assert "constructionStarted" not in str(messages)


async def test_every_statement_is_held_and_only_unknown_words_are_proposed(schema: Schema) -> None:
    found = await pipeline(schema, ScriptedModel(reply(ROWS), profile="full")).extract(TEXT, OPEN)
    assert found.method == "open"
    assert all(candidate.problems for candidate in found.candidates)
    for candidate in found.candidates:
        rules = [problem.rule for problem in candidate.problems]
        assert candidate.predicate == RDFS_LABEL or HELD in rules
        assert (candidate.proposal is not None) == (UNKNOWN_TERM in rules)
    assert urban("locatedIn") in {candidate.predicate for candidate in found.candidates}
    assert [c.proposal.words for c in found.candidates if c.proposal] == ["glimmerfax", "outshines"]


async def test_an_empty_ontology_opens_the_mode_by_itself_for_a_model_that_can() -> None:
    found = await pipeline(Schema.empty(), ScriptedModel(reply(ROWS), profile="full")).extract(TEXT)
    assert found.method == "open"
    assert {c.proposal.words for c in found.candidates if c.proposal} == {
        "glimmerfax",
        "located in",
        "outshines",
    }


async def test_the_embedded_model_says_that_it_cannot(schema: Schema) -> None:
    model = ScriptedModel(reply(ROWS), profile="compact")
    with pytest.raises(OpenModeUnsupported, match="model_url"):
        await pipeline(schema, model).extract(TEXT, OPEN)
    assert model.asked == []
