"""Workers on the checkpoints of a store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sparql.workers.pool import WorkerPool
from sparql.workers.workers import PoolSettings
from tests.support.stores import StoreCheckpoints


@pytest.fixture
def source(tmp_path: Path) -> StoreCheckpoints:
    return StoreCheckpoints(tmp_path)


@pytest.fixture
async def pool(source: StoreCheckpoints) -> AsyncIterator[WorkerPool]:
    async with WorkerPool(source, PoolSettings(workers=2, timeout_s=120)) as pool:
        yield pool
