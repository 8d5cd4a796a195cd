"""Rows as tensors, in which the fields of a form do not see each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from extractors.research.training.rows import Row

__all__ = ["Batch", "batch_of"]


@dataclass(frozen=True)
class Batch:
    """Rows padded on the right.

    ids, positions and weights are (rows, length); the mask, added to the scores, (rows, 1, length, length).
    """

    ids: torch.Tensor
    positions: torch.Tensor
    mask: torch.Tensor
    weights: torch.Tensor


def batch_of(rows: Sequence[Row], padding: int) -> Batch:
    """Pad rows to one length; a token sees what stands before it in the text and in its own branch."""
    longest = max(len(row.tokens) for row in rows)

    def padded(values: list[Sequence[float]], fill: float, kind: torch.dtype) -> torch.Tensor:
        return torch.tensor([[*value, *[fill] * (longest - len(value))] for value in values], dtype=kind)

    branches = padded([row.branches for row in rows], -1, torch.long)
    seen = (branches[:, None, :] == branches[:, :, None]) | (branches[:, None, :] == 0)
    mask = seen & torch.ones(longest, longest, dtype=torch.bool).tril()
    bias = torch.zeros(mask.shape, dtype=torch.bfloat16).masked_fill(~mask, torch.finfo(torch.bfloat16).min)
    return Batch(
        padded([row.tokens for row in rows], padding, torch.long),
        padded([row.positions for row in rows], 0, torch.long),
        bias[:, None],
        padded([row.weights for row in rows], 0.0, torch.float32),
    )
