"""What every command needs: the settings in force, and the folder, open here or held by a server."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import typer

from server.cli.running_server import RunningServer, running_server
from server.errors import ServerError
from server.runtime.context import Services
from server.runtime.settings import LoadedSettings, Settings, chosen
from server.runtime.wiring import build
from sparql.model.errors import StoreUnreadable
from sparql.storage.embedded_store import EmbeddedStore


def settings_of(context: typer.Context, **flags: Any) -> LoadedSettings:
    """Settings from the flags before and after the command, the environment and the file."""
    return chosen(context.obj, **flags)


def on_either(
    settings: Settings,
    remote: Callable[[RunningServer], int],
    local: Callable[[Services], Awaitable[int]],
    *,
    only_writes: bool = False,
) -> None:
    """Talk to the server that holds the folder, or open the folder with everything around it.

    With `only_writes` what reads and asks is left closed.
    """
    server = running_server(settings.data, settings.api_key)
    finish(remote(server) if server is not None else on_folder(settings, local, only_writes=only_writes))


def on_store(
    settings: Settings, remote: Callable[[RunningServer], int], local: Callable[[EmbeddedStore], int]
) -> None:
    """The same for work that needs only the store. Raises `StoreUnreadable` when there is none."""
    server = running_server(settings.data, settings.api_key)
    if server is not None:
        finish(remote(server))
        return
    if settings.store_url is not None:
        raise ServerError(
            f"The graph is in the store at {settings.store_url}. Start the server (`urbankg serve`), and run "
            "this again, or use that store's own means."
        )
    if not (settings.data / "graph").is_dir():
        raise StoreUnreadable(settings.data, "there is no graph in it")
    store = EmbeddedStore(settings.data)
    try:
        finish(local(store))
    finally:
        store.close()


def on_folder(
    settings: Settings, work: Callable[[Services], Awaitable[int]], *, only_writes: bool = False
) -> int:
    """Open the folder here. Raises `ServerError` when a server holds it."""
    server = running_server(settings.data, settings.api_key)
    if server is not None:
        raise ServerError(
            f"A server at {server.url} holds {settings.data}. Stop it first, then run this again."
        )

    async def run() -> int:
        services = build(settings)
        # A command does what it is told; what is held waits for a server, or for `urbankg held judge`.
        services.judges_held = False
        async with services.writing() if only_writes else services:
            return await work(services)

    return asyncio.run(run())


def finish(code: int) -> None:
    """End the command with this exit code."""
    if code:
        raise typer.Exit(code)
