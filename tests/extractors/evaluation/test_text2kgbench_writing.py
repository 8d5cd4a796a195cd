"""Dates as the benchmark's gold has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from extractors.evaluation.text2kgbench.reading import read_test_set
from extractors.evaluation.text2kgbench.writing import as_wikidata_writes


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
