"""What commands have in common: their settings, the API that they call, the folder that they open."""

from __future__ import annotations

import asyncio
import getpass
import inspect
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Final, TypeAlias, TypeVar, get_type_hints

import typer

from server.cli.api import Api, opened_api
from server.cli.options import Config, Data, ModelUrl, OntologyFolder, ShapesFolder
from server.errors import FolderMissing, ServerError
from server.running_server import running_server
from server.settings import Settings
from server.settings_loading import LoadedSettings, chosen

if TYPE_CHECKING:
    from server.services import Services
    from sparql.storage.embedded_store import EmbeddedStore

First = TypeVar("First")
Command: TypeAlias = Callable[Concatenate[First, ...], int | None]
_OPTIONS: Final = {
    "data": Data,
    "config": Config,
    "ontology": OntologyFolder,
    "shapes": ShapesFolder,
    "model_url": ModelUrl,
}
"""The options that are settings."""


def settings_of(context: typer.Context, **flags: Any) -> LoadedSettings:
    """Settings from the flags before and after the command, the environment and the file."""
    return chosen(context.obj, **flags)


def with_settings(*more: str, data: bool = True) -> Callable[[Command[Settings]], Callable[..., None]]:
    """Give a command its settings as its first argument, and `--data`, `--config` and `more` as options.

    What the command returns is the exit code.
    """
    names = ("data", "config", *more) if data else ("config", *more)

    def decorate(command: Command[Settings]) -> Callable[..., None]:
        return _with_options(command, names, lambda settings, given: command(settings, **given))

    return decorate


def with_api(*more: str, works: bool = False) -> Callable[[Command[Api]], Callable[..., None]]:
    """The same for the API of the folder: of the server that holds it, else of one in this process.

    With `works`, the one in this process works on jobs.
    """

    def decorate(command: Command[Api]) -> Callable[..., None]:
        def call(settings: Settings, given: dict[str, Any]) -> int | None:
            with opened_api(settings, works=works) as api:
                return command(api, **given)

        return _with_options(command, ("data", "config", *more), call)

    return decorate


def _with_options(
    command: Callable[..., int | None],
    names: tuple[str, ...],
    call: Callable[[Settings, dict[str, Any]], int | None],
) -> Callable[..., None]:
    @wraps(command)
    def run(context: typer.Context, **given: Any) -> None:
        flags = {name: given.pop(name) for name in names}
        finish(call(settings_of(context, **flags).settings, given) or 0)

    kind = inspect.Parameter.KEYWORD_ONLY
    hints = get_type_hints(command, include_extras=True)
    _, *own = inspect.signature(command).parameters.values()
    parameters = [
        inspect.Parameter("context", kind, annotation=typer.Context),
        *(parameter.replace(kind=kind, annotation=hints[parameter.name]) for parameter in own),
        *(inspect.Parameter(name, kind, default=None, annotation=_OPTIONS[name]) for name in names),
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def existing(settings: Settings) -> Settings:
    """The settings, if their folder is there. Raises `FolderMissing`."""
    if not settings.data.is_dir():
        raise FolderMissing(settings.data)
    return settings


def refuse_held(settings: Settings, why: str = "Stop it first, then run this again.") -> None:
    """Raises `ServerError` where a server holds the folder."""
    server = running_server(settings.data)
    if server is not None:
        raise ServerError(f"A server at {server.url} holds {settings.data}. {why}")


def on_store(
    settings: Settings, remote: Callable[[Api], int | None], local: Callable[[EmbeddedStore], int | None]
) -> int | None:
    """Call the server that holds the folder, or open its store here, without ontology and shapes.

    Raises `StoreUnreadable` where there is no store.
    """
    if running_server(settings.data) is not None:
        with opened_api(settings) as api:
            return remote(api)
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
        return local(store)
    finally:
        store.close()


def on_folder(
    settings: Settings,
    work: Callable[[Services], Awaitable[int]],
    opening: Callable[[Services], AbstractAsyncContextManager[Services]] = lambda services: services,
    *,
    new: bool = False,
) -> int:
    """Open the folder here. Raises `ServerError` when a server holds it, or it is not there and not `new`."""
    refuse_held(settings)
    if not new:
        existing(settings)
    from server.runtime.wiring import build

    async def run() -> int:
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


def account() -> str:
    """The name of the account that runs the command, where it has one."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "anonymous"
