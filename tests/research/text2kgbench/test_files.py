"""Text2KGBench's files, read as they are."""

import json
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

from extractors.errors import EvaluationError
from ontology.schema import Schema
from research.text2kgbench.reading import Fact, find_files, paired, read_test_set, relations_of
from tests.support.benchmark_files import lines, triples, write


def test_an_ontology_becomes_a_schema_with_domains_and_ranges(tmp_path: Path) -> None:
    test = read_test_set(*write(tmp_path))
    schema = test.schema
    assert relations_of(schema) == {"owned by", "opening date"}
    assert test.concepts == ("harbour", "human")
    owned = schema.find_property("owned by")
    assert owned is not None
    assert [schema.classes[c].label for c in (*owned.domains, *owned.ranges)] == ["harbour", "human"]
    opened = schema.find_property("opening date")
    assert opened is not None
    assert opened.ranges == frozenset()


def test_an_ontology_may_name_its_ends_by_label_and_repeat_a_name(tmp_path: Path) -> None:
    ontology, sentences, _ = write(tmp_path)
    ontology.write_text(
        '{"concepts": [{"label": "harbour"}], "relations": ['
        '{"label": "part of", "domain": "harbour", "range": "sea \\ud83d"}, {"label": "part of"}]}'
    )
    schema = read_test_set(ontology, sentences).schema
    assert [len(term.domains) for term in schema.properties.values()] == [1, 0]


def test_an_ontology_may_name_datatypes_and_classes_that_are_no_concepts(
    tmp_path: Path,
) -> None:
    ontology, sentences, _ = write(tmp_path)
    ends = {"opened": "Date", "length": "number", "code": "string", "owner": "Person", "kind": "Q17"}
    relations = [{"label": label, "domain": "Quay", "range": end} for label, end in ends.items()]
    ontology.write_text(json.dumps({"concepts": [{"qid": "Quay", "label": "Quay"}], "relations": relations}))
    test = read_test_set(ontology, sentences)
    found = {
        term.label: [schema_name(test.schema, end) for end in term.ranges]
        for term in test.schema.properties.values()
    }
    assert found == {
        "opened": ["date"], "length": ["decimal"], "code": ["string"], "owner": ["Person"], "kind": [],
    }  # fmt: skip
    assert test.concepts == ("Quay",)


def schema_name(schema: Schema, end: NamedNode) -> str:
    return schema.classes[end].label if end in schema.classes else end.value.partition("#")[2]


def test_an_ontology_may_leave_out_labels_concepts_and_ends_or_give_several(tmp_path: Path) -> None:
    ontology, sentences, _ = write(tmp_path)
    ontology.write_text(
        '{"relations": [{"pid": "P17"}, {"label": null, "pid": "P50", "domain": null, "range": 4},'
        '{"label": " written\\nin ", "domain": ["Book", "Play"], "range": ["Language", "Script"]}]}'
    )
    test = read_test_set(ontology, sentences)
    assert relations_of(test.schema) == {"P17", "P50", "written in"}
    written = test.schema.find_property("written in")
    assert written is not None
    assert sorted(test.schema.classes[end].label for end in written.ranges) == ["Language", "Script"]


def test_files_without_a_relation_or_a_sentence_are_reported(tmp_path: Path) -> None:
    ontology, sentences, _ = write(tmp_path)
    ontology.write_text('{"concepts": [], "relations": []}')
    with pytest.raises(EvaluationError, match="has no relation"):
        read_test_set(ontology, sentences)
    ontology, sentences, _ = write(tmp_path)
    sentences.write_text("\n")
    with pytest.raises(EvaluationError, match="holds no sentence"):
        read_test_set(ontology, sentences)


def test_ids_may_be_numbers_and_a_repeated_name_is_reported(tmp_path: Path) -> None:
    ontology, sentences, gold = write(tmp_path)
    sentences.write_text(
        lines([{"id": number, "sent": text} for number, text in [(1, "A."), (2, "B."), (1, "C."), (2, "B.")]])
    )
    gold.write_text(lines([{"id": 1, "triples": []}, {"id": 2, "triples": []}]))
    test = read_test_set(ontology, sentences, gold)
    assert [(one.identifier, one.text) for one in test.sentences] == [(1, "A."), (2, "B.")]
    assert [note.partition(": ")[2] for note in test.notes] == [
        "1 has stood before with another text, which is the one that is read."
    ]


def test_gold_that_fits_the_sentences_or_the_ontology_badly_is_reported(tmp_path: Path) -> None:
    ontology, sentences, gold = write(tmp_path)
    gold.write_text(
        lines([{"id": "h_1_1", "triples": triples([("a", "moored at", "b")])}, {"id": "z", "triples": []}])
    )
    reported = " ".join(read_test_set(ontology, sentences, gold).notes)
    assert "says nothing of h_2_1, h_3_1" in reported
    assert "rows of z, which are no sentences" in reported
    assert "relations that the ontology lacks, and that no answer can meet: moored at." in reported


