"""The connection of a client, for a reader process that is to write a large answer to it.

`sparql.workers.processes.handover` tells how: the descriptor is handed over in the middle of an answer in
chunks, when nothing waits to be written, and this process writes on when the reader is done.
"""

from __future__ import annotations

from starlette.requests import Request
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from server.http.compression import accepts_gzip
from server.http.short.gathering import GatheringTransport
from sparql.workers.processes.handover import ClientGone, Outlet

_STATE = "outlet"


class ConnectionOutlet:
    """The connection behind one request."""

    def __init__(self, cycle: RequestResponseCycle, patience_s: float) -> None:
        self._cycle = cycle
        self.patience_s = patience_s

    async def emptied(self) -> int:
        """Its descriptor, when all that was written so far is gone. Raises ClientGone."""
        transport = self._cycle.transport
        assert isinstance(transport, GatheringTransport)
        assert self._cycle.chunked_encoding
        transport.flush()
        while not (self._cycle.disconnected or transport.is_closing()):
            if transport.get_write_buffer_size() == 0:
                return int(transport.get_extra_info("socket").fileno())
            # The protocol is told when nothing is left, and not already when little is.
            transport.set_write_buffer_limits(high=0)
            try:
                await self._cycle.flow.drain()
            finally:
                transport.set_write_buffer_limits()
        raise ClientGone

    def abandon(self) -> None:
        """Close the connection at once."""
        self._cycle.transport.abort()


def offer_outlet(cycle: RequestResponseCycle, patience_s: float) -> None:
    """Let those who answer a request find its connection."""
    if cycle.scope["http_version"] == "1.1" and cycle.scope["scheme"] == "http":
        cycle.scope["state"][_STATE] = ConnectionOutlet(cycle, patience_s)


def outlet_of(request: Request) -> Outlet | None:
    """The connection behind a request, if what the application writes goes there as it is."""
    outlet: Outlet | None = request.scope.get("state", {}).get(_STATE)
    compressed = accepts_gzip(request.headers.get("accept-encoding", ""))
    return None if compressed or request.method == "HEAD" else outlet
