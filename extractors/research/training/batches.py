"""Rows as tensors, in which the fields of a form do not see each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from extractors.research.training.rows import Row

__all__ = ["Batch", "batch_of"]

_MULTIPLE = 8
"""Lengths are multiples of it: the quick kernels of attention want that of the mask."""


@dataclass(frozen=True)
class Batch:
    """Rows padded on the right.

    ids, positions and weights are (rows, length); the mask, added to the scores, (rows, 1, length, length).
    All are on the device of the model.
    """

    ids: torch.Tensor
    positions: torch.Tensor
    mask: torch.Tensor
    weights: torch.Tensor


def batch_of(rows: Sequence[Row], padding: int, device: torch.device | None = None) -> Batch:
    """Pad rows to one length; a token sees what stands before it in the text and in its own branch."""
    longest = -(-max(len(row.tokens) for row in rows) // _MULTIPLE) * _MULTIPLE

    def padded(values: list[Sequence[float]], fill: float, kind: type[np.generic]) -> torch.Tensor:
        table = np.full((len(values), longest), fill, dtype=kind)
        for line, value in zip(table, values, strict=True):
            line[: len(value)] = value
        return torch.from_numpy(table).to(device)

    branches = padded([row.branches for row in rows], -1, np.int64)
    seen = (branches[:, None, :] == branches[:, :, None]) | (branches[:, None, :] == 0)
    mask = seen & torch.ones(longest, longest, dtype=torch.bool, device=device).tril()
    bias = torch.zeros(mask.shape, dtype=torch.bfloat16, device=device)
    bias.masked_fill_(~mask, torch.finfo(torch.bfloat16).min)
    return Batch(
        padded([row.tokens for row in rows], padding, np.int64),
        padded([row.positions for row in rows], 0, np.int64),
        bias[:, None],
        padded([row.weights for row in rows], 0.0, np.float32),
    )
