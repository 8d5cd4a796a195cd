"""The default graph and clients' graphs of a remote store, written as one document."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import chain
from typing import IO, cast

from pyoxigraph import DefaultGraph, RdfFormat, serialize

from sparql.protocol.formats import Format
from sparql.remote.channel import Bridge, Outflow, Sink, Stopped
from sparql.remote.store import RemoteStore

_PATIENCE_S = 3600.0


async def dump_dataset(store: RemoteStore, format_: Format) -> AsyncIterator[bytes]:
    """In pieces, graph by graph; one graph at a time is in memory. Raises RemoteError."""
    assert isinstance(format_.engine, RdfFormat)
    engine = format_.engine
    bridge, outflow = Bridge(asyncio.get_running_loop()), Outflow()
    sink = Sink(bridge, outflow)
    graph = store.graph.until(_PATIENCE_S)

    def work() -> None:
        graphs = (DefaultGraph(), *graph.client_graphs())
        quads = chain.from_iterable(graph.quads_for_pattern(None, None, None, one) for one in graphs)
        # The engine accepts any object with a write method.
        serialize(quads, cast("IO[bytes]", sink), format=engine)
        sink.finish()

    async def run() -> None:
        try:
            await asyncio.to_thread(work)
        except Stopped:
            return
        finally:
            outflow.end()

    running = asyncio.create_task(run())
    try:
        async for piece in outflow:
            yield piece
        await running
    finally:
        bridge.stop()
        await asyncio.wait((running,))
