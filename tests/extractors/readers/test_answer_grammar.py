"""The grammar of answers: which words it lets through."""

from __future__ import annotations

import re

import pytest

from extractors.readers.form import answer_grammar

RULE = re.compile(r"^(\w+) ::= (.*)$")
TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|(u\d+)|([()?])')


def runs(text: str) -> set[str]:
    """Every run that the grammar allows, by following its rules."""
    rules = dict(match.groups() for line in answer_grammar(text).splitlines() if (match := RULE.match(line)))

    def of(name: str) -> set[str]:
        tokens = TOKEN.findall(rules[name])
        head = tokens[0][0].replace('\\"', '"').replace("\\\\", "\\")
        following = next((token[1] for token in tokens if token[1]), None)
        gap = tokens[2][0] if len(tokens) > 2 and tokens[1][2] == "(" else ""
        return {head} | ({f"{head}{gap}{rest}" for rest in of(following)} if following else set())

    return {run for start in rules["run"].split(" | ") for run in of(start)}


def test_every_run_of_words_is_allowed_and_no_other() -> None:
    assert runs("Old Mill opened") == {
        "Old",
        "Old Mill",
        "Old Mill opened",
        "Mill",
        "Mill opened",
        "opened",
    }


def test_a_word_is_never_broken_but_ends_before_punctuation() -> None:
    allowed = runs("King's Road, 1921.")
    assert {"King's Road", "King", "Road", "1921"} <= allowed
    assert "Roa" not in allowed
    assert ", 1921" not in allowed


def test_quotes_and_backslashes_are_escaped() -> None:
    assert '"Heroes" \\' in runs('"Heroes" \\ live')


def test_white_space_is_one_space_as_in_the_form() -> None:
    assert "Old Mill" in runs("Old\n   Mill")


@pytest.mark.parametrize("text", ["", "...", "  "])
def test_a_text_without_words_leaves_words_free(text: str) -> None:
    assert "run" not in answer_grammar(text).split()


def test_a_value_may_be_left_free() -> None:
    pair = next(
        line for line in answer_grammar("Old Mill", free_value=True).splitlines() if "pair ::=" in line
    )
    assert pair == 'pair ::= run " | " [^|\\n]+'
