"""Cleaning of source records: what is stripped, what is dropped, and that both are reported."""

import pytest
from shapely import Point

from extractors.sources.records import SourceKind, SourceRecord
from extractors.sources.rules import (
    Cleaner,
    CleaningReport,
    CleanRecord,
    Rule,
    Rules,
    gibberish_share,
    strip_gibberish,
    strip_markup,
    strip_urls,
    tidied,
)

GOOD = "Bryant Park is a public park in Midtown Manhattan that opened in 1847 beside the library."
GERMAN = (
    "Die Brücke verbindet seit vielen Jahren die beiden Stadtteile und ist bei den Besuchern sehr beliebt."
)


def record(text: str, name: str = "Bryant Park", **more: object) -> SourceRecord:
    return SourceRecord("a.jsonl, line 1", SourceKind.POI, name, text=text, **more)  # type: ignore[arg-type]


def clean(text: str, rules: Rules | None = None, **more: object) -> CleanRecord:
    return Cleaner(rules).clean(record(text, **more))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", Rule.NULL),
        ("N/A", Rule.NULL),
        ("https://example.org/park", Rule.NULL),
        ("Bryant Park. BRYANT PARK! Bryant Park, Bryant Park; Bryant Park - Bryant Park", Rule.NAME_ONLY),
        ("A nice park with trees.", Rule.SHORT),
        ("xkqzrt bbvnmp qwrtz lkjhgf park zxcvb nmlkp tree wrtzp the and", Rule.GIBBERISH),
        (GERMAN, Rule.LANGUAGE),
    ],
)
def test_a_text_of_no_use_is_dropped_by_the_rule_that_says_why(text: str, rule: Rule) -> None:
    found = clean(text)
    assert found.dropped is rule
    assert found.record.text == ""
    assert found.original == text


def test_a_good_text_is_kept_as_it_is() -> None:
    assert clean(GOOD) == CleanRecord(record(GOOD), GOOD)


def test_the_same_text_again_is_a_duplicate_and_the_place_is_kept_where_it_is_another() -> None:
    cleaner = Cleaner()
    cleaner.clean(record(GOOD, geometry=Point(1, 1)))
    again = cleaner.clean(record(GOOD.replace(" park ", "  park "), geometry=Point(1, 1)))
    assert again.dropped is Rule.DUPLICATE
    assert not again.kept_place
    elsewhere = cleaner.clean(record(GOOD, geometry=Point(2, 2)))
    assert elsewhere.dropped is Rule.DUPLICATE
    assert elsewhere.kept_place


def test_each_rule_can_be_switched_off() -> None:
    off = Rules(
        minimum_words=0,
        name_only=False,
        strip_urls=False,
        gibberish_share=0,
        languages=(),
        duplicates=False,
    )
    cleaner = Cleaner(off)
    for text in ("Bryant Park", "xkqzrt bbvnmp", GERMAN, GERMAN, "see www.example.org"):
        assert cleaner.clean(record(text)).record.text == text


def test_what_was_stripped_is_named() -> None:
    found = clean(f"<p>{GOOD}</p> See https://example.org/a?b=c.")
    assert found.record.text == f"{GOOD}\nSee."
    assert found.stripped == ("markup", "addresses")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<p>One &amp; two.</p><script>if (a < b) x();</script><p>Three</p>", "One & two.\nThree"),
        (
            "The [[High Line|park]] and [[Chelsea]] are '''near'''.[4][citation needed]",
            "The park and Chelsea are near.",
        ),
        ("## History\nSee [the site](https://example.org/a_(b)) **now**.", "History\nSee the site now."),
        ("3 < 5 and 7 > 2", "3 < 5 and 7 > 2"),
        ("<div><style>p {}</style>unclosed <b>bold", "unclosed bold"),
        ("array[ij] and a_b_c stay", "array[ij] and a_b_c stay"),
    ],
)
def test_markup_leaves_the_words_that_a_reader_sees(text: str, left: str) -> None:
    assert tidied(strip_markup(text)) == left


def test_addresses_go_with_the_brackets_that_held_them() -> None:
    text = "Open daily (https://example.org/x), mail a.b@example.org or see www.example.org/y."
    assert tidied(strip_urls(text)) == "Open daily, mail or see."


def test_gibberish_runs_go_and_words_stay() -> None:
    text = "Great!!!!!! Sooooo good \ufffd\ufffd aGVsbG8gd29ybGQx1aGVsbG8 at M15-SBS, 42nd St ... really"
    assert tidied(strip_gibberish(text)) == "Great! So good at M15-SBS, 42nd St ... really"


@pytest.mark.parametrize(
    "text",
    [
        "The NYPD and the MTA run the M15-SBS along 1st Avenue, W42nd Street and I-95 (BQE).",
        "Schermerhorn, Knickerbocker, Wright, Schwartz and Crystal Springs, Rhythm Club at 7:30pm for $5.",
        "Łódź, Brno, Krk und Plzeň; Бруклинский мост; 中央公園 opened 2011-09-11.",
    ],
)
def test_names_numbers_and_other_scripts_are_no_gibberish(text: str) -> None:
    assert gibberish_share(text) == 0


def test_the_report_counts_every_rule_with_examples() -> None:
    cleaner, report = Cleaner(), CleaningReport(examples=2)
    for text in (GOOD, "short", "shorter", "the shortest", "", GOOD):
        report.add(cleaner.clean(record(text)))
    lines = "\n".join(report.lines())
    assert "6 records read, 0 not readable; 1 texts" in lines
    assert "text dropped, too few words: 3" in lines
    assert "a.jsonl, line 1: Bryant Park: short" in lines
    assert report.json()["dropped"] == {"too few words": 3, "null": 1, "duplicate": 1}
    assert len(report.json()["examples"]["too few words"]) == 2
