"""`urbankg mcp`: the Model Context Protocol over standard input and output."""

from __future__ import annotations

import asyncio

import typer

from server.cli.invocation import existing, settings_of
from server.cli.options import Config, Data, ModelUrl
from server.mcp.calling import FolderCalls


def mcp(context: typer.Context, data: Data = None, config: Config = None, model_url: ModelUrl = None) -> None:
    """Offer the graph to a language model as tools, over standard input and output.

    The server that holds the folder is called, by the key in URBANKG_API_KEY where it wants one; where none
    does, one is started for as long as this runs. A running server offers the same at /mcp.
    """
    settings = settings_of(context, data=data, config=config, model_url=model_url).settings
    flags = [("--config", config), ("--model-url", model_url)]
    given = [str(part) for flag in flags if flag[1] is not None for part in flag]
    asyncio.run(_serve(FolderCalls(existing(settings).data, settings.api_key, given)))


async def _serve(calls: FolderCalls) -> None:
    from server.mcp.protocol import serve_standard_streams

    try:
        await serve_standard_streams(calls)
    finally:
        await calls.close()
