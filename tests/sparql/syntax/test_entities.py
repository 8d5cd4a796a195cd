"""Entities of RDF/XML: short ones are used, as editors write them; none takes memory or reaches out."""

import io
from typing import IO, cast

import pyoxigraph
import pytest
from pyoxigraph import RdfFormat

from sparql.model.errors import PayloadProblem
from sparql.syntax.nesting import ShallowFile

BODY = (
    '<?xml version="1.0"?><!DOCTYPE rdf:RDF [{declared}]>'
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://example.org/">'
    '<rdf:Description rdf:about="http://example.org/a"><e:p>{used}</e:p></rdf:Description></rdf:RDF>'
)


def values(declared: str, used: str) -> list[str]:
    content = io.BytesIO(BODY.format(declared=declared, used=used).encode())
    guarded = cast("IO[bytes]", ShallowFile(cast("IO[bytes]", content), RdfFormat.RDF_XML))
    found = pyoxigraph.parse(guarded, format=RdfFormat.RDF_XML, base_iri="http://example.org/")
    return [str(quad.object.value) for quad in found if hasattr(quad.object, "value")]


def test_short_entities_are_used() -> None:
    declared = '<!ENTITY base "http://example.org/"><!ENTITY amount "4 &#38; 2">'
    assert values(declared, "&base;x") == ["http://example.org/x"]


@pytest.mark.parametrize("used", ["&l8;", "none"])
def test_entities_that_name_one_another_are_refused_where_they_are_declared(used: str) -> None:
    declared = '<!ENTITY l0 "lollollollol">'
    declared += "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 9))
    with pytest.raises(PayloadProblem, match="stands for more than"):
        values(declared, used)


def test_a_long_entity_is_refused() -> None:
    with pytest.raises(PayloadProblem, match="stands for more than"):
        values(f'<!ENTITY long "{"x" * 5000}">', "&long;" * 100)


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY leak SYSTEM "file:///etc/hostname">',
        '<!ENTITY leak PUBLIC "x" "http://127.0.0.1:9/x">',
        '<!ENTITY % leak SYSTEM "http://127.0.0.1:9/x">',
        '<!ENTITY % leak "x">',
    ],
)
def test_an_entity_of_another_file_is_refused(declared: str) -> None:
    with pytest.raises(PayloadProblem, match="is not written out"):
        values(declared, "none")


@pytest.mark.parametrize("context", ["http://127.0.0.1:9/context", "file:///etc/hostname"])
def test_a_context_of_json_ld_elsewhere_is_refused(context: str) -> None:
    text = f'{{"@context": "{context}", "@id": "http://example.org/a", "p": 1}}'
    with pytest.raises(SyntaxError, match="context"):
        list(pyoxigraph.parse(text, format=RdfFormat.JSON_LD))
