"""Bodies of several documents: multipart/form-data (RFC 7578), cut into files without holding them whole."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesHeaderParser
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING

from python_multipart.exceptions import FormParserError, MultipartParseError
from python_multipart.multipart import MultipartParser

from server.errors import MalformedBody
from server.http.bodies.request_bodies import IN_MEMORY

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

_BLOCK = 2**16
# The mistakes of clients are answered, and need no warning in the log.
logging.getLogger("python_multipart").setLevel(logging.ERROR)


@dataclass(frozen=True)
class Part:
    """One document of a form; ``content_type`` and ``filename`` are None where it has none."""

    name: str
    content_type: str | None
    body: IO[bytes]
    filename: str | None = None


def boundary_of(content_type: str) -> bytes:
    """The boundary that a Content-Type names. Raises MalformedBody."""
    header = Message()
    header["content-type"] = content_type
    boundary = header.get_boundary()
    if not boundary:
        raise MalformedBody("The Content-Type of the form names no boundary; add boundary=... to it.")
    return boundary.encode("latin-1", "replace")


def read_parts(source: IO[bytes], boundary: bytes) -> Iterator[Part]:
    """The documents of a form in order; each body is gone when the next one is asked for.

    Raises MalformedBody for a form that is cut off, or is none.
    """
    with closing(_Reading(boundary)) as reading:
        while block := source.read(_BLOCK):
            yield from reading.parts_of(block)
        if not reading.ended:
            raise MalformedBody("The form ends without its closing delimiter; send it whole.")


class _Reading:
    """Collects what the parser reports: it is given blocks, and parts may begin and end in any of them."""

    def __init__(self, boundary: bytes) -> None:
        self.ended = False
        self._complete: deque[tuple[Message, IO[bytes]]] = deque()
        self._name = b""
        self._lines = b""
        self._body: IO[bytes] = BytesIO()
        callbacks: MultipartCallbacks = {
            "on_header_field": self._add_name,
            "on_header_value": self._add_value,
            "on_header_end": self._end_header,
            "on_part_begin": self._begin,
            "on_part_data": self._add_data,
            "on_part_end": self._end_part,
            "on_end": self._end,
        }
        try:
            self._parser = MultipartParser(boundary, callbacks)
        except FormParserError as error:
            raise MalformedBody(f"{error}: give the form a shorter one.") from error

    def parts_of(self, block: bytes) -> Iterator[Part]:
        """The parts that end in this block."""
        try:
            self._parser.write(block)
        except MultipartParseError as error:
            raise MalformedBody(f"The body is no form as its Content-Type says: {error}.") from error
        while self._complete:
            headers, body = self._complete.popleft()
            with body:
                name = headers.get_param("name", "part", "content-disposition")
                yield Part(str(name), headers.get("content-type"), body, headers.get_filename())

    def close(self) -> None:
        """Close what was not returned."""
        self._body.close()
        for _, body in self._complete:
            body.close()

    def _begin(self) -> None:
        self._lines = b""
        # Closed after the part was returned, or by `close`.
        self._body = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115

    def _add_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _add_value(self, data: bytes, start: int, end: int) -> None:
        self._lines += (self._name + b": " if self._name else b"") + data[start:end]
        self._name = b""

    def _end_header(self) -> None:
        self._lines += b"\r\n"

    def _add_data(self, data: bytes, start: int, end: int) -> None:
        self._body.write(data[start:end])

    def _end_part(self) -> None:
        self._body.seek(0)
        self._complete.append((BytesHeaderParser().parsebytes(self._lines), self._body))

    def _end(self) -> None:
        self.ended = True
