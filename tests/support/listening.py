"""An application that listens on a port of this machine, for tests that need real connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn


@asynccontextmanager
async def listening(app: Any, **settings: Any) -> AsyncIterator[int]:
    """Serve while the block runs; the port, which the system chose."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, ws="none", **settings))
    task = asyncio.create_task(server.serve())
    try:
        while not server.started:
            await asyncio.sleep(0.01)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await task
