"""The settings of a command, and the folder, opened here or through the server that holds it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import typer

from server.cli.running_server import RunningServer, running_server
from server.errors import FolderMissing, ServerError
from server.settings import Settings
from server.settings_loading import LoadedSettings, chosen

if TYPE_CHECKING:
    from server.services import Services
    from sparql.storage.embedded_store import EmbeddedStore

Found = TypeVar("Found")
Opening: TypeAlias = "Callable[[Services], AbstractAsyncContextManager[Services]]"
"""How much of the services a command opens: all, or `Services.writing`, `querying` or `reading`."""


def settings_of(context: typer.Context, **flags: Any) -> LoadedSettings:
    """Settings from the flags before and after the command, the environment and the file."""
    return chosen(context.obj, **flags)


def existing(settings: Settings) -> Settings:
    """The settings, if their folder is there. Raises `FolderMissing`."""
    if not settings.data.is_dir():
        raise FolderMissing(settings.data)
    return settings


def show_from_either(
    settings: Settings,
    remote: Callable[[RunningServer], Found],
    local: Callable[[Services], Found],
    show: Callable[[Found], int],
    *,
    opening: Opening = lambda services: services,
) -> None:
    """Get the same answer from the server that holds the folder or from the folder, and show it.

    `local` runs on a thread; `show` prints and returns the exit code.
    """

    async def from_folder(services: Services) -> int:
        return show(await asyncio.to_thread(local, services))

    on_either(settings, lambda server: show(remote(server)), from_folder, opening=opening)


def on_either(
    settings: Settings,
    remote: Callable[[RunningServer], int],
    local: Callable[[Services], Awaitable[int]],
    *,
    opening: Opening = lambda services: services,
    new: bool = False,
) -> None:
    """Call the server that holds the folder, or open the folder here; only with `new` is a folder made."""
    server = running_server(settings.data, settings.api_key)
    finish(remote(server) if server is not None else on_folder(settings, local, opening, new=new))


def on_store(
    settings: Settings, remote: Callable[[RunningServer], int], local: Callable[[EmbeddedStore], int]
) -> None:
    """The same for commands that only need the store. Raises `StoreUnreadable` when there is none."""
    server = running_server(settings.data, settings.api_key)
    if server is not None:
        finish(remote(server))
        return
    if settings.store_url is not None:
        raise ServerError(
            f"The graph is in the store at {settings.store_url}. Start the server (`urbankg serve`) and run "
            "this again, or use that store's own tools."
        )
    from sparql.model.errors import StoreUnreadable
    from sparql.storage.embedded_store import EmbeddedStore

    if not (settings.data / "graph").is_dir():
        raise StoreUnreadable(settings.data, "there is no graph in it")
    store = EmbeddedStore(settings.data)
    try:
        finish(local(store))
    finally:
        store.close()


def on_folder(
    settings: Settings,
    work: Callable[[Services], Awaitable[int]],
    opening: Opening = lambda services: services,
    *,
    new: bool = False,
) -> int:
    """Open the folder here. Raises `ServerError` when a server holds it, or it is not there and not `new`."""
    server = running_server(settings.data, settings.api_key)
    if server is not None:
        raise ServerError(
            f"A server at {server.url} holds {settings.data}. Stop it first, then run this again."
        )
    if not new:
        existing(settings)
    from server.runtime.wiring import build

    async def run() -> int:
        # Held batches are judged by a server, or by `urbankg held judge`.
        services = build(settings, serves=False)
        async with opening(services):
            return await work(services)

    return asyncio.run(run())


def finish(code: int) -> None:
    """End the command with this exit code."""
    if code:
        raise typer.Exit(code)


def text_or_file(argument: str) -> str:
    """The argument itself, or the content of the file of that name (or of standard input, for -)."""
    if argument == "-":
        return sys.stdin.read()
    is_name = "\n" not in argument and len(argument) < 1024
    path = Path(argument)
    if is_name and path.suffix in (".txt", ".rq", ".sparql", ".md") and path.is_file():
        return path.read_text(encoding="utf-8")
    return argument
