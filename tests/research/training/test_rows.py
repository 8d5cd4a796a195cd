"""Examples as rows of tokens: what does not fit is counted by its kind, and nothing is dropped in silence."""

from __future__ import annotations

import pytest

from extractors.errors import TrainingDataError
from extractors.models.chat import NONE
from research.training.dataset import Example
from research.training.frames.fields import Asked
from research.training.rows import Dialogs, rows_of
from tests.support.word_tokenizer import WordTokenizer


@pytest.fixture
def dialogs() -> Dialogs:
    return Dialogs(WordTokenizer())


def _dialog(words: int, turn: str = "RTE triples") -> Example:
    return Example("instruction", "", dialog=(("user", "word " * words),), answer="yes", turn=turn)


def test_forms_that_are_too_long_are_counted_and_left_out(dialogs: Dialogs) -> None:
    asked = (Asked("opened:", NONE, 1.0),)
    forms = [Example("city", "word " * words, asked) for words in (4, 40)]
    found = rows_of(dialogs, forms, longest=30)
    assert len(found.rows) == 1
    assert list(found.report()) == ["form: 2 of at most 47 tokens (median 47), 1 too long and left out"]


def test_long_dialogs_are_counted_by_their_kind_and_left_out(dialogs: Dialogs) -> None:
    examples = [_dialog(8), _dialog(98), _dialog(98, "RTE types")]
    found = rows_of(dialogs, examples, longest_dialog=50)
    assert [len(row.tokens) for row in found.rows] == [10]
    assert found.lengths["RTE triples"].json() == {
        "count": 2, "median_tokens": 100, "longest_tokens": 100, "left_out": 1, "fields_left_out": 0,
    }  # fmt: skip
    assert found.lengths["RTE types"].left_out == 1
    assert len(rows_of(dialogs, examples, longest_dialog=100).rows) == 3


def test_a_dialog_of_four_thousand_tokens_is_learned_by_default(dialogs: Dialogs) -> None:
    assert len(rows_of(dialogs, [_dialog(4000)]).rows) == 1


def test_fields_are_branches_behind_one_text(dialogs: Dialogs) -> None:
    asked = (Asked("a:", " x | y", 1.0), Asked("b:", NONE, 0.5))
    (row,) = rows_of(dialogs, [Example("city", "some text here", asked)]).rows
    shared = row.branches.count(0)
    for branch in (1, 2):
        places = [place for place, number in enumerate(row.branches) if number == branch]
        assert [row.positions[place] for place in places] == list(range(shared, shared + len(places)))
    weights = {weight for weight, branch in zip(row.weights, row.branches, strict=True) if branch == 2}
    assert weights == {0.0, 0.5}
    assert all(weight == 0 for weight in row.weights[:shared])


def test_of_a_form_the_empty_fields_are_left_out_first_and_counted(dialogs: Dialogs) -> None:
    asked = (Asked("b:", NONE, 1.0), Asked("a:", " x | y", 1.0))
    found = rows_of(dialogs, [Example("city", "one two", asked)], longest=12)
    (row,) = found.rows
    assert max(row.branches) == 1
    assert dialogs.tokenizer.decode(list(row.tokens)).endswith("a : x | y <end>")
    assert found.lengths["form"].fields_left_out == 1
    assert rows_of(dialogs, [Example("city", "a text that is far too long", asked)], longest=12).rows == []


def test_of_a_dialog_the_answer_and_its_end_alone_count(dialogs: Dialogs) -> None:
    dialog = (("system", "Plan."), ("user", "who is there"))
    (row,) = rows_of(dialogs, [Example("plan", "who is there", answer="{} done", dialog=dialog)]).rows
    counted = [token for token, weight in zip(row.tokens, row.weights, strict=True) if weight]
    assert dialogs.tokenizer.decode(counted) == "{} done <end>"
    assert row.kind == "plan"
    assert not row.is_form


def test_a_tokenizer_that_joins_a_text_to_what_follows_is_refused_for_forms() -> None:
    class Joining(WordTokenizer):
        def __call__(self, text: str | list[str], *, add_special_tokens: bool) -> dict[str, object]:
            if isinstance(text, str):
                text = text.replace("\na", "+a")
            return super().__call__(text, add_special_tokens=add_special_tokens)

    form = Example("city", "some text", (Asked("a:", NONE, 1.0),))
    with pytest.raises(TrainingDataError, match="--instructions"):
        rows_of(Dialogs(Joining()), [form])


def test_a_tokenizer_without_an_end_is_refused() -> None:
    tokenizer = WordTokenizer()
    tokenizer.eos_token_id = None  # type: ignore[assignment]
    with pytest.raises(TrainingDataError, match="eos_token"):
        Dialogs(tokenizer)
