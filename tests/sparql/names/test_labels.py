"""The label index: what is a name, how it is found, and that each commit keeps it right."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad

from extractors.grounding.linking import LabelEntry, are_distinct
from sparql.names.labels import LabelIndex

RDFS = "http://www.w3.org/2000/01/rdf-schema#"
LABEL = NamedNode(RDFS + "label")
ALIAS = NamedNode("http://www.w3.org/2004/02/skos/core#altLabel")
TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
OWL_CLASS = NamedNode("http://www.w3.org/2002/07/owl#Class")
PLACE = NamedNode("https://example.org/Place")


def node(name: str) -> NamedNode:
    return NamedNode(f"https://example.org/{name}")


def named(iri: str, *labels: str, alias: str = "", type_: NamedNode = PLACE) -> Iterator[Quad]:
    yield Quad(node(iri), TYPE, type_)
    for label in labels:
        yield Quad(node(iri), LABEL, Literal(label))
    if alias:
        yield Quad(node(iri), ALIAS, Literal(alias))


def index_of(*groups: Iterator[Quad]) -> LabelIndex:
    index = LabelIndex()
    index.rebuild([quad for group in groups for quad in group])
    return index


def found(index: LabelIndex, text: str, **options: bool) -> list[tuple[str, str]]:
    return [
        (text[start:end], entries[0].iri.value.rsplit("/", 1)[1])
        for start, end, entries in index.mentions(text, **options)
    ]


@pytest.mark.parametrize(
    "words",
    ["St. John's Café", "st johns cafe", "the ST JOHN’S  CAFÉ", "St-John's-Cafe\u0301"],
)
def test_a_label_is_found_whatever_its_case_accents_punctuation_and_article(words: str) -> None:
    index = index_of(named("cafe", "St. John's Café"))
    assert [entry.iri for entry in index.exact(words)] == [node("cafe")]


def test_main_labels_come_before_aliases_and_carry_the_classes() -> None:
    index = index_of(named("b", "Queens"), named("a", "Something", alias="Queens"))
    entries = index.exact("queens")
    assert [(entry.iri, entry.main) for entry in entries] == [(node("b"), True), (node("a"), False)]
    assert entries[0].classes == {PLACE}


def test_classes_and_properties_of_an_ontology_are_no_entities() -> None:
    index = index_of(named("Museum", "museum", type_=OWL_CLASS))
    assert not index.exact("museum")
    assert not index.similar("museums", 5)
    assert not index.mentions("a museum")
    assert len(index) == 0


def test_a_label_that_comes_before_its_type_is_dropped_once_the_type_says_class() -> None:
    index = LabelIndex()
    index.apply([Quad(node("M"), LABEL, Literal("Mill"))], [])
    assert index.exact("mill")
    index.apply([Quad(node("M"), TYPE, OWL_CLASS)], [])
    assert not index.exact("mill")


def test_a_commit_changes_just_what_it_says() -> None:
    index = index_of(named("a", "Old Mill"), named("b", "New Mill"))
    index.apply(
        [Quad(node("a"), LABEL, Literal("Mill House"))], [Quad(node("a"), LABEL, Literal("Old Mill"))]
    )
    assert not index.exact("Old Mill")
    assert [entry.iri for entry in index.exact("Mill House")] == [node("a")]
    assert [entry.iri for entry in index.exact("New Mill")] == [node("b")]
    assert [entry.iri for entry, _ in index.similar("Mill Hause", 1)] == [node("a")]


def test_properties_given_to_the_constructor_are_aliases() -> None:
    nickname = node("nickname")
    index = LabelIndex([nickname])
    index.rebuild([*named("a", "New York"), Quad(node("a"), nickname, Literal("Big Apple"))])
    assert [entry.main for entry in index.exact("big apple")] == [False]


def test_similar_labels_come_best_first_and_unlike_ones_not_at_all() -> None:
    index = index_of(named("a", "Columbia University"), named("b", "Columbia Street"), named("c", "Zoo"))
    results = index.similar("Colombia Univercity", 5)
    assert results[0][0].iri == node("a")
    assert all(0 < score < 1 for _, score in results)
    assert node("c") not in {entry.iri for entry, _ in results}


def test_the_longest_label_wins_and_spans_count_code_points() -> None:
    index = index_of(named("city", "New York"), named("cafe", "New York Café"))
    text = "🏙️ In New York stands the New York Café."
    assert found(index, text) == [("New York", "city"), ("New York Café", "cafe")]


def test_a_possessive_is_not_part_of_the_name() -> None:
    index = index_of(named("m", "Manhattan"), named("k", "King's College"))
    assert found(index, "Manhattan's parks and King's College's hall") == [
        ("Manhattan", "m"),
        ("King's College", "k"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("They met in a park.", []),
        ("They met in Park on Sunday.", ["Park"]),
        ("Park benches are green.", []),
        ("it was built", []),
        ("It was built", []),
        ("the high line", []),
        ("the High Line", ["High Line"]),
        ("an artist of the krautrock scene", ["krautrock"]),
        ("7 of 42 trains", []),
        ("Parking costs money near Parkway.", []),
        ("The road ends at High. Line 4 begins there.", []),
        ("High\nLine", []),
    ],
)
def test_common_words_numbers_and_broken_phrases_are_not_taken_for_names(
    text: str, expected: list[str]
) -> None:
    index = index_of(
        named("Park", "park", type_=OWL_CLASS),
        named("p", "Park"),
        named("i", "It"),
        named("h", "The High Line"),
        named("k", "krautrock"),
        named("s", "7", alias="42"),
    )
    assert [words for words, _ in found(index, text)] == expected


def test_in_a_text_without_capitals_names_are_found_on_demand_but_the_ontologys_words_are_not() -> None:
    index = index_of(named("Park", "park", type_=OWL_CLASS), named("p", "Park"), named("m", "Manhattan"))
    text = "which parks are in manhattan"
    assert found(index, text) == []
    assert found(index, text, any_case=True) == [("manhattan", "m")]


def test_names_can_be_read_while_a_commit_is_applied() -> None:
    index = index_of(named("a", "Old Mill"), named("b", "House"))
    batches = [list(named(f"n{i}", f"House {chr(97 + i % 26)}{i}")) for i in range(300)]
    stop, failures = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            if not (
                index.exact("old mill") and index.mentions("The Old Mill") and index.similar("House a", 3)
            ):
                failures.append("lost")
                return

    reader = threading.Thread(target=read)
    reader.start()
    for batch in batches:
        index.apply(batch, [])
        index.apply([], batch[1:])
        index.apply(batch[1:], [])
    stop.set()
    reader.join()
    assert failures == []


def test_commits_during_a_rebuild_are_applied_on_top_of_it() -> None:
    index = LabelIndex()
    mill, hall = list(named("mill", "Old Mill")), list(named("hall", "Town Hall"))

    def read_slowly() -> Iterator[Quad]:
        yield from mill
        index.apply(hall, mill)

    index.expect_rebuild()
    index.rebuild(read_slowly())
    assert [entry.label for entry in index.exact("town hall")] == ["Town Hall"]
    assert index.exact("old mill") == []
    assert len(index) == 1


NAMES = st.sampled_from(["Mill", "Old Mill", "The Mill", "Town Hall", "Hall", "É"])
EDITS = st.lists(st.tuples(st.booleans(), st.sampled_from("abc"), NAMES, st.booleans()), max_size=25)


@settings(max_examples=60, deadline=None)
@given(EDITS)
def test_any_sequence_of_commits_leaves_what_a_rebuild_would(
    edits: list[tuple[bool, str, str, bool]],
) -> None:
    index, quads = LabelIndex(), set()
    for added, subject, name, is_type in edits:
        quad = (
            Quad(node(subject), TYPE, OWL_CLASS if name == "É" else PLACE)
            if is_type
            else Quad(node(subject), LABEL, Literal(name))
        )
        index.apply([quad] if added else [], [] if added else [quad])
        (quads.add if added else quads.discard)(quad)
    fresh = LabelIndex()
    fresh.rebuild(quads)
    for name in ("Mill", "Old Mill", "Town Hall", "Hall", "e"):
        assert index.exact(name) == fresh.exact(name)
        assert dict(index.similar(name, 9)) == dict(fresh.similar(name, 9))
        assert dict(index.alike(name, 9)) == dict(fresh.alike(name, 9))
    assert len(index) == len(fresh)


MANY = [
    f"{first} {second} {number}"
    for first in ("Pier", "Old Pier")
    for second in ("", "East")
    for number in range(70)
]


@pytest.mark.parametrize(
    "name", ["Pier 7", "The East Pier 7", "East Pier", "Pier", "Old Piers 69", "Bridge 7", ""]
)
def test_all_similar_names_are_found_except_distinct_ones(name: str) -> None:
    index = index_of(
        *(named(str(number), label) for number, label in enumerate([*MANY, "Pier", "East Pier"]))
    )
    index.apply([], [Quad(node("7"), LABEL, Literal(MANY[7]))])

    def fitting(entries: Sequence[tuple[LabelEntry, float]]) -> list[tuple[LabelEntry, float]]:
        return sorted(
            (one for one in entries if not are_distinct(name, one[0].label)),
            key=lambda one: (-one[1], one[0].iri.value),
        )

    assert fitting(index.alike(name, 500)) == fitting(index.similar(name, 500))


def test_removed_names_leave_nothing_behind() -> None:
    index = index_of(named("kept", "Alder Hall"))
    longer = [*named("longer", "Alder Hall of the North")]
    index.apply(longer, [])
    index.apply([], longer)
    state = index._state
    assert state.longest == {"alder": 2}
    before = (len(state.entries), len(state.marked), len(state.terms), len(state.facts))
    for number in range(3000):
        come = [*named(f"n{number}", f"Unheard{number} Hall")]
        come += named(f"t{number}", f"Kind{number}", type_=OWL_CLASS)
        index.apply(come, [])
        index.apply([], come)
    assert state.longest == {"alder": 2}
    assert (len(state.entries), len(state.marked), len(state.terms), len(state.facts)) == before
    assert len(state.trigrams._keys) < 1500
    assert [entry.iri for entry in state.named("alder hall")] == [node("kept")]
