"""Examples as token ids: the text of a form once, and each of its fields as a branch of its own behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from extractors.prompting.form import END_OF_ANSWER, NONE, opening
from extractors.research.training.dataset import Example

__all__ = ["LONGEST_DIALOG", "LONGEST_FORM", "Row", "rows_of"]

LONGEST_DIALOG = 1024
LONGEST_FORM = 200


@dataclass(frozen=True)
class Row:
    """`branches` tells for every token which field it belongs to (0: the text, which all of them see).

    `positions` begin anew behind the text in every branch, as they do when the field is asked alone.
    `weights` are above 0 for the tokens of answers.
    """

    tokens: tuple[int, ...]
    positions: tuple[int, ...]
    branches: tuple[int, ...]
    weights: tuple[float, ...]


def _dialog(tokenizer: Any, example: Example) -> Row:
    messages = [{"role": role, "content": words} for role, words in example.dialog]
    prompt = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    head = tokenizer(prompt, add_special_tokens=False)["input_ids"]
    answer = tokenizer(example.answer, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
    tokens = (*head, *answer)
    weights = (0.0,) * len(head) + (1.0,) * len(answer)
    return Row(tokens, tuple(range(len(tokens))), (0,) * len(tokens), weights)


class _Pieces:
    """The tokens of the parts of forms; each distinct part is cut once, all of them together."""

    def __init__(self, tokenizer: Any, forms: Sequence[Example]) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, list[int]] = {}
        words = [opening(example.text) for example in forms]
        fields = [field for example in forms for field in example.fields]
        words += [field.answer + END_OF_ANSWER for field in fields]
        self._cut(words)
        self._heads: dict[str, list[int]] = {}
        for example in forms:
            for field in example.fields:
                if field.heading not in self._heads:
                    self._heads[field.heading] = self._behind(opening(example.text), field.heading)

    def _cut(self, words: Iterable[str]) -> None:
        new = list(dict.fromkeys(word for word in words if word not in self._known))
        if new:
            cut = self._tokenizer(new, add_special_tokens=False)["input_ids"]
            self._known.update(zip(new, cut, strict=True))

    def _behind(self, text: str, heading: str) -> list[int]:
        """The tokens of a heading where it stands: behind a text, which ends with its line."""
        shared, whole = (
            self[text],
            self._tokenizer([text + heading], add_special_tokens=False)["input_ids"][0],
        )
        if whole[: len(shared)] != shared:
            raise ValueError(f"the tokens of a text change with what follows it: {text!r}")
        return list(whole[len(shared) :])

    def __getitem__(self, words: str) -> list[int]:
        return self._known[words]

    def heading(self, words: str) -> list[int]:
        return self._heads[words]


def _form(pieces: _Pieces, example: Example, longest: int) -> Row | None:
    shared = pieces[opening(example.text)]
    if 2 * len(shared) > longest:
        return None
    tokens, weights = list(shared), [0.0] * len(shared)
    positions, branches = list(range(len(shared))), [0] * len(shared)
    fields = sorted(example.fields, key=lambda field: field.answer == NONE)
    for number, field in enumerate(fields, 1):
        head, reply = pieces.heading(field.heading), pieces[field.answer + END_OF_ANSWER]
        if len(tokens) + len(head) + len(reply) > longest:
            continue
        tokens += [*head, *reply]
        positions += range(len(shared), len(shared) + len(head) + len(reply))
        branches += [number] * (len(head) + len(reply))
        weights += [0.0] * len(head) + [field.weight] * len(reply)
    return Row(tuple(tokens), tuple(positions), tuple(branches), tuple(weights))


def rows_of(
    tokenizer: Any,
    examples: Sequence[Example],
    *,
    longest: int = LONGEST_FORM,
    longest_dialog: int = LONGEST_DIALOG,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Row]:
    """Turn examples into rows of at most `longest` tokens; fields that do not fit are left out.

    A form whose text fills more than half of that is left out, and so is a dialog of more than
    `longest_dialog` tokens; `tell` gets how many, and the lengths of the dialogs.
    """
    pieces = _Pieces(tokenizer, [example for example in examples if not example.dialog])
    rows, lengths, forms, short = [], [], 0, 0
    for example in examples:
        row = _dialog(tokenizer, example) if example.dialog else _form(pieces, example, longest)
        if example.dialog and row is not None:
            lengths.append(len(row.tokens))
            if len(row.tokens) > longest_dialog:
                continue
        else:
            forms += 1
            short += row is not None
        if row is not None:
            rows.append(row)
    if short < forms:
        tell(f"{forms} forms: {forms - short} whose text has more than {longest // 2} tokens are left out")
    if lengths:
        left_out = sum(length > longest_dialog for length in lengths)
        tell(
            f"{len(lengths)} dialogs of {min(lengths)} to {max(lengths)} tokens: {left_out} with more than "
            f"{longest_dialog} are left out"
        )
    return rows
