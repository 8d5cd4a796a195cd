"""Rows as tensors, in which the fields of a form do not see each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from extractors.research.training.rows import Row

__all__ = ["batch_of", "parts_of"]

_MULTIPLE = 8
"""Lengths are multiples of it: the quick kernels of attention want that of the mask."""


def parts_of(rows: Sequence[Row], most_tokens: int) -> Iterator[list[Row]]:
    """Divide rows into parts of one kind and like length, of at most so many tokens with their padding.

    So the memory of a step is that of its longest row, whatever the size of the batch.
    """
    part: list[Row] = []
    for row in sorted(rows, key=lambda row: (row.is_form, len(row.tokens))):
        if part and (row.is_form != part[0].is_form or (len(part) + 1) * len(row.tokens) > most_tokens):
            yield part
            part = []
        part.append(row)
    if part:
        yield part


def batch_of(rows: Sequence[Row], padding: int, precision: torch.dtype) -> dict[str, Any]:
    """Pad rows of one kind on the right, and give what a model of transformers takes, and `weights`.

    ids, positions and weights are (rows, length). A token of a form sees what stands before it in the text
    and in its own branch: its mask, added to the scores, is (rows, 1, length, length). That of dialogs is
    (rows, length), and the model adds its own windows to it.
    """
    longest = -(-max(len(row.tokens) for row in rows) // _MULTIPLE) * _MULTIPLE

    def padded(values: Sequence[Sequence[float]], fill: float, kind: type[np.generic]) -> torch.Tensor:
        table = np.full((len(values), longest), fill, dtype=kind)
        for line, value in zip(table, values, strict=True):
            line[: len(value)] = value
        return torch.from_numpy(table)

    branches = padded([row.branches for row in rows], -1, np.int64)
    mask = (branches >= 0).long()
    if rows[0].is_form:
        seen = (branches[:, None, :] == branches[:, :, None]) | (branches[:, None, :] == 0)
        seen &= torch.ones(longest, longest, dtype=torch.bool).tril()
        mask = torch.zeros(seen.shape, dtype=precision).masked_fill_(~seen, torch.finfo(precision).min)
        mask = mask[:, None]
    return {
        "input_ids": padded([row.tokens for row in rows], padding, np.int64),
        "position_ids": padded([row.positions for row in rows], 0, np.int64),
        "attention_mask": mask,
        "weights": padded([row.weights for row in rows], 0.0, np.float32),
    }
