"""Sentences and chunks as spans of the text."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractors.text.chunking import Chunk, ChunkSize, Span, chunks, sentences

COMPACT = ChunkSize(sentences=3, words=80)


def split(text: str) -> list[str]:
    return [text[s.start : s.end] for s in sentences(text)]


@pytest.mark.parametrize(
    "sentence",
    [
        "St. Patrick's Cathedral stands opposite Mt. Sinai Chapel.",
        "The No. 7 line ends at Hudson Yards.",
        "J. P. Morgan Jr. gave money to King's College.",
        "The U.S. Custom House in Washington, D.C. Circle is 3.5 km away.",
        "It cost approx. 5 million dollars.",
        "The Rev. Dr. Adams of Morgan & Co. Bank spoke.",
        "It opened on Jan. 5 at 9 a.m. sharp.",
        "“Why here?” asked the mayor.",
    ],
)
def test_abbreviations_and_initials_do_not_end_a_sentence(sentence: str) -> None:
    assert split(sentence) == [sentence]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It stands on Fifth Ave. It opened in 1913.", ["It stands on Fifth Ave.", "It opened in 1913."]),
        ("He moved to the U.S. The fort fell.", ["He moved to the U.S.", "The fort fell."]),
        ("Open! Really? Yes.", ["Open!", "Really?", "Yes."]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("It opened in 1913. 12 people came.", ["It opened in 1913.", "12 people came."]),
        ("A title without a stop\n\nA sentence.", ["A title without a stop", "A sentence."]),
        ("Sights:\n- a bridge\n- a park", ["Sights:", "- a bridge", "- a park"]),
        ("布鲁克林大桥很长。它很美。", ["布鲁克林大桥很长。", "它很美。"]),
        ("one line\nwrapped here.", ["one line\nwrapped here."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_a_window_holds_three_sentences() -> None:
    text = "One is here. Two is here. Three is here. Four is here."
    assert [text[w.start : w.end] for w in chunks(text, COMPACT)] == [
        "One is here. Two is here. Three is here.",
        "Four is here.",
    ]


def test_a_later_window_knows_the_sentence_that_opened_its_paragraph() -> None:
    text = "The Bowery is old. Two is here. Three is here. It is long."
    first, second = chunks(text, COMPACT)
    assert first.lead is None
    assert second.lead is not None
    assert text[second.lead.start : second.lead.end] == "The Bowery is old."


def test_a_paragraph_that_fits_whole_is_not_torn_apart() -> None:
    text = "One is here. Two is here.\n\nThree is here. Four is here."
    assert len(chunks(text, COMPACT)) == 2


def test_a_sentence_longer_than_a_window_is_cut_between_words() -> None:
    text = " ".join(["word"] * 200)
    found = chunks(text, COMPACT)
    assert [len(text[w.start : w.end].split()) for w in found] == [80, 80, 40]


def test_a_text_without_spaces_is_cut_all_the_same() -> None:
    assert chunks("x" * 2000, COMPACT) == (Chunk(0, 960), Chunk(960, 1920), Chunk(1920, 2000))


@given(st.text(alphabet=st.sampled_from(list("aA1 .?!\n\"'-é\u0301🏙（。St")), max_size=300))
def test_windows_hold_every_visible_character_once_and_in_order(text: str) -> None:
    cut = [Span(w.start, w.end) for w in chunks(text, ChunkSize(sentences=2, words=5))]
    for found in (list(sentences(text)), cut):
        assert all(a.end <= b.start for a, b in pairwise(found))
        covered = "".join(text[s.start : s.end] for s in found)
        assert "".join(covered.split()) == "".join(text.split())


def test_marks_of_footnotes_belong_to_the_sentence_before():
    text = "It opened in 1901.[4][note 2] The hall is old.[citation needed] It closed."
    found = [text[span.start : span.end] for span in sentences(text)]
    assert found == ["It opened in 1901.[4][note 2]", "The hall is old.[citation needed]", "It closed."]
