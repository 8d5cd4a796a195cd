"""Clients that are slow, stop reading, leave in the middle, or close one half of the connection."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.fuzzing.ledger import HANG_S, Answer, Ledger
from tests.support.fuzzing.wire import Exchange, dribbled, exchange, request

_EVERY = "/sparql?timeout=60&query=SELECT%20*%7B%3Fa%20%3Fb%20%3Fc%20.%20%3Fd%20%3Fe%20%3Ff%7D"
_QUERY_BODY = {"Content-Type": "application/sparql-query"}
_ESTABLISHED = "01"  # A state of /proc/net/tcp.


def slow_exchanges(client_timeout_s: float) -> Iterator[Exchange]:
    """Heads and bodies that come slower than the server waits for them, and just quickly enough."""
    get = request("GET", "/sparql?query=ASK%7B%7D")
    post = request("POST", "/sparql", _QUERY_BODY, b"ASK { }")
    store = request(
        "PUT", "/store?graph=http://example.org/slow", {"Content-Type": "text/turtle"}, b"<a:a> <a:b> 1 ."
    )
    slower, quicker = client_timeout_s * 1.5, client_timeout_s / 10
    yield dribbled("a head byte by byte", (get[n : n + 1] for n in range(len(get))), quicker)
    yield dribbled("a head in two pieces, late", (get[:20], get[20:]), slower)
    yield dribbled("a body in two pieces, late", (post[:-4], post[-4:]), slower, "POST")
    yield dribbled(
        "a body byte by byte",
        (post[:-7], *(post[n : n + 1] for n in range(-7, -1)), post[-1:]),
        quicker,
        "POST",
    )
    yield dribbled("a graph in two pieces, late", (store[:-4], store[-4:]), slower, "PUT")
    yield Exchange("no byte at all", ())
    yield Exchange("a head that stops", ((0.0, get[:-3]),))
    yield Exchange("a body that stops", ((0.0, post[:-3]),), "POST")
    for name, data, method in (("a query", get, "GET"), ("a post", post, "POST"), ("a graph", store, "PUT")):
        yield Exchange(f"{name}, then half closed", ((0.0, data),), method, half_close=True)
        yield Exchange(f"half of {name}, then half closed", ((0.0, data[:-3]),), method, half_close=True)
    yield Exchange("nothing, then half closed", (), half_close=True)


def stalled(url: str, ledger: Ledger) -> None:
    """Clients that ask for much and read nothing: the server must let go of them by itself."""

    def stop_reading() -> None:
        answer = unread(url, request("GET", _EVERY, {"Connection": "keep-alive"}), HANG_S)
        ledger.add("stalled readers", "an answer without end", answer)

    _together([stop_reading] * 6)


def unread(url: str, raw: bytes, hang_s: float) -> Answer:
    """Send a request and read only the beginning of its answer; returns once the server ends it."""
    host = urlsplit(url)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect((host.hostname, host.port))
        client.sendall(raw)
        # It may wait here until those before it have ended: there are fewer readers than clients.
        status = int(client.recv(64).split()[1])
        started = time.monotonic()
        while (held := _is_held(client)) and time.monotonic() - started < hang_s:
            time.sleep(0.1)
    return Answer(status, time.monotonic() - started, held)


def _is_held(client: socket.socket) -> bool:
    """Whether the other end of a connection on this machine keeps it open.

    Who reads nothing does not see the end, which comes behind what was sent before: the kernel is asked.
    """
    (_, here), (_, there) = client.getsockname(), client.getpeername()
    rows = (line.split()[1:4] for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    ends = [state for local, remote, state in rows if (_port(local), _port(remote)) == (there, here)]
    return ends == [_ESTABLISHED]


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)


def leaving(url: str, ledger: Ledger, times: int) -> None:
    """Clients that leave at any point of an exchange: within the head, the body, the wait, the answer."""
    host = urlsplit(url)
    headers = {"Content-Type": "text/turtle"}
    body = request("POST", "/store?graph=http://example.org/left", headers, b"<a:a> <a:b> 1 ." * 99)
    runaway = f"{_EVERY[:-3]}%20.%20%3Fg%20%3Fh%20%3Fi%20FILTER(%3Fg%20%3C%200)%7D"
    requests = (request("GET", _EVERY), request("GET", runaway), body, body[:-50], request("GET", "/dump"))

    def leave(number: int) -> None:
        data = requests[number % len(requests)]
        started = time.monotonic()
        with socket.create_connection((host.hostname or "", host.port or 80), timeout=HANG_S) as client:
            if number % 2:
                # A reset instead of a quiet end.
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
            client.sendall(data[: max(1, len(data) * (number % 7 + 1) // 7)])
            time.sleep(0.01 * (number % 5))
        ledger.add("clients that leave", f"at {number % 7 + 1}/7", Answer(None, time.monotonic() - started))

    for start in range(0, times, 10):
        _together([partial(leave, number) for number in range(start, min(start + 10, times))])


def run_together(url: str, ledger: Ledger, group: str, exchanges: list[Exchange]) -> None:
    """All of these at the same time, since each mostly waits."""

    def run(one: Exchange) -> None:
        for answer in exchange(url, one):
            ledger.add(group, one.name, answer)

    _together([partial(run, one) for one in exchanges])


def _together(work: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
