"""Readers on the checkpoints of a store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sparql.workers.pool import ReaderPool
from sparql.workers.queue.workers import ReaderSettings
from tests.support.stores import StoreCheckpoints


@pytest.fixture
def source(tmp_path: Path) -> StoreCheckpoints:
    return StoreCheckpoints(tmp_path)


@pytest.fixture
async def pool(source: StoreCheckpoints) -> AsyncIterator[ReaderPool]:
    async with ReaderPool(source, ReaderSettings(readers=2, timeout_s=120)) as pool:
        yield pool
