"""Reading request bodies: bounded, decoded, checked; every failure says what to send instead."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Annotated, Any, Final, TypeVar

from pydantic import BaseModel, Field, ValidationError, WithJsonSchema
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from server.errors import BodyTooLarge, InvalidBody, MalformedBody, UnsupportedBody
from server.http.bodies.content_coding import Unpacked, is_packed
from server.message import member_problems

IN_MEMORY: Final = 2**20
"""Bytes of a body that are held in memory; beyond them it is a file."""
M = TypeVar("M", bound=BaseModel)


async def read_body(request: Request, limit: int) -> bytes:
    """The body, unpacked, never holding more than `limit` bytes.

    Raises `BodyTooLarge`, `UnsupportedCoding` and `MalformedBody`.
    """
    unpacked = Unpacked(limit) if is_packed(request.headers.get("content-encoding")) else None
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise BodyTooLarge(limit)
    chunks: list[bytes] = []
    size = 0
    async for piece in request.stream():
        chunk = piece if unpacked is None else unpacked.add(piece)
        size += len(chunk)
        if size > limit:
            raise BodyTooLarge(limit)
        chunks.append(chunk)
    if unpacked is not None:
        unpacked.end()
    return b"".join(chunks)


@asynccontextmanager
async def received(request: Request, folder: Path, limit: int) -> AsyncIterator[IO[bytes]]:
    """The body in a file of the data folder's disk. Raises BodyTooLarge and ClientDisconnect."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise BodyTooLarge(limit)
    size = 0
    with SpooledTemporaryFile(IN_MEMORY, dir=str(folder)) as file:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise BodyTooLarge(limit)
            # Beyond the first megabyte this writes to the disk.
            await run_in_threadpool(file.write, chunk)
        file.seek(0)
        yield file


async def read_json(request: Request, model: type[M], limit: int) -> M:
    """The body as a message; without one, a message of which nothing is given.

    Raises `UnsupportedBody`, `MalformedBody` (400) or `InvalidBody` (422).
    """
    kind = media_type(request)
    if kind not in ("", "application/json"):
        raise UnsupportedBody(kind, "application/json")
    body = await read_body(request, limit)
    return check(parse_json(body) if body else {}, model)


def parse_json(body: bytes) -> Any:
    """The JSON value of a body. Raises `MalformedBody` with the place of the mistake."""
    try:
        value = json.loads(body.decode("utf-8-sig"))
        if b"\\ud" in body.lower():
            # Half of a surrogate pair is no character: nothing that stores or sends text takes it.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except UnicodeEncodeError as error:
        raise MalformedBody(
            "A string of the body holds half of a surrogate pair, which is no text. Escape both halves."
        ) from error
    except UnicodeDecodeError as error:
        raise MalformedBody(
            f"The body is not UTF-8: byte {error.start} cannot be read. Encode it as UTF-8."
        ) from error
    except json.JSONDecodeError as error:
        raise MalformedBody(
            f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from error
    except ValueError as error:
        # Python reads no integer of more than 4300 digits.
        raise MalformedBody("The body holds a number of too many digits. Send a shorter one.") from error
    except RecursionError as error:
        raise MalformedBody("The body is nested too deeply. Send the flat form that /docs shows.") from error


def check(value: Any, model: type[M]) -> M:
    """The value as a message. Raises `InvalidBody` naming each member that does not fit."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise InvalidBody(member_problems(error.errors(), model)) from error


def media_type(request: Request) -> str:
    """The media type of the body without its parameters, in lower case; empty when there is none."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


_REFERENCE: Final = "#/components/schemas/{model}"
_DESCRIBED_AS: Final = "x-described-as"


def described_as(*models: str) -> WithJsonSchema:
    """Describes a member by models of answers; its own reader checks it, with messages that name the fix."""
    return WithJsonSchema({_DESCRIBED_AS: list(models)})


Wkt = Annotated[str, Field(json_schema_extra={"format": "wkt", "examples": ["POINT(-73.96 40.81)"]})]
GeoJson = Annotated[
    dict[str, Any],
    described_as(
        "Point",
        "MultiPoint",
        "LineString",
        "MultiLineString",
        "Polygon",
        "MultiPolygon",
        "GeometryCollection",
    ),
]


def _referring(schema: Any) -> Any:
    """The schema with references in place of the models that `described_as` named."""
    if isinstance(schema, list):
        return [_referring(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _referring(one) for name, one in schema.items() if name != _DESCRIBED_AS}
    if _DESCRIBED_AS in schema:
        found["anyOf"] = [{"$ref": _REFERENCE.format(model=name)} for name in schema[_DESCRIBED_AS]]
    return found


def body_schema(model: type[BaseModel]) -> dict[str, Any]:
    """What `/docs` shows of a body that the route reads itself; `openapi` gathers its definitions."""
    schema = json.loads(_schema_text(model))
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


@cache
def _schema_text(model: type[BaseModel]) -> str:
    """The schema as text: each application completes a description of its own."""
    return json.dumps(_referring(model.model_json_schema(ref_template=_REFERENCE)))
