"""Training sentences from files in the benchmark's format, written here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from extractors.readers.form import Field
from research.training.labeled import LabeledSentence, read_topic, read_topics

ONTOLOGY = {
    "id": "ont_1_film",
    "concepts": [{"qid": "Q1", "label": "film"}, {"qid": "Q2", "label": "human"}],
    "relations": [
        {"pid": "P1", "label": "director", "domain": "Q1", "range": "Q2"},
        {"pid": "P2", "label": "publication date", "domain": "Q1", "range": ""},
        {"pid": "P3", "label": "country of origin ", "domain": "Q1", "range": "Q999"},
    ],
}


def row(sentence: str, subject: str, relation: str, value: str) -> dict[str, str]:
    return {"id": "x", "sent": sentence, "sub_label": subject, "rel_label": relation, "obj_label": value}


def sentences(folder: Path, *rows: dict[str, str]) -> dict[str, LabeledSentence]:
    ontology, path = folder / "1_film_ontology.json", folder / "rows.jsonl"
    ontology.write_text(json.dumps(ONTOLOGY), encoding="utf-8")
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return {one.text: one for one in read_topic(ontology, [path]).sentences}


@pytest.mark.parametrize(
    ("sentence", "value", "words"),
    [
        ("Night Train is a 1959 film.", "01 January 1959", "1959"),
        ("Night Train came out on May 4, 1959.", "04 May 1959", "May 4, 1959"),
        ("Night Train came out on 4 May 1959.", "04 May 1959", "4 May 1959"),
        ("Night Train came out in 1959.", "04 May 1959", "1959"),
    ],
)
def test_a_date_becomes_the_words_of_the_sentence(
    tmp_path: Path, sentence: str, value: str, words: str
) -> None:
    found = sentences(tmp_path, row(sentence, "Night Train", "publication date", value))
    assert found[sentence].pairs == {"publication date": (("Night Train", words),)}


def test_a_name_is_found_whatever_its_spaces_and_dashes(tmp_path: Path) -> None:
    text = "Alice's Night-Train was directed by Jerzy Kawa."
    found = sentences(tmp_path, row(text, "Alice 's Night Train", "director", "Jerzy Kawa"))
    assert found[text].pairs == {"director": (("Alice's Night-Train", "Jerzy Kawa"),)}


def test_a_person_is_found_by_a_longer_name_and_by_the_last_one(tmp_path: Path) -> None:
    long = "Night Train was directed by Jerzy Franciszek Kawa."
    short = "Kawa directed Night Train."
    found = sentences(
        tmp_path,
        row(long, "Jerzy Kawa", "director", "Night Train"),
        row(short, "Jerzy Kawa", "director", "Night Train"),
    )
    assert found[long].pairs["director"][0][0] == "Jerzy Franciszek Kawa"
    assert found[short].pairs["director"][0][0] == "Kawa"


def test_a_subject_that_is_not_in_the_sentence_makes_its_relation_unknown(tmp_path: Path) -> None:
    text = "It was directed by Jerzy Kawa."
    found = sentences(tmp_path, row(text, "Night Train", "director", "Jerzy Kawa"))
    assert found[text].pairs == {}
    assert found[text].unknown == {"director"}


def test_what_another_row_says_of_the_subject_completes_a_sentence(tmp_path: Path) -> None:
    one, other = "Night Train is a 1959 film by Jerzy Kawa.", "Jerzy Kawa made Night Train."
    found = sentences(
        tmp_path,
        row(one, "Night Train", "publication date", "01 January 1959"),
        row(other, "Night Train", "director", "Jerzy Kawa"),
    )
    assert found[one].pairs["director"] == (("Night Train", "Jerzy Kawa"),)
    assert set(found[other].pairs) == {"director"}


def test_a_country_is_kept_where_its_adjective_stands(tmp_path: Path) -> None:
    text = "Night Train is a Japanese film."
    found = sentences(tmp_path, row(text, "Night Train", "country of origin", "Japan"))
    assert found[text].pairs == {"country of origin": (("Night Train", "Japan"),)}


def test_fields_carry_the_labels_of_concepts_and_leave_unknown_ones_out(tmp_path: Path) -> None:
    for folder in ("ontologies", "train", "validation"):
        (tmp_path / folder).mkdir()
    (tmp_path / "ontologies" / "1_film_ontology.json").write_text(json.dumps(ONTOLOGY), encoding="utf-8")
    for part in ("train", "validation"):
        line = json.dumps(row(f"{part}: Night Train by Jerzy Kawa.", "Night Train", "director", "Jerzy Kawa"))
        (tmp_path / part / f"ont_1_film_{part}.jsonl").write_text(line + "\r\n", encoding="utf-8")
    (topic,) = read_topics(tmp_path)
    assert topic.fields == (
        Field("director", "film", "human"),
        Field("publication date", "film"),
        Field("country of origin", "film"),
    )
    assert len(topic.sentences) == 2


def test_rows_with_all_triples_are_complete_and_their_names_become_words(tmp_path: Path) -> None:
    ontology, path = tmp_path / "1_film_ontology.json", tmp_path / "rows.jsonl"
    ontology.write_text(json.dumps(ONTOLOGY), encoding="utf-8")
    triples = [
        {"sub": "Night_Train_(film)", "rel": "director", "obj": "Jerzy_Kawa"},
        {"sub": "Night_Train_(film)", "rel": "runtime", "obj": "6900.0"},
        {"sub": "Night_Train_(film)", "rel": "publication date", "obj": "1959-05-04"},
        {"sub": "Night_Train_(film)", "rel": "country of origin", "obj": "Poland"},
    ]
    text = "Night Train, by Jerzy Kawa, came out on 4 May 1959 and lasts 6,900 seconds."
    path.write_text(json.dumps({"id": "x", "sent": text, "triples": triples}) + "\n", encoding="utf-8")
    topic = read_topic(ontology, [path])
    (sentence,) = topic.sentences
    assert topic.complete
    assert sentence.pairs == {
        "director": (("Night Train", "Jerzy Kawa"),),
        "publication date": (("Night Train", "4 May 1959"),),
        "runtime": (("Night Train", "6,900"),),
    }
    assert sentence.unknown == {"country of origin"}
