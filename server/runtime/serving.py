"""`urbankg serve`: build, listen, announce the address, stop cleanly."""

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

from server.app import create_app
from server.errors import SettingsError
from server.http.access.client_limits import limited_protocol
from server.http.access.guard import open_to_whom, refuse_open_writes
from server.http.access.keys import has_keys
from server.http.request_logging import AnswerWhatIsCutOff
from server.monitoring.logs import set_up_logs
from server.running_server import announced, withdraw
from server.runtime.wiring import build
from server.services import Services
from server.settings import Settings
from server.settings_loading import chosen
from server.short import ShortWay
from sparql.workers.limits import share_arenas

_log = logging.getLogger("urbankg")
_BACKLOG = 2048
_YOUNG_OBJECTS = 10_000
_THREAD_STACK_BYTES = 64 * 2**20
_LAST_ANSWERS_S = 2
_LEAVING_S = 4.5
"""From the signal to the end of the process, whatever still runs."""


def start(flags: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> None:
    """Serve with the settings of these flags, and of those `before` the command, until stopped.

    Raises what `serve` raises, and `SettingsError`.
    """
    serve(chosen(before or {"config": None}, **flags).settings)


def serve(settings: Settings) -> None:
    """Serve until stopped. Raises what `build` raises, `OpenWritesRefused` and `SettingsError`."""
    keyed = has_keys(settings.data)
    refuse_open_writes(settings, has_keys=keyed)
    set_up_logs(settings.log_level)
    share_arenas()
    # Nothing of what a start makes is garbage; `_Server` lets the collector go on when all is open.
    gc.disable()
    # Parsers call themselves for each level of a text. This is address space; memory is taken when used.
    threading.stack_size(_THREAD_STACK_BYTES)
    _install_signal_handlers(settings.data)
    listener = _listen(settings)
    settings = settings.model_copy(update={"port": listener.getsockname()[1]})
    try:
        services = build(settings)
        server = _Server(
            services,
            uvicorn.Config(
                AnswerWhatIsCutOff(ShortWay(create_app(services), services), services.draining),
                loop="uvloop",
                http=limited_protocol(settings),
                ws="none",
                access_log=False,
                log_config=None,
                log_level="warning",
                timeout_graceful_shutdown=_LAST_ANSWERS_S,
                # Longer than clients and proxies keep an idle connection (5 s to 60 s): the side that closes
                # it must be the one that sends, or a request meets a closed connection.
                timeout_keep_alive=75,
                server_header=False,
                # What headers say of the client counts only where the settings say so: see `clients`.
                proxy_headers=False,
            ),
        )
        with announced(settings.data, settings.own_url):
            _log.info("UrbanKG serves %s; its page: %s/", settings.data, settings.base_url)
            for sentence in open_to_whom(settings, has_keys=keyed):
                _log.info(sentence)
            server.run(sockets=[listener])
        if server.failure is not None:
            raise server.failure
    finally:
        listener.close()


class _Server(uvicorn.Server):
    """Refuses new requests from the first moment of leaving; those under way are finished.

    Leaves by itself when the engines cannot be opened; `failure` then says why.
    """

    def __init__(self, services: Services, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._services = services
        self._watching: asyncio.Task[None] | None = None
        self.failure: BaseException | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and watch the engines being opened."""
        await super().startup(sockets)
        self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        opening = asyncio.wrap_future(self._services.startup.started)
        await asyncio.wait([opening])
        gc.freeze()
        # What requests leave behind hardly ever forms cycles.
        gc.set_threshold(_YOUNG_OBJECTS, 20, 20)
        gc.enable()
        self.failure = opening.exception()
        if self.failure is not None:
            self.should_exit = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Leave, as the signal says."""
        _end_soon(self._services.settings.data, lambda: self._services.readers.pids)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let go of clients, then of the services."""
        self._services.draining.begin()
        self._services.leave()
        await super().shutdown(sockets)
        _log.info("UrbanKG has stopped; all that it acknowledged is in the store")


def _install_signal_handlers(data: Path) -> None:
    """Make SIGTERM and SIGINT end the process with exit code 0, also before the server listens.

    While it serves, uvicorn takes the signals; it raises them again when everything is closed.
    """

    def leave(*_: object) -> None:
        _end_soon(data, tuple)
        sys.exit(0)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, leave)


def _end_soon(data: Path, readers: Callable[[], Iterable[int]]) -> None:
    """End the process in a few seconds, also where a thread is at work, which nothing else could stop.

    What was acknowledged is on the disk, and what was under way is undone as after a crash.
    """

    def end() -> None:
        _log.warning("UrbanKG ends while work is under way; all that it acknowledged is in the store")
        logging.shutdown()
        withdraw(data)
        for pid in readers():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        os._exit(0)

    timer = threading.Timer(_LEAVING_S, end)
    timer.daemon = True
    timer.start()


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        # Who comes early waits for the answer, and is not turned away.
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"Cannot listen on {settings.host}:{settings.port}: {error.strerror or error}. "
            "Choose another with --port, or 0 for a free one."
        ) from error
    return listener
