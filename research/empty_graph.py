"""The gate for the evaluation of extraction: every text over the same graph, nothing stored."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from extractors.models.chat import ChatModel
from extractors.prompting.methods import Method
from research.urban.gold import Extract, Gated
from server.cli.storage import load_sample
from server.runtime.wiring import build
from server.services import Services
from server.settings import Settings


@asynccontextmanager
async def empty_graph(
    settings: Settings, model: ChatModel | None = None, *, sample: bool = False
) -> AsyncIterator[Services]:
    """A temporary folder with the ontology, shapes and model of the settings.

    With `sample` the graph is not empty but has the sample city.
    """
    with tempfile.TemporaryDirectory(prefix="urbankg-evaluation-") as folder:
        alone = settings.model_copy(update={"data": Path(folder), "store_url": None, "readers": 1})
        async with build(alone, model=model) as services:
            await services.opened()
            if sample:
                await asyncio.to_thread(load_sample, services)
            yield services


def gated(services: Services, method: Method | None = None) -> Extract:
    """Extraction as in the server, up to the verdict of the gate; nothing is committed.

    `method` overrides that of the settings.
    """

    async def extract(text: str) -> Gated:
        outcome = await services.intake.extract(text, commit=False, method=method)
        assert outcome.extraction is not None
        return Gated(
            outcome.extraction, frozenset(statement.triple for statement in outcome.verdict.accepted)
        )

    return extract
