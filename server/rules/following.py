"""Polls the files of ontology and shapes: an edit on disk is put in force without a restart.

File events would not replace polling: network folders and some container mounts send none, an edit counts
only once the files stay the same between two polls, and edits that the store refused are tried again.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from server.background import beside
from server.services import Services

_log = logging.getLogger("urbankg.rules")


@asynccontextmanager
async def following(services: Services) -> AsyncIterator[None]:
    """Poll the files every `watch_files_s` seconds while the block runs; 0: never."""
    async with beside(_follow(services) if services.settings.watch_files_s > 0 else None):
        yield


async def _follow(services: Services) -> None:
    # A failure to open the engines is reported to those who wait for them.
    while not services.is_open:
        await asyncio.sleep(services.settings.watch_files_s)
    while services.startup.started.exception() is None:
        await asyncio.sleep(services.settings.watch_files_s)
        try:
            await asyncio.to_thread(services.rule_registry.look)
        except OSError as error:
            _log.error("The files of ontology and shapes cannot be read: %s", error)
