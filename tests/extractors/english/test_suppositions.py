"""What a sentence takes back and what it keeps, in pairs of the same words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractors.english.suppositions import hedge
from extractors.grounding.mentions import GroundedText
from extractors.text.chunking import Span


def cue(text: str, subject: str, object_: str) -> str | None:
    return GroundedText(text).ground(subject, object_, Span(0, len(text))).cue


@pytest.mark.parametrize(
    ("text", "subject", "taken_back", "kept"),
    [
        ("The Rialto was never a cinema but became a theatre.", "Rialto", "cinema", "theatre"),
        ("The Rialto was never a cinema; it became a theatre.", "Rialto", "cinema", "theatre"),
        ("The Rialto is not a cinema but a theatre.", "Rialto", "cinema", "theatre"),
        ("The Rialto is a theatre, not a cinema.", "Rialto", "cinema", "theatre"),
        ("The Rialto is a theatre but was never a cinema.", "Rialto", "cinema", "theatre"),
        ("The Rialto was never a cinema and became a theatre.", "Rialto", "cinema", "theatre"),
        ("Although never a cinema, the Rialto is a theatre.", "Rialto", "cinema", "theatre"),
        ("The Rialto is a theatre rather than a cinema.", "Rialto", "cinema", "theatre"),
        ("The Rialto is in Queens, not in Brooklyn.", "Rialto", "Brooklyn", "Queens"),
        ("The Rialto is in Queens instead of Brooklyn.", "Rialto", "Brooklyn", "Queens"),
        ("The Rialto was planned for Queens but opened in Brooklyn.", "Rialto", "Queens", "Brooklyn"),
        ("The Rialto stands in Queens and will move to Brooklyn if it can, or may close in Harlem.",
         "Rialto", "Harlem", "Queens"),
        ("Ada Stone built the Rialto, and Bo Lane never did.", "Rialto", "Bo Lane", "Ada Stone"),
        ("The Rialto has no stage and is in Queens.", "Rialto", "stage", "Queens"),
        ("The Rialto opened in 1921 without an organ.", "Rialto", "organ", "1921"),
        ("The Rialto stands in Queens, while no theatre stands in Harlem.", "Rialto", "Harlem", "Queens"),
        ("The Rialto ceased to be a cinema and became a theatre.", "Rialto", "cinema", "theatre"),
        ("Ada Stone refused to build in Queens but built in Harlem.", "Ada Stone", "Queens", "Harlem"),
    ],
)  # fmt: skip
def test_a_denial_takes_back_its_own_clause_only(text: str, subject: str, taken_back: str, kept: str) -> None:
    assert cue(text, subject, taken_back) is not None
    assert cue(text, subject, kept) is None


@pytest.mark.parametrize(
    ("text", "subject", "object_", "word"),
    [
        ("Is the Rialto in Queens?", "Rialto", "Queens", "?"),
        ("According to legend, the Rialto stands in Queens.", "Rialto", "Queens", "According to legend"),
        ("If the city agrees, the Rialto moves to Queens.", "Rialto", "Queens", "If"),
        ("In the novel, the Rialto stands in Queens.", "Rialto", "Queens", "In the novel"),
        ("The Rialto will open in 2031.", "Rialto", "2031", "will open"),
        ("The Rialto is scheduled to open in 2031.", "Rialto", "2031", "scheduled to open"),
        ("The Rialto has yet to open in Queens.", "Rialto", "Queens", "yet to"),
        ("The Rialto probably stood in Queens.", "Rialto", "Queens", "probably"),
        ("The Rialto is wrongly placed in Queens.", "Rialto", "Queens", "wrongly"),
        ("The Rialto was not designed by Ada Stone and Bo Lane.", "Rialto", "Bo Lane", "not"),
        ("Neither the Rialto nor the Odeon stands in Queens.", "Odeon", "Queens", "Neither"),
        ("The Rialto in Manhattan and Queens was never built.", "Rialto", "Manhattan", "never"),
        ("The Rialto was never rebuilt after 1900.", "Rialto", "1900", "never"),
        ("The fictional Rialto stands in Queens.", "Rialto", "Queens", "fictional"),
        ("The Rialto opens in 2031 if funded.", "Rialto", "2031", "if"),
        ("The Rialto is nothing but a plan and may be in Queens.", "Rialto", "Queens", "may"),
        ("The Rialto sought to move to Queens.", "Rialto", "Queens", "sought to"),
        ("It was never in Queens.", "Rialto Hall", "Queens", None),
    ],
)
def test_what_is_denied_planned_or_supposed_is_noticed(
    text: str, subject: str, object_: str, word: str | None
) -> None:
    assert cue(text, subject, object_) == word


@pytest.mark.parametrize(
    ("text", "subject", "object_"),
    [
        ("The Rialto did not open until 1902.", "Rialto", "1902"),
        ("Not until 1902 did the Rialto open.", "Rialto", "1902"),
        ("The Rialto opened in 1921 and never closed.", "Rialto", "1921"),
        ("The Rialto is not the only theatre in Queens.", "Rialto", "Queens"),
        ("The Rialto is not only in Queens but its largest theatre.", "Rialto", "Queens"),
        ("The Rialto is in Queens, which was never a city.", "Rialto", "Queens"),
        ("The first plan was never built but the Rialto opened in Queens.", "Rialto", "Queens"),
        ("The hotel was cancelled and the Rialto opened in Queens.", "Rialto", "Queens"),
        ("The Rialto, one of the oldest if not the oldest theatre, is in Queens.", "Rialto", "Queens"),
        ("The Rialto opened in May 1921.", "Rialto", "1921"),
        ("The Rialto is near the Never Inn in Queens.", "Rialto", "Queens"),
        ("The Rialto, no doubt, is in Queens.", "Rialto", "Queens"),
        ("The Rialto (Sen no Rikyu) is a large old theatre in Queens.", "Rialto", "Queens"),
        ("The Rialto has no organ of the usual kind in Queens.", "Rialto", "Queens"),
        ("Will Stone built the Rialto in Queens.", "Rialto", "Queens"),
        ("The Rialto seats no fewer than 500 people.", "Rialto", "500"),
        ("The Rialto opened in 1921, not 1922.", "Rialto", "1921"),
        ("Last but not least, the Rialto is in Queens.", "Rialto", "Queens"),
    ],
)
def test_what_is_meant_is_kept(text: str, subject: str, object_: str) -> None:
    assert cue(text, subject, object_) is None


def test_a_subject_of_another_sentence_is_denied_by_what_precedes_the_object() -> None:
    text = "The Rialto is old. It was never in Queens but stands in Harlem."
    assert cue(text, "Rialto", "Queens") == "never"
    assert cue(text, "Rialto", "Harlem") is None


WORDS = st.sampled_from(
    [
        "the",
        "Rialto",
        "was",
        "never",
        "a",
        "but",
        "became",
        "and",
        ",",
        ";",
        "if",
        "not",
        "until",
        "1902",
        "?",
        "-",
    ]
)


@given(st.lists(WORDS, max_size=24), st.data())
def test_any_sentence_is_read_without_leaving_it(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    points = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=4, max_size=4)))
    found = hedge(text, Span(0, len(text)), (Span(*points[:2]), Span(*points[2:])))
    assert found is None or found.cue == "?" or found.cue in " ".join(text.split())
