"""Dialogs that are too long are counted, not dropped in silence."""

from __future__ import annotations

from typing import Any

from extractors.research.training.dataset import Example
from extractors.research.training.frames.fields import Asked
from extractors.research.training.rows import rows_of


class _Words:
    """A tokenizer of which each word is a token."""

    eos_token_id = 0

    def apply_chat_template(self, messages: list[dict[str, str]], **how: Any) -> str:
        return " ".join(message["content"] for message in messages)

    def __call__(self, text: str | list[str], **how: Any) -> dict[str, Any]:
        if isinstance(text, list):
            return {"input_ids": [[1] * len(one.split()) for one in text]}
        return {"input_ids": [1] * len(text.split())}


def test_forms_that_are_too_long_are_counted_and_left_out() -> None:
    asked = (Asked("opened:", " none", 1.0),)
    forms = [Example("city", "word " * words, asked) for words in (4, 40)]
    reported: list[str] = []
    rows = rows_of(_Words(), forms, longest=30, tell=reported.append)
    assert len(rows) == 1
    assert reported == ["2 forms: 1 whose text has more than 15 tokens are left out"]


def _dialog(words: int) -> Example:
    return Example(text="", fields=(), source="test", dialog=(("user", "word " * words),), answer="yes")


def test_long_dialogs_are_counted_and_left_out() -> None:
    reported: list[str] = []
    rows = rows_of(_Words(), [_dialog(8), _dialog(98)], longest_dialog=50, tell=reported.append)
    assert [len(row.tokens) for row in rows] == [10]
    assert reported == ["2 dialogs of 10 to 100 tokens: 1 with more than 50 are left out"]
    assert len(rows_of(_Words(), [_dialog(8), _dialog(98)], longest_dialog=100)) == 2
