"""What is remembered is bounded by the length of texts, too."""

from pyoxigraph import Literal

from geo.formats.literals import read_geometry
from geo.remembered import remembered
from geo.vocabulary import WKT_LITERAL


def test_short_texts_are_remembered_and_long_ones_fewer_or_not_at_all() -> None:
    asked: list[str] = []

    @remembered((3, 100), (10, 2))
    def double(text: str, times: int = 2) -> str:
        asked.append(text)
        return text * times

    texts = ["abc", "a" * 10, "b" * 10, "c" * 10, "long" * 10]
    for text in texts:
        assert double(text) == text * 2
    asked.clear()
    for text in reversed(texts):
        assert double(text) == text * 2
    # Of the middle length the last two were kept, and the longest never.
    assert asked == ["long" * 10, "a" * 10]
    assert double("abc", 3) == "abcabcabc"


def test_a_literal_counts_by_its_text() -> None:
    asked: list[Literal] = []

    @remembered((5, 10))
    def note(literal: Literal) -> int:
        asked.append(literal)
        return len(literal.value)

    for _ in range(2):
        assert [note(Literal("short")), note(Literal("longer"))] == [5, 6]
    assert asked == [Literal("short"), Literal("longer"), Literal("longer")]


def test_a_geometry_is_read_once_whether_it_is_short_or_long() -> None:
    ring = ", ".join(f"{n / 1000} {n % 2}" for n in range(3000))
    for text in ("POINT(1 2)", f"LINESTRING({ring})"):
        literal = Literal(text, datatype=WKT_LITERAL)
        assert read_geometry(literal) is read_geometry(literal)
