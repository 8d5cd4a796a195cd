"""What the connection refuses itself, since no application can: heads that are ambiguous, large or late."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from server.http.reporting.problems import MEDIA_TYPE

RawHeaders = list[tuple[bytes, bytes]]
"""Names in lower case, and values."""

_MESSAGES: Final = {
    400: (
        "Bad Request",
        "This cannot be read as HTTP; check the request's head, its lengths and its chunks.",
    ),
    408: ("Request Timeout", "The request did not arrive in time; send it again without pauses."),
    414: ("URI Too Long", "The address is too long; send the query by POST, as the body."),
    421: (
        "Misdirected Request",
        "This server speaks http only; send the path alone, or an address that begins with http.",
    ),
    431: ("Request Header Fields Too Large", "The headers are too large; send fewer or shorter ones."),
    501: (
        "Not Implemented",
        "The only transfer coding that is understood is chunked; send the body without others.",
    ),
}
# The host in a target may be empty: then the Host header would be, too.
_ABSOLUTE = re.compile(rb"([A-Za-z][A-Za-z0-9+.\-]*)://([^/?#]*)")


class HeadRefused(Exception):
    """The head of a request is refused with this status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def check_head(target: bytes, headers: RawHeaders, *, version: str, limit: int) -> None:
    """Check a head; the host of an absolute target replaces the Host header. Raises `HeadRefused`."""
    size = len(target) + sum(len(name) + len(value) + 4 for name, value in headers)
    if size > limit:
        raise HeadRefused(too_large(target, limit))
    if not target.startswith(b"/"):
        _take_authority(target, headers)
    hosts = sum(name == b"host" for name, _ in headers)
    if hosts != 1 and version == "1.1":
        # RFC 9112, 3.2. A proxy may have read the other one of two.
        raise HeadRefused(400)
    codings = [value.lower() for name, value in headers if name == b"transfer-encoding"]
    if codings not in ([], [b"chunked"]):
        # RFC 9112, 6.1: recipients would disagree on where the body ends.
        raise HeadRefused(501)


def too_large(target: bytes, limit: int) -> int:
    """The status for a head beyond the limit: 414 where most of it is the target."""
    return 414 if len(target) > limit // 2 else 431


def refusal(status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A problem with this status as a whole HTTP message, with these headers beside its own."""
    title, detail = _MESSAGES[status]
    body = f'{{"type": "about:blank", "title": "{title}", "status": {status}, "detail": "{detail}"}}'
    more = b"".join(b"%b: %b\r\n" % header for header in headers)
    head = f"HTTP/1.1 {status} {title}\r\ncontent-type: {MEDIA_TYPE}\r\nconnection: close\r\n"
    return head.encode() + more + f"content-length: {len(body)}\r\n\r\n{body}".encode()


def _take_authority(target: bytes, headers: RawHeaders) -> None:
    """The host in a target takes precedence over the header (RFC 9112, 3.2.2)."""
    found = _ABSOLUTE.match(target)
    if found is None:
        return
    if b"@" in found[2]:
        # RFC 9110, 4.2.4: it makes one host look like another.
        raise HeadRefused(400)
    if found[1].lower() != b"http":
        raise HeadRefused(421)
    headers[:] = [one for one in headers if one[0] != b"host"] + [(b"host", found[2])]
