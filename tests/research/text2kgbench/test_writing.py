"""Dates as the benchmark's gold has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

from ontology import vocabulary as v
from research.text2kgbench.reading import read_test_set
from research.text2kgbench.run import as_datatype_writes, as_wikidata_writes, writing_of


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("May 4, 1959", "04 May 1959"),
        ("4 May 1959", "04 May 1959"),
        ("May 1959", "01 May 1959"),
        ("1959", "01 January 1959"),
        ("300", "300"),
        ("44 BC", "44 BC"),
        ("Jerzy Kawa", "Jerzy Kawa"),
        ("1950s", "1950s"),
    ],
)
def test_a_date_is_written_as_the_gold_has_it(words: str, written: str) -> None:
    assert as_wikidata_writes(words) == written


def test_relations_of_wikidata_tell_that_dates_are_written_so(tmp_path: Path) -> None:
    sentences = tmp_path / "sentences.jsonl"
    sentences.write_text('{"id": "a_1", "sent": "The mill opened in 1921."}\n', encoding="utf-8")
    for pid, wikidata in (("P1619", True), ("openingDate", False)):
        ontology = tmp_path / f"{pid}_ontology.json"
        relation = {"pid": pid, "label": "opened", "domain": "Q1", "range": ""}
        ontology.write_text(
            json.dumps({"id": "x", "concepts": [{"qid": "Q1", "label": "mill"}], "relations": [relation]}),
            encoding="utf-8",
        )
        assert read_test_set(ontology, sentences).wikidata is wikidata


def test_an_ontology_whose_relations_have_no_identifiers_is_known_by_its_concepts(tmp_path: Path) -> None:
    ontology, sentences = tmp_path / "a_ontology.json", tmp_path / "sentences.jsonl"
    sentences.write_text('{"id": "a_1", "sent": "The mill opened in 1921."}\n', encoding="utf-8")
    known = {"concepts": [{"qid": "Q44494", "label": "mill"}], "relations": [{"label": "opened"}]}
    ontology.write_text(json.dumps(known))
    assert read_test_set(ontology, sentences).wikidata


@pytest.mark.parametrize(
    ("words", "datatype", "written"),
    [
        ("December 9, 1991", "date", "1991-12-09"),
        ("1991", "date", "1991"),
        ("the ninth", "date", "the ninth"),
        ("2,702.5 metres", "decimal", "2702.5"),
        ("1439.0 sq km", "decimal", "1439.0"),
        ("1142,3 inhabitants", "decimal", "1142,3 inhabitants"),
        ("many", "decimal", "many"),
        ("9 May 1991", "string", "9 May 1991"),
    ],
)
def test_a_value_is_written_as_its_datatype_asks(words: str, datatype: str, written: str) -> None:
    assert as_datatype_writes(words, frozenset({NamedNode(v.XSD + datatype)})) == written


def test_each_relation_of_the_dbpedia_half_is_written_by_its_own_range(tmp_path: Path) -> None:
    ontology, sentences = tmp_path / "a_ontology.json", tmp_path / "sentences.jsonl"
    sentences.write_text('{"id": "a_1", "sent": "x"}\n', encoding="utf-8")
    relations = [{"label": "birthDate", "range": "Date"}, {"label": "birthName", "range": "string"}]
    ontology.write_text(json.dumps({"relations": relations}))
    write = writing_of(read_test_set(ontology, sentences))
    assert [write(one, "9 May 1991") for one in ("birthDate", "birthName", "else")] == [
        "1991-05-09", "9 May 1991", "9 May 1991",
    ]  # fmt: skip
