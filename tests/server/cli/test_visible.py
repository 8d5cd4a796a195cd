"""What a terminal would obey is printed as escapes."""

import json

import pytest

from server.cli.output import print_json, stdout, visible


def test_control_and_bidirectional_characters_are_shown_as_escapes() -> None:
    assert visible("a\u202eb\x1b[31m\u2066\x9b") == "a\\u202eb\\u001b[31m\\u2066\\u009b"
    assert visible("line\n\ttab é \u05d4 \U0001f3de") == "line\n\ttab é \u05d4 \U0001f3de"


def test_json_stays_the_same_value(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"label": "a\u202eb\x7f"})
    printed = capsys.readouterr().out
    assert "\u202e" not in printed
    assert json.loads(printed) == {"label": "a\u202eb\x7f"}


def test_lines_for_people_are_escaped_too(capsys: pytest.CaptureFixture[str]) -> None:
    stdout.print("\x1b[2Jpark", markup=False)
    assert "\x1b" not in capsys.readouterr().out
