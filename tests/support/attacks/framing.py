"""Framing that two readers of HTTP read differently: no request is hidden in another, no answer is lost."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

from tests.support.attacks.attack import Result, Target
from tests.support.fuzzing.heads import SMUGGLED, framings

GROUP = "framing"
_UPDATE = b"INSERT DATA { <http://example.org/f> <http://example.org/p> 1 }"
_LOOKUP = b"/sparql?query=SELECT%20%3Fo%20%7B%20%3Chttp%3A%2F%2Fexample.org%2F1%3E%20%3Fp%20%3Fo%20%7D"
_PATIENCE_S = 3.0


def attacks(open_: Target) -> Iterator[Result]:
    """Contradicting lengths, odd heads, and what is sent behind requests that take a short path."""
    for one in framings():
        if b"Transfer-Encoding: chunked\r\n\r\n" in one.pieces[0][1]:
            continue
        # What cannot be read as one body is refused, and what is behind it is never answered.
        statuses = _statuses(_talk(open_, one.pieces[0][1]))
        refused = statuses[:1] in ([400], [413], [501], []) and len(statuses) <= 1
        plain = b"Content-Length: 5, 5" not in one.pieces[0][1]
        yield Result(GROUP, one.name, refused or not plain, f"statuses {statuses}")
    yield from _heads(open_)
    yield from _behind(open_)
    yield open_.alive(GROUP)


def _heads(open_: Target) -> Iterator[Result]:
    host = b"Host: 127.0.0.1\r\n"
    for name, head in (
        ("an obsolete line fold", host + b"X: a\r\n b"),
        ("a folded Host", b"Host: 127.0.0.1\r\n .evil.example"),
        ("two hosts", host + b"Host: evil.example"),
        ("no host", b"X: y"),
        ("a space before the colon", host + b"Content-Length : 5"),
        ("a bare CR", host + b"X: a\rTransfer-Encoding: chunked"),
        ("a NUL", host + b"X: a\x00b"),
    ):
        statuses = _statuses(_talk(open_, b"GET /readyz HTTP/1.1\r\n" + head + b"\r\n\r\n"))
        yield Result(GROUP, name, statuses in ([400], [421], []), f"statuses {statuses}")
    chunked = b"POST /update HTTP/1.1\r\n" + host + b"Content-Type: application/sparql-update\r\n"
    chunked += b"Transfer-Encoding: chunked\r\n\r\n"
    for name, body in (
        ("a chunk size that overflows", b"fffffffffffffffff\r\nASK{}\r\n0\r\n\r\n"),
        ("a negative chunk size", b"-5\r\nASK{}\r\n0\r\n\r\n"),
        ("a chunk without its end", b"5\r\nASK{}0\r\n\r\n"),
    ):
        statuses = _statuses(_talk(open_, chunked + body + SMUGGLED))
        yield Result(GROUP, name, 200 not in statuses, f"statuses {statuses}")


def _behind(open_: Target) -> Iterator[Result]:
    """Requests behind short ones: in their order, and no answer is lost."""
    get = b"GET " + _LOOKUP + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    slow = b"GET /sparql?query=ASK%7B%3Fa%20%3Fb%20%3Fc%7D&timeout=9 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    foreign = b"GET /readyz HTTP/1.1\r\nHost: evil.example\r\n\r\n"
    post = b"POST /update HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/sparql-update\r\n"
    post += b"Content-Length: %d\r\n\r\n" % len(_UPDATE) + _UPDATE
    nonsense = b"\x00nonsense\r\n\r\n"
    for name, sent, expected in (
        ("nonsense behind a lookup", get + nonsense, [200, 400]),
        ("nonsense behind an update", post + nonsense, [200, 400]),
        ("nonsense behind a query", slow + nonsense, [200, 400]),
        ("nonsense behind three updates", post * 3 + nonsense, [200, 200, 200, 400]),
        ("a foreign host behind an update", post + foreign + get, [200, 421, 200]),
        ("a foreign host behind a lookup", get + foreign + get, [200, 421, 200]),
        ("a mixture", get + post + slow + post + get, [200] * 5),
    ):
        for pieces in ((sent,), (sent[: len(sent) // 2], sent[len(sent) // 2 :])):
            statuses = _statuses(_talk(open_, *pieces, answers=len(expected)))
            label = f"{name} in {len(pieces)} piece(s)"
            yield Result(GROUP, label, statuses == expected, f"statuses {statuses}")


def _talk(open_: Target, *pieces: bytes, answers: int | None = None) -> bytes:
    """All that comes back until the end, as many answers as are expected, or a while of silence."""
    received = b""
    with socket.create_connection(("127.0.0.1", open_.port), timeout=_PATIENCE_S) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(0.01)
            while answers is None or received.count(b"HTTP/1.1 ") < answers or not received.endswith(b"}"):
                data = connection.recv(65536)
                if not data:
                    break
                received += data
        except (TimeoutError, ConnectionError):
            pass
    return received


def _statuses(received: bytes) -> list[int]:
    return [int(part[:3]) for part in received.split(b"HTTP/1.1 ")[1:]]
