"""Examples as token ids: the text of a form once, and each of its fields as a branch of its own behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from extractors.prompting.form import END_OF_ANSWER, NONE, opening
from extractors.research.training.dataset import Example

__all__ = ["LONGEST_DIALOG", "Row", "rows_of"]

LONGEST_DIALOG = 1024


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


def _form(tokenizer: Any, example: Example, longest: int) -> Row | None:
    text = opening(example.text)
    shared = tokenizer(text, add_special_tokens=False)["input_ids"]
    if 2 * len(shared) > longest:
        return None
    tokens, weights = list(shared), [0.0] * len(shared)
    positions, branches = list(range(len(shared))), [0] * len(shared)
    fields = sorted(example.fields, key=lambda field: field.answer == NONE)
    for number, field in enumerate(fields, 1):
        head = tokenizer(text + field.heading, add_special_tokens=False)["input_ids"]
        if head[: len(shared)] != shared:
            raise ValueError(f"the tokens of a text change with what follows it: {example.text!r}")
        head = head[len(shared) :]
        reply = tokenizer(field.answer + END_OF_ANSWER, add_special_tokens=False)["input_ids"]
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
    longest: int = 200,
    longest_dialog: int = LONGEST_DIALOG,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Row]:
    """Turn examples into rows of at most `longest` tokens; fields that do not fit are left out.

    Dialogs have at most `longest_dialog` tokens; `tell` gets their lengths and how many were longer.
    """
    rows, lengths = [], []
    for example in examples:
        row = _dialog(tokenizer, example) if example.dialog else _form(tokenizer, example, longest)
        if example.dialog and row is not None:
            lengths.append(len(row.tokens))
            if len(row.tokens) > longest_dialog:
                continue
        if row is not None:
            rows.append(row)
    if lengths:
        left_out = sum(length > longest_dialog for length in lengths)
        tell(
            f"{len(lengths)} dialogs of {min(lengths)} to {max(lengths)} tokens: {left_out} with more than "
            f"{longest_dialog} are left out"
        )
    return rows
