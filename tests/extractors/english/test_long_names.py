"""Names that go on over "and", "on" or "for"."""

from __future__ import annotations

import pytest

from extractors.english.units import capitalized_runs
from extractors.text.chunking import Span
from ontology.schema import Schema
from tests.support.scripted import ScriptedModel, reply, small_pipeline

NAMES = [
    (
        "It is run by the Norton Department of Parks and Recreation in Weston.",
        ["Norton Department of Parks and Recreation", "Weston"],
    ),
    ("We saw Elm Art Gallery and Museum and Oak Hall.", ["Elm Art Gallery and Museum", "Oak Hall"]),
    ("We saw Norton Museum and Art Gallery.", ["Norton Museum and Art Gallery"]),
    (
        "It is of the Elm States Commission on Higher Education.",
        ["Elm States Commission on Higher Education"],
    ),
    (
        "It is the Reed, Stone and Company Warehouse in Norton.",
        ["Reed, Stone and Company Warehouse", "Norton"],
    ),
    (
        "We saw the Museum of Science and Industry and Oak Park.",
        ["Museum of Science and Industry", "Oak Park"],
    ),
    ("It is the Hospital for Special Surgery.", ["Hospital for Special Surgery"]),
    ("It is of the Institute of Art, Design and Technology.", ["Institute of Art, Design and Technology"]),
    ("It is of the Port Authority of Norton and New Weston.", ["Port Authority of Norton and New Weston"]),
    ("We saw the University of Norton and Weston.", ["University of Norton", "Weston"]),
    ("We saw Elm Hall, Ash Park and the Oak Museum.", ["Elm Hall", "Ash Park", "Oak Museum"]),
    ("It is by Bo Young, Jr. and others.", ["Bo Young, Jr."]),
    ("It began in the 19th century in Norton.", ["Norton"]),
]


@pytest.mark.parametrize(("text", "names"), NAMES)
def test_a_name_is_as_long_as_it_is(text: str, names: list[str]) -> None:
    found = capitalized_runs(text, Span(0, len(text)))

    assert [text[one.start : one.end] for one in found] == names


async def test_a_name_that_a_model_cut_is_completed(schema: Schema) -> None:
    text = "Elm Park is run by the Department of Parks and Recreation."
    said = ("Elm Park", "operated by", "Department of Parks")

    extraction = await small_pipeline(schema, ScriptedModel(reply([said]))).extract(text)

    assert "Department of Parks and Recreation" in {entity.label for entity in extraction.entities}
    assert "Department of Parks" not in {entity.label for entity in extraction.entities}
