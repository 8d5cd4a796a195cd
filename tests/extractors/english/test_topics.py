"""What "it" and "the museum" at the start of a sentence stand for, and what follows for a statement."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

from extractors.candidates import UNWORDED
from ontology.schema import Schema
from tests.support.scripted import ScriptedModel, reply, small_pipeline

ABOUT_THE_TOPIC = [
    ("Elm Museum is run by Oak Trust. It opened in 1901.", "Elm Museum"),
    ("Elm Museum is run by Oak Trust. It has a garden. It opened in 1901.", "Elm Museum"),
    ("Elm Museum is run by Oak Trust. The museum opened in 1901.", "Elm Museum"),
    ("Today, Elm Museum is run by Oak Trust. It also opened in 1901.", "Elm Museum"),
    ("In Norton lies Elm Museum. It opened in 1901.", "Elm Museum"),
    ("Ada Stone and Jo Reed planned Elm Museum. It opened in 1901.", "Elm Museum"),
]
ABOUT_ANOTHER = [
    ("Elm Museum is run by Oak Trust. It opened in 1901.", "Oak Trust"),
    ("Elm Museum is run by Oak Trust. It has a garden. It opened in 1901.", "Oak Trust"),
    ("Elm Museum lies in Norton Park. It opened in 1901.", "Norton Park"),
    ("Oak Trust paid for Ash Bridge. The tunnel opened in 1901.", "Ash Bridge"),
    ("The gate on Elm Street was opened in 1901.", "Elm Street"),
]


async def _problems(schema: Schema, text: str, subject: str) -> list[NamedNode]:
    model = ScriptedModel(reply([(subject, "opened", "1901")]))
    term = schema.find_property("opened")
    assert term is not None
    found = (await small_pipeline(schema, model).extract(text)).candidates
    (candidate,) = (one for one in found if one.predicate == term.iri)
    return [problem.rule for problem in candidate.problems]


@pytest.mark.parametrize(("text", "subject"), ABOUT_THE_TOPIC)
async def test_it_stands_for_what_the_text_is_about(schema: Schema, text: str, subject: str) -> None:
    assert await _problems(schema, text, subject) == []


@pytest.mark.parametrize(("text", "subject"), ABOUT_ANOTHER)
async def test_a_statement_about_what_is_only_mentioned_waits(
    schema: Schema, text: str, subject: str
) -> None:
    assert await _problems(schema, text, subject) == [UNWORDED]


async def test_nothing_is_concluded_across_paragraphs(schema: Schema) -> None:
    text = "Elm Museum is run by Oak Trust.\n\nIt opened in 1901."
    assert await _problems(schema, text, "Elm Museum") == []
