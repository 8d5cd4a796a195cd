"""The frames that a worker process and the server exchange over a socket.

A frame is one byte for its kind, four bytes of length (big-endian) and that many bytes. A query is sent as
QUERY, a request for a whole graph as DUMP, an update whose changes are to be worked out as CAPTURE. The
answer is HEAD, any number of DATA, and END; or in place of any of them, as the last one, ERROR, or REFUSED
with a pickled error of ours. FEED contains commits for the worker's copy of the store, and is answered with
REVISION, the revision of the copy afterwards. CLOSE has it close what it reads.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from enum import IntEnum
from typing import Any

_HEADER = struct.Struct("!BI")
HEADER_SIZE = _HEADER.size


class FrameKind(IntEnum):
    """The content of a frame."""

    READY = 1
    QUERY = 2
    CLOSE = 3
    CAPTURE = 9
    DUMP = 10
    FEED = 11
    HEAD = 4
    DATA = 5
    END = 6
    ERROR = 7
    REFUSED = 8
    REVISION = 13


_KINDS = {kind.value: kind for kind in FrameKind}


def pack(kind: FrameKind, payload: bytes = b"") -> bytes:
    """A frame as bytes."""
    return _HEADER.pack(kind, len(payload)) + payload


def pack_json(kind: FrameKind, members: Mapping[str, Any]) -> bytes:
    """A frame with a JSON object in it."""
    return pack(kind, json.dumps(members).encode())


def unpack_header(data: bytes | bytearray | memoryview, offset: int = 0) -> tuple[FrameKind, int]:
    """Kind and payload length of the frame that starts at ``offset``."""
    kind, length = _HEADER.unpack_from(data, offset)
    return _KINDS[kind], length
