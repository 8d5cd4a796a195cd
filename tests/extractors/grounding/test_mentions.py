"""Where names stand in a text, what shows a statement, and what takes it back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractors.candidates import Evidence
from extractors.grounding.mentions import GroundedText
from extractors.text.chunking import Span
from tests.support.scripted import COLUMBIA


def found(text: str, words: str) -> list[str]:
    return [text[s.start : s.end] for s in GroundedText(text).occurrences(words)]


def whole(text: str) -> Span:
    return Span(0, len(text))


def cue(text: str, subject: str, object_: str) -> str | None:
    return GroundedText(text).ground(subject, object_, whole(text)).cue


def test_exact_spelling_is_preferred_to_any_other() -> None:
    assert found("the PARK and the Park", "Park") == ["Park"]


@pytest.mark.parametrize(
    ("text", "words", "quote"),
    [
        ("In MANHATTAN it rains.", "Manhattan", "MANHATTAN"),
        ("New\n  York is big.", "New York", "New\n  York"),
        ("The Café Carlyle is small.", "Cafe Carlyle", "Café Carlyle"),
        ("The Cafe\u0301 Carlyle is small.", "Café Carlyle", "Cafe\u0301 Carlyle"),
        ("St. Patrick’s is old.", "St. Patrick's", "St. Patrick’s"),
        ("Stuyvesant Town–Peter Cooper Village", "Stuyvesant Town-Peter Cooper Village", None),
        ("The Bowery is a street.", "the Bowery", "The Bowery"),
        ("Bowery is a street.", "the Bowery", "Bowery"),
        ("It opened in 1913.", "1913.", "1913."),
        ("It opened in 1913", '"1913."', "1913"),
        ("Manhattan's parks", "Manhattan", "Manhattan"),
        ("Rasmus Møller built it.", "Rasmus Moller", "Rasmus Møller"),
        ("🏙️🏙️ Manhattan 🌉 is big.", "Manhattan", "Manhattan"),
    ],
)
def test_names_are_found_whatever_their_typography(text: str, words: str, quote: str | None) -> None:
    assert found(text, words) == [quote or text]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Manhattanville is north.", "Manhattan"),
        ("It seats 1913 people and 19130 guests.", "913"),
        ("Columbia University", "Zorro Hall"),
        ("Columbia University", ""),
        ("Columbia University", "…!"),
    ],
)
def test_parts_of_words_and_inventions_are_not_found(text: str, words: str) -> None:
    assert found(text, words) == []


def test_evidence_is_the_smallest_span_over_both_ends_in_one_sentence() -> None:
    grounded = GroundedText(COLUMBIA).ground("Columbia University", "New York City", whole(COLUMBIA))
    quote = "Columbia University is a private Ivy League research university in New York City"
    assert grounded.evidence == Evidence(0, 80, quote)


def test_evidence_is_the_object_where_the_ends_stand_in_two_sentences() -> None:
    grounded = GroundedText(COLUMBIA).ground("Columbia University", "1754", whole(COLUMBIA))
    assert grounded.evidence == Evidence(97, 101, "1754")


def test_the_nearest_pair_of_mentions_counts() -> None:
    text = "The Bowery is old. Astor Place is square. The Bowery meets Astor Place."
    grounded = GroundedText(text).ground("Bowery", "Astor Place", whole(text))
    assert grounded.evidence is not None
    assert grounded.evidence.quote == "Bowery meets Astor Place"


def test_the_window_is_searched_before_the_rest_of_the_text() -> None:
    text = "Wall Street is old. Wall Street is short."
    grounded = GroundedText(text).ground("Wall Street", "short", Span(20, 41))
    assert grounded.subject == Span(20, 31)


def test_an_end_that_is_not_in_the_text_is_reported_as_missing() -> None:
    grounded = GroundedText(COLUMBIA).ground("Columbia University", "Zorro Hall", whole(COLUMBIA))
    assert (grounded.object, grounded.evidence) == (None, Evidence(0, 19, "Columbia University"))


@pytest.mark.parametrize(
    ("text", "subject", "object_", "word"),
    [
        ("The Gateway Tower is not in Manhattan.", "Gateway Tower", "Manhattan", "not"),
        ("The Gateway Tower isn't in Manhattan.", "Gateway Tower", "Manhattan", "isn't"),
        ("The Gateway Tower in Manhattan was never built.", "Gateway Tower", "Manhattan", "never"),
        ("The proposed Gateway Tower is in Manhattan.", "Gateway Tower", "Manhattan", "proposed"),
        ("If built, Gateway Tower would rise 500 feet.", "Gateway Tower", "500 feet", "If"),
        ("The line, if funded, reaches Red Hook.", "line", "Red Hook", "if"),
        ("Gateway Tower may have stood in Queens.", "Gateway Tower", "Queens", "may"),
        ("It is a myth and not true that Astor lived in Queens.", "Astor", "Queens", "not"),
        ("Gateway Tower was to be in Queens.", "Gateway Tower", "Queens", "was to be"),
    ],
)
def test_denied_and_supposed_statements_are_noticed(text: str, subject: str, object_: str, word: str) -> None:
    assert cue(text, subject, object_) == word


@pytest.mark.parametrize(
    ("text", "subject", "object_"),
    [
        (COLUMBIA, "Columbia University", "New York City"),
        ("The bridge opened in May 1883.", "bridge", "1883"),
        ("Astor House, which was not cheap, opened in 1836.", "Astor House", "1836"),
        ("Astor House stood on Broadway, but not on Wall Street.", "Astor House", "Broadway"),
        ("Astor House would later become a museum in Queens.", "Astor House", "Queens"),
        ("Not far from there, Astor House opened in 1836.", "Astor House", "1836"),
        ("Astor House was planned by Isaiah Rogers.", "Astor House", "Isaiah Rogers"),
        ("Olmsted made Prospect Park after the plan for Central Park.", "Olmsted", "Central Park"),
        ("Never Sink Park is in Queens.", "Never Sink Park", "Queens"),
        ("Astor House is not only big but the oldest hotel in Queens.", "Astor House", "Queens"),
    ],
)
def test_plain_statements_are_left_alone(text: str, subject: str, object_: str) -> None:
    assert cue(text, subject, object_) is None


ALPHABET = st.sampled_from(list("aAbé ß\u0301ﬁİ’'\"-–\n\t.1🏙\u200d️北京ا\x00")) | st.characters(codec="utf-8")


@given(st.text(ALPHABET, max_size=80), st.data())
def test_whatever_is_found_quotes_the_text_exactly(text: str, data: st.DataObject) -> None:
    grounded_text = GroundedText(text)
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    other = data.draw(st.text(ALPHABET, max_size=8))
    grounded = grounded_text.ground(text[start:end], other, Span(start, end))
    for span in (*grounded_text.occurrences(text[start:end]), *grounded_text.occurrences(other)):
        assert 0 <= span.start < span.end <= len(text)
    if grounded.evidence is not None:
        assert text[grounded.evidence.start : grounded.evidence.end] == grounded.evidence.quote
