"""The Warning header says the same to every client, whatever characters a warning has."""

import re

from server.http.reporting.problems import warning_of


def read(value: str) -> str:
    """The text of a header as a client reads a quoted string (RFC 7230, 3.2.6)."""
    text = re.fullmatch(r'199 urbankg "((?:[^"\\]|\\.)*)"', value)
    assert text is not None
    return re.sub(r"\\(.)", r"\1", text[1])


def test_nothing_to_report_is_no_header() -> None:
    assert warning_of([]) is None
    assert warning_of([" "]) is None


def test_characters_beyond_ascii_are_escaped_as_in_sparql() -> None:
    value = warning_of(["<http://e/café> and 😀."])
    assert value is not None
    assert value.isascii()
    assert read(value) == r"<http://e/caf\u00E9> and \U0001F600."


def test_quotes_and_backslashes_arrive_as_they_are() -> None:
    value = warning_of([r'"POINT(\1)" is not WKT.', "Really."])
    assert value is not None
    assert read(value) == r'"POINT(\1)" is not WKT. Really.'


def test_a_line_end_is_a_space() -> None:
    assert warning_of(["one\r\ntwo\tthree"]) == '199 urbankg "one two three"'


def test_a_long_warning_is_cut_between_characters() -> None:
    value = warning_of(["é" * 5000])
    assert value is not None
    assert len(value) < 1100
    assert set(re.split(r"(?=\\u)", read(value))[1:]) == {r"\u00E9"}
