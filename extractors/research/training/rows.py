"""Examples as token ids: the text of a form once, and each of its fields as a branch of its own behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from extractors.prompting.form import END_OF_ANSWER, NONE, opening
from extractors.research.training.dataset import Example

__all__ = ["Row", "rows_of"]

_LONGEST_DIALOG = 1024


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


def rows_of(tokenizer: Any, examples: Sequence[Example], *, longest: int = 200) -> list[Row]:
    """Turn examples into rows of at most `longest` tokens; fields that do not fit are left out."""
    rows = []
    for example in examples:
        row = _dialog(tokenizer, example) if example.dialog else _form(tokenizer, example, longest)
        if row is not None and len(row.tokens) <= max(longest, _LONGEST_DIALOG):
            rows.append(row)
    return rows