@pytest.mark.parametrize(
    ("row", "message"),
    [({"id": "z", "triples": []}, "belongs to none of the 3"), ({"id": "h_1_1"}, "holds no triples")],
)
def test_gold_of_other_sentences_or_of_nothing_is_no_gold(tmp_path: Path, row: object, message: str) -> None:
    ontology, sentences, gold = write(tmp_path)
    gold.write_text(lines([row]))
    with pytest.raises(EvaluationError, match=message):
        read_test_set(ontology, sentences, gold)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sentences_and_gold_are_matched_by_id_whatever_the_line_ends(tmp_path: Path, end: str) -> None:
    test = read_test_set(*write(tmp_path, end=end))
    assert [sentence.identifier for sentence in test.sentences] == ["h_1_1", "h_2_1", "h_3_1"]
    assert test.gold["h_1_1"] == {Fact("Grey Quay", "owned by", "Ada Stone")}
    assert test.gold["h_3_1"] == frozenset()


def test_mojibake_half_characters_and_other_line_ends_within_a_sentence_are_read(tmp_path: Path) -> None:
    ontology, sentences, _ = write(tmp_path)
    odd = '{"id": "a", "sent": "caf\\u00c3\\u00a9 \\ud83d \u2028\x85 end"}\r\n{"id": "b", "sent": "\xe9"}\r\n'
    sentences.write_bytes(b"\xef\xbb\xbf" + odd.encode("utf-8").replace("\xe9".encode(), b"\xe9"))
    first, second = read_test_set(ontology, sentences).sentences
    assert first.text == "caf\u00c3\u00a9 \ufffd \u2028\x85 end"
    assert second.text == "\ufffd"


def test_training_rows_are_their_own_gold(tmp_path: Path) -> None:
    ontology, sentences, _ = write(tmp_path)
    row = {"id": "t", "sent": "x", "sub_label": "A", "rel_label": "owned by", "obj_label": "B", "sub": "Q9"}
    sentences.write_text(lines([row]))
    assert read_test_set(ontology, sentences).gold == {"t": {Fact("A", "owned by", "B")}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": "a", "sent": "x"}\n{', "line 2 is not JSON"),
        ("[1]\n", "line 1 is no JSON object"),
        ('{"id": "a"}\n', 'line 1: a sentence needs an "id", and "sent"'),
    ],
)
def test_a_file_of_something_else_is_reported_with_its_line(
    tmp_path: Path, content: str, message: str
) -> None:
    ontology, sentences, _ = write(tmp_path)
    sentences.write_text(content)
    with pytest.raises(EvaluationError, match=message):
        read_test_set(ontology, sentences)


def test_a_broken_gold_triple_a_missing_file_and_no_ontology_are_reported(tmp_path: Path) -> None:
    ontology, sentences, gold = write(tmp_path)
    gold.write_text('{"id": "h_1_1", "triples": [{"sub": "a", "rel": "b"}]}\n')
    with pytest.raises(EvaluationError, match="line 1: a triple needs"):
        read_test_set(ontology, sentences, gold)
    with pytest.raises(EvaluationError, match="cannot be read"):
        read_test_set(ontology, tmp_path / "nowhere.jsonl")
    with pytest.raises(EvaluationError, match="not one of Text2KGBench's ontologies"):
        read_test_set(sentences, sentences)


def test_files_are_found_by_their_names_and_a_split_is_chosen(tmp_path: Path) -> None:
    for number in (10, 2):
        write(tmp_path, number=number)
    found = find_files([tmp_path], None)
    assert [(o.name, s.name, g.name if g else None) for o, s, g in found] == [
        (
            f"{n}_harbour_ontology.json",
            f"ont_{n}_harbour_dev.jsonl",
            f"ont_{n}_harbour_dev_ground_truth.jsonl",
        )
        for n in (2, 10)
    ]
    (tmp_path / "ont_2_harbour_train.jsonl").write_text("")
    with pytest.raises(EvaluationError, match="dev, train: choose one with --split"):
        find_files([tmp_path], None)
    assert len(find_files([tmp_path], "dev")) == 2
    with pytest.raises(EvaluationError, match="No ontology with its sentences"):
        find_files([tmp_path], "test")
    with pytest.raises(EvaluationError, match="no folder"):
        find_files([tmp_path / "nowhere"], None)


def test_files_that_are_named_must_be_as_many_of_each_kind(tmp_path: Path) -> None:
    one, two = Path("a"), Path("b")
    assert paired([one], [two], []) == [(one, two, None)]
    with pytest.raises(EvaluationError, match="there are 1, 1 and 2"):
        paired([one], [one], [one, two])
