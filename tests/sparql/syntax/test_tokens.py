"""Strings are one token each, however long, and end where the grammar says (SPARQL 1.1, 19.8)."""

import time

import pytest

from sparql.syntax.nesting import size_of
from sparql.syntax.tokens import TokenKind, read_tokens


def test_a_literal_of_megabytes_is_one_token_read_in_no_time_and_hardly_any_memory() -> None:
    text = f'INSERT DATA {{ <urn:a> <urn:b> "{"0.5 -1," * 700_000}" }}'
    tracked = time.process_time()
    kinds = [token.kind for token in read_tokens(text)]
    size_of(text, depth_limit=10, operator_limit=10)
    assert kinds.count(TokenKind.STRING) == 1
    assert time.process_time() - tracked < 1.0


@pytest.mark.parametrize("mark", ['"', "'"])
@pytest.mark.parametrize("inner", ["", "a", "aQ b", "QQa", "a\\Q", "\\\\", "a\nb", "QQ\\Q"])
def test_strings_of_three_marks_end_at_the_first_three(mark: str, inner: str) -> None:
    written = mark * 3 + inner.replace("Q", mark) + mark * 3
    first = next(iter(read_tokens(written + " .")))
    assert (first.kind, first.text) == (TokenKind.STRING, written)
