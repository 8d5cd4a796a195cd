"""The stand-in for a server, and the adapter before it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from extractors.models.http.http_model import HttpModel
from tests.support.asking import PATIENT, QUICK
from tests.support.tgi_stand_in import StandIn, running


@pytest.fixture
def server() -> Iterator[StandIn]:
    with running(StandIn()) as stand_in:
        yield stand_in


@pytest.fixture
async def model(server: StandIn) -> AsyncIterator[HttpModel]:
    model = HttpModel(server.url, retry=QUICK, timeouts=PATIENT)
    yield model
    await model.close()
