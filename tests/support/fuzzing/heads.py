"""Heads of requests that no client should send: malformed, ambiguous, enormous."""

from __future__ import annotations

from collections.abc import Iterator

from tests.support.fuzzing.wire import Exchange, once, request

_QUERY = b"ASK%7B%7D"
_LINES = (
    b"",
    b"GET",
    b"GET /sparql",
    b"GET  /sparql HTTP/1.1",
    b"GET /sparql HTTP/1.1 extra",
    b"GET /sparql HTTP/9.9",
    b"GET /sparql HTTP/1.0",
    b"GET /sparql HTTP/0.9",
    b"GET /sparql http/1.1",
    b"get /healthz HTTP/1.1",
    b"G\x00T /healthz HTTP/1.1",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"PRI * HTTP/2.0\r\n\r\nSM",
    b"GET * HTTP/1.1",
    b"OPTIONS * HTTP/1.1",
    b"CONNECT example.org:443 HTTP/1.1",
    b"CONNECT /sparql HTTP/1.1",
    b"GET sparql HTTP/1.1",
    b"GET ?query=ASK HTTP/1.1",
    b"GET // HTTP/1.1",
    b"GET //sparql HTTP/1.1",
    b"GET http://example.org/sparql HTTP/1.1",
    b"GET http://[::1/sparql HTTP/1.1",
    b"GET http:// HTTP/1.1",
    b"GET http://127.0.0.1:99999/healthz HTTP/1.1",
    b"GET /sparql#part HTTP/1.1",
    b"GET /../../etc/passwd HTTP/1.1",
    b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1",
    b"GET /store/%2e%2e/x HTTP/1.1",
    b"GET /store/../sparql HTTP/1.1",
    b"GET /caf\xc3\xa9 HTTP/1.1",
    b"GET /store/caf\xe9 HTTP/1.1",
    b"GET /store/%ff%fe HTTP/1.1",
    b"GET /store/%ED%A0%80 HTTP/1.1",
    b"GET /store/%00 HTTP/1.1",
    b"GET /store/%zz HTTP/1.1",
    b"GET /store/% HTTP/1.1",
    b"GET /store/%C0%AF HTTP/1.1",
    b"GET /store/a%0d%0aX-Injected:%20yes HTTP/1.1",
    b"GET /store/a%20b HTTP/1.1",
    b"GET /store/%3Ca%3E HTTP/1.1",
    b"GET /store/" + b"x" * 60_000 + b" HTTP/1.1",
    b"GET /store/" + b"%41" * 60_000 + b" HTTP/1.1",
    b"GET /store/" + b"/" * 60_000 + b" HTTP/1.1",
    b"GET /id/%00 HTTP/1.1",
    b"GET /urbankg/id/%00 HTTP/1.1",
    b"GET /urbankg/id/%ff HTTP/1.1",
    b"GET /urbankg/id/a%20b%3C HTTP/1.1",
    b"GET /sparql?query=" + _QUERY + b"&" + b"a=b&" * 5000 + b" HTTP/1.1",
    b"GET /sparql?" + b"&" * 50_000 + b" HTTP/1.1",
    b"GET /sparql?" + b"=" * 50_000 + b" HTTP/1.1",
    b"GET /sparql?query=" + b"%28" * 40_000 + b" HTTP/1.1",
)
_FIELDS = (
    b"",
    b"Host: a\r\nHost: b",
    b"Host: ",
    b"Host: [::1",
    b"Host: example.org:99999",
    b"Host: a b",
    b"Host: 127.0.0.1\r\nX: \x00",
    b"Host: 127.0.0.1\r\nX: \x7f\x01",
    b"Host: 127.0.0.1\r\nX: \xff\xfe",
    b"Host: 127.0.0.1\r\nX\xc3\xa9: a",
    b"Host: 127.0.0.1\r\n: empty",
    b"Host: 127.0.0.1\r\nno colon",
    b"Host: 127.0.0.1\r\nX : space",
    b"Host: 127.0.0.1\r\n folded: yes",
    b"Host: 127.0.0.1\r\nX: a\r\n b",
    b"Host: 127.0.0.1\r\nX: a\nY: b",
    b"Host: 127.0.0.1\r\nX: a\rY: b",
    b"Host: 127.0.0.1\r\n" + b"X: y\r\n" * 20_000,
    b"Host: 127.0.0.1\r\nX: " + b"y" * 200_000,
    b"Host: 127.0.0.1\r\n" + b"X" * 200_000 + b": y",
    b"Host: 127.0.0.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x",
    b"Host: 127.0.0.1\r\nConnection: upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__",
    b"Host: 127.0.0.1\r\nExpect: 100-continue",
    b"Host: 127.0.0.1\r\nExpect: the impossible",
    b"Host: 127.0.0.1\r\nX-Request-Id: " + b"\xff" * 300,
    b"Host: 127.0.0.1\r\nX-Forwarded-For: \xff\xff, not an address",
    b"Host: 127.0.0.1\r\nX-Forwarded-Proto: javascript",
    b"Host: 127.0.0.1\r\nOrigin: http://[::1",
    b"Host: 127.0.0.1\r\nOrigin: null",
    b"Host: 127.0.0.1\r\nAuthorization: Bearer ",
    b"Host: 127.0.0.1\r\nAuthorization: \xff",
    b"Host: 127.0.0.1\r\nAuthorization: Bearer ukg_\xe9",
    b"Host: 127.0.0.1\r\nX-API-Key: \xff\x80",
    b"Host: 127.0.0.1\r\nAccept: " + b"a/b;q=0.1," * 5000,
    b"Host: 127.0.0.1\r\nAccept: ;;;,,,q=",
    b"Host: 127.0.0.1\r\nAccept: text/turtle;q=1e400, */*;q=nan",
    b"Host: 127.0.0.1\r\nAccept: \xff/\xfe",
    b"Host: 127.0.0.1\r\nAccept-Encoding: gzip;q=x, br, *;q=-1",
    b"Host: 127.0.0.1\r\nAccept-Encoding: " + b"gzip," * 10_000,
    b"Host: 127.0.0.1\r\nIf-None-Match: " + b'"a", ' * 10_000,
    b"Host: 127.0.0.1\r\nIf-None-Match: \xff",
    b'Host: 127.0.0.1\r\nIf-Match: "',
    b"Host: 127.0.0.1\r\nRange: bytes=0-99999999999999999999999",
    b"Host: 127.0.0.1\r\nLast-Event-ID: 99999999999999999999999999999999",
    b"Host: 127.0.0.1\r\nLast-Event-ID: \xff",
)
_FRAMINGS = (
    b"Content-Length: -1",
    b"Content-Length: +5",
    b"Content-Length: 0x5",
    b"Content-Length: 5, 5",
    b"Content-Length: 5\r\nContent-Length: 6",
    b"Content-Length: 99999999999999999999999999",
    b"Content-Length: 18446744073709551617",
    b"Content-Length: five",
    b"Content-Length: ",
    b"Content-Length: 5\r\nTransfer-Encoding: chunked",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    b"Transfer-Encoding: chunked, identity",
    b"Transfer-Encoding: identity, chunked",
    b"Transfer-Encoding: gzip",
    b"Transfer-Encoding: gzip, chunked",
    b"Transfer-Encoding: xchunked",
    b"Transfer-Encoding : chunked",
    b"Transfer-Encoding:\x0bchunked",
    b"Transfer-Encoding: chunked\x00",
)
_CHUNKS = (
    b"zz\r\nASK{}\r\n0\r\n\r\n",
    b"-5\r\nASK{}\r\n0\r\n\r\n",
    b"ffffffffffffffffff\r\nASK{}\r\n0\r\n\r\n",
    b"5\r\nASK{}0\r\n\r\n",
    b"5;" + b"x" * 100_000 + b"\r\nASK{}\r\n0\r\n\r\n",
    b'5;a="\x00\r\nASK{}\r\n0\r\n\r\n',
    b"5\nASK{}\n0\n\n",
    b"5\r\nASK{}\r\n0\r\nTrailer: " + b"y" * 200_000 + b"\r\n\r\n",
    b"5\r\nASK{}\r\n0\r\nContent-Length: 9\r\n\r\n",
    b"1\r\nA\r\n" * 3000 + b"0\r\n\r\n",
    b"5\r\nASK{}\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
)
SMUGGLED = b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def heads() -> Iterator[Exchange]:
    """Each line and field by itself, in requests that are whole otherwise."""
    for line in _LINES:
        yield once(f"line {line[:50]!r}", line + b"\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    for fields in _FIELDS:
        for path in (b"/sparql?query=" + _QUERY, b"/store?default", b"/changes?since=0"):
            data = b"GET " + path + b" HTTP/1.1\r\n" + fields + b"\r\nConnection: close\r\n\r\n"
            yield once(f"field {fields[:50]!r} at {path[:8].decode()}", data)


def framings() -> Iterator[Exchange]:
    """Lengths and codings that contradict each other or the body, with another request behind them."""
    start = b"POST /sparql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/sparql-query\r\n"
    for framing in _FRAMINGS:
        for body in (b"ASK{}", b"5\r\nASK{}\r\n0\r\n\r\n", b"0\r\n\r\n"):
            data = start + framing + b"\r\n\r\n" + body + SMUGGLED
            yield once(f"{framing[:40]!r} before {body[:12]!r}", data, "POST")
    for chunks in _CHUNKS:
        yield once(f"chunks {chunks[:30]!r}", start + b"Transfer-Encoding: chunked\r\n\r\n" + chunks, "POST")


def pipelines() -> Iterator[Exchange]:
    """Several requests at once: good ones, one cut off, one that is malformed behind a long answer."""
    one = request("GET", "/sparql?query=ASK%7B%7D", {"Connection": "keep-alive"})
    every = b"/sparql?query=SELECT%20*%7B%3Fs%20%3Fp%20%3Fo%7D"
    long = request("GET", every, {"Connection": "keep-alive"})
    yield Exchange("fifty at once", ((0.0, one * 50),), answers=50)
    yield Exchange("two, the second malformed", ((0.0, one + b"GET \x00 HTTP/1.1\r\n\r\n"),), answers=2)
    yield Exchange("malformed behind a long answer", ((0.0, long + b"\x00\x00\r\n\r\n"),), answers=2)
    yield Exchange("two, the second cut off", ((0.0, one + one[:30]),), answers=2, half_close=True)
    post = request(
        "POST", "/sparql", {"Connection": "keep-alive", "Content-Type": "application/sparql-query"}, b"ASK{}"
    )
    yield Exchange("twenty posts at once", ((0.0, post * 20),), "POST", answers=20)
    yield Exchange(
        "a refused body, then another", ((0.0, post.replace(b"ASK{}", b"ASK{{") + one),), answers=2
    )
    methods = b"".join(
        request(name, "/healthz", {"Connection": "keep-alive"}) for name in ("GET", "OPTIONS", "GET")
    )
    yield Exchange("several methods", ((0.0, methods),), answers=3)
