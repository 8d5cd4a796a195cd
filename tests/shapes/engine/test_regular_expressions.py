"""Regular expressions with a time limit answer what those of Python do."""

import re

import pytest

from shapes.engine.functions import RegularExpression, is_simple
from shapes.time_limit import TimeLimit
from sparql.model.errors import JudgingTimeout

TEXTS = ("", " ", "a", "aab", "New York\nCity", "10013-1234", "https://example.org/å", "[x]", "1931-05-01")
SIMPLE = ("[^ ]", "^https?://[^ ]+[.][^ ]+$", "^[0-9]{5}(-[0-9]{4})?$", r"^\s*\d", "a|b", "[]*+{}?]")
MANIFOLD = ("(a+)+$", "^(a|aa)+$", "(?:ab)*", r"(a)\1", "a+a+a+", "a?a?a?a?a?", "(a|b)(a|b)(a|b)(a|b)(a|b)")


@pytest.mark.parametrize("pattern", [*SIMPLE, *MANIFOLD])
@pytest.mark.parametrize("flags", ["", "i", "m"])
def test_matches_are_those_of_python(pattern: str, flags: str) -> None:
    own = RegularExpression(pattern, flags)
    reference = re.compile(pattern, {"": 0, "i": re.IGNORECASE, "m": re.MULTILINE}[flags])
    for text in TEXTS:
        assert bool(own.search(text)) == bool(reference.search(text)), text
        assert bool(own.match(text)) == bool(reference.match(text)), text
        assert own.replace(text, "<\\g<0>>") == reference.sub("<\\g<0>>", text)


def test_what_may_try_many_possibilities_gets_a_timeout() -> None:
    assert all(map(is_simple, SIMPLE))
    assert not any(map(is_simple, MANIFOLD))


@pytest.mark.parametrize("call", ["search", "match", "replace"])
def test_what_takes_too_long_ends_the_judgment(call: str) -> None:
    arguments = ("a" * 60 + "b", *(("x",) if call == "replace" else ()))
    with TimeLimit(0.05).running(), pytest.raises(JudgingTimeout):
        getattr(RegularExpression("^(a|aa)+$"), call)(*arguments)
