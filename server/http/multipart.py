"""Bodies of several documents: multipart/form-data (RFC 7578), cut into files without holding them whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesHeaderParser
from tempfile import SpooledTemporaryFile
from typing import IO

from server.errors import MalformedBody

IN_MEMORY = 2**20
_LINE = 2**16
_MOST_HEADERS = 2**14


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

    Raises MalformedBody for a form that is cut off.
    """
    delimiter = b"--" + boundary
    line = source.readline(_LINE)
    while line and line.rstrip() != delimiter:
        if line.rstrip() == delimiter + b"--":
            return
        line = source.readline(_LINE)
    last = not line
    if last:
        raise MalformedBody("The form holds none of the delimiters that its Content-Type names.")
    while not last:
        headers = _read_headers(source)
        with SpooledTemporaryFile(IN_MEMORY) as body:
            last = _copy_body(source, body, delimiter)
            body.seek(0)
            name = headers.get_param("name", "part", "content-disposition")
            yield Part(str(name), headers.get("content-type"), body, headers.get_filename())


def _read_headers(source: IO[bytes]) -> Message:
    lines = b""
    while (line := source.readline(_LINE)).strip():
        lines += line
        if len(lines) > _MOST_HEADERS:
            raise MalformedBody("A part of the form has too many headers; leave out those not needed.")
    if not line:
        raise MalformedBody("The form ends within a part's headers; send it whole.")
    return BytesHeaderParser().parsebytes(lines)


def _copy_body(source: IO[bytes], body: IO[bytes], delimiter: bytes) -> bool:
    """Copy up to the next delimiter, whose line break belongs to it; whether it was the last one."""
    held_back = b""
    begins = True
    while line := source.readline(_LINE):
        if begins and line.rstrip() in (delimiter, delimiter + b"--"):
            return line.rstrip() != delimiter
        content = line.rstrip(b"\r\n")
        body.write(held_back + content)
        held_back = line[len(content) :]
        begins = line.endswith(b"\n")
    raise MalformedBody("The form ends without its closing delimiter; send it whole.")
