"""`urbankg serve`: build, listen, announce the address, stop cleanly."""

import logging
import socket

import uvicorn

from server import remote
from server.app import create_app
from server.errors import SettingsError
from server.guard import refuse_open_writes
from server.services import build
from server.settings import Settings

_log = logging.getLogger("urbankg")


def serve(settings: Settings) -> None:
    """Serve until told to stop. Raises what `build` raises, `OpenWritesRefused` and `SettingsError`."""
    refuse_open_writes(settings)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    listener = _listen(settings)
    settings = settings.model_copy(update={"port": listener.getsockname()[1]})
    try:
        services = build(settings)
        server = uvicorn.Server(
            uvicorn.Config(
                create_app(services),
                loop="uvloop",
                http="httptools",
                access_log=False,
                log_level="warning",
                timeout_graceful_shutdown=15,
                server_header=False,
            )
        )
        remote.announce(settings.data, settings.base_url)
        _log.info(
            "UrbanKG serves %s at %s (page: %s/docs)", settings.data, settings.base_url, settings.base_url
        )
        server.run(sockets=[listener])
    finally:
        remote.withdraw(settings.data)
        listener.close()


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"Cannot listen on {settings.host}:{settings.port}: {error.strerror or error}. "
            "Choose another with --port, or 0 for a free one."
        ) from error
    return listener
