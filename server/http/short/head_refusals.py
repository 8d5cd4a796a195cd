"""What the connection answers itself, since no application can: problems as whole HTTP messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from server.http.reporting.problems import MEDIA_TYPE

_TOLD: Final = {
    400: (
        "Bad Request",
        "This cannot be read as HTTP; check the request's head, its lengths and its chunks.",
    ),
    408: ("Request Timeout", "The request did not come in time; send it again without pauses."),
    414: ("URI Too Long", "The address is too long; send the query by POST, as the body."),
    421: (
        "Misdirected Request",
        "Only http is spoken here; send the path alone, or an address that begins with http.",
    ),
    431: ("Request Header Fields Too Large", "The headers are too large; send fewer or shorter ones."),
    501: ("Not Implemented", "No transfer coding but chunked is understood; send the body without others."),
}


def refusal(status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The answer with this status, and these headers beside its own."""
    title, detail = _TOLD[status]
    body = f'{{"type": "about:blank", "title": "{title}", "status": {status}, "detail": "{detail}"}}'
    more = b"".join(b"%b: %b\r\n" % header for header in headers)
    head = f"HTTP/1.1 {status} {title}\r\ncontent-type: {MEDIA_TYPE}\r\nconnection: close\r\n"
    return head.encode() + more + f"content-length: {len(body)}\r\n\r\n{body}".encode()
