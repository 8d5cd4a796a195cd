"""`POST /backup`, `/loads` and `/optimize`, `GET /dump`: what operators do to a store in use."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import Field
from pyoxigraph import NamedNode
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from server.data.rdf_files import rdf_files, split_features
from server.data.storage import Loader, check_graph, naming_what_was_loaded, stream_dump
from server.errors import InvalidBody, LoadRefused
from server.http.access.keys import Scope
from server.http.bodies.request_bodies import body_schema, read_json
from server.http.pages import Needed
from server.message import IRI_FORM, Message
from server.services import Services
from server.stores import is_remote
from sparql.protocol.formats import BY_NAME, GRAPH_FORMATS, choose, choose_by_name
from sparql.storage.backup import back_up

# As long as Linux takes the name of a file or folder, and a path.
_LONGEST_PART_BYTES, _LONGEST_PATH_BYTES = 255, 4095
_Path = Annotated[str, Field(max_length=_LONGEST_PATH_BYTES, json_schema_extra={"pattern": "^/[^\\x00]*$"})]
_Graph = Annotated[str | None, Query(json_schema_extra=IRI_FORM)]
_FormatName = Annotated[
    str | None, Query(json_schema_extra={"enum": [*(one.name for one in GRAPH_FORMATS), None]})
]


class BackupRequest(Message):
    """Where to write a backup."""

    folder: _Path = Field(description="A new folder on the server's machine, as an absolute path.")


class LoadRequest(Message):
    """What to load from the server's own disk."""

    files: list[_Path] = Field(
        default_factory=list,
        max_length=1000,
        description="Files, folders or patterns on the server's machine, absolute.",
    )
    mapping: _Path | None = Field(
        None, description="The mapping file for feature files among them (GeoPackage, OSM PBF ...), absolute."
    )
    partial: bool = Field(False, description="Load what conforms and leave out the rest.")
    bulk: bool = Field(False, description="Past the gate, at full speed; the shapes are run afterwards.")
    report: bool = Field(True, description="false: do not run the shapes after a bulk load.")
    sample: bool = Field(False, description="Load the sample city first.")


def router(services: Services, *needs: Needed) -> APIRouter:
    """The routes of an operator."""
    routes = APIRouter(tags=["operations"], dependencies=needs)
    admin = [Depends(services.guard.requires(Scope.ADMIN))]
    read = [Depends(services.guard.requires(Scope.READ))]
    limit = services.settings.max_body_bytes

    @routes.post("/backup", dependencies=admin, openapi_extra=body_schema(BackupRequest))
    async def post_backup(request: Request) -> dict[str, Any]:
        """Write a consistent backup to a folder of the server's machine; reads and writes go on."""
        message = await read_json(request, BackupRequest, limit)
        folder = _absolute("folder", message.folder)
        backup = await asyncio.to_thread(back_up, services.store.local, services.writer, folder)
        return {**backup.json(), **_left_out(services)}

    @routes.post("/loads", dependencies=admin, openapi_extra=body_schema(LoadRequest))
    async def post_load(request: Request) -> dict[str, Any]:
        """Load RDF files that lie on the server's machine, through the gate or in bulk past it.

        Each file is loaded as a whole or not at all: 422 where any was refused, with what became of each.
        """
        message = await read_json(request, LoadRequest, limit)
        if not (message.files or message.sample):
            raise InvalidBody([("files", "name at least one file, or set sample to true")])
        loads = await asyncio.to_thread(_load, services, message)
        if not (message.partial or message.bulk):
            refused = [one["name"] for one in loads if one["refused"]]
            if refused:
                raise LoadRefused(refused, loads)
        return {"loads": loads}

    @routes.post("/optimize", dependencies=admin)
    async def post_optimize() -> dict[str, Any]:
        """Compact the store's files, for faster reads after much was written; takes a while."""
        await asyncio.to_thread(services.store.optimize)
        return {"revision": services.store.revision()}

    @routes.get("/dump", dependencies=read, response_class=Response)
    async def get_dump(request: Request, graph: _Graph = None, format: _FormatName = None) -> Response:  # noqa: A002
        """The default graph and, in N-Quads, TriG and JSON-LD, the clients' named graphs; or one graph."""
        offers = (BY_NAME["nquads"], *GRAPH_FORMATS)
        accept = request.headers.get("accept")
        chosen = choose_by_name(format, offers) if format else choose(accept, offers)
        name = None if graph is None else _iri(graph)
        await asyncio.to_thread(check_graph, services.store, name)
        pieces = stream_dump(services.store, services.readers, chosen, name, services.schema.prefixes)
        # What fails at once is reported with its status; what fails later breaks the connection.
        first = await anext(pieces, b"")
        headers = {"Content-Type": chosen.content_type, "Vary": "Accept", "Cache-Control": "no-store"}
        return StreamingResponse(_resumed(first, pieces), headers=headers)

    return routes


def _left_out(services: Services) -> dict[str, str]:
    store = services.store
    if not is_remote(store):
        return {}
    url = store.address.query_url
    return {"not_included": f"the graph itself, in the store at {url}; back that up with its own means"}


def _load(services: Services, message: LoadRequest) -> list[dict[str, Any]]:
    loader = Loader(services)
    results = [loader.sample()] if message.sample else []
    paths = [_absolute("files", name) for name in message.files]
    features, others = split_features(paths)
    files = rdf_files(others)
    mapped = None
    if features:
        from server.data.feature_loading import feature_files

        mapping = None if message.mapping is None else _absolute("mapping", message.mapping)
        mapped = feature_files(features, mapping, services.settings.base_iri)
    if files and message.bulk:
        results.append(loader.in_bulk(files, partial=message.partial, report=message.report))
    elif files:
        results += loader.through_gate(files, partial=message.partial)
    if mapped is not None:
        with naming_what_was_loaded(results):
            if message.bulk:
                results.append(
                    loader.features_in_bulk(mapped, partial=message.partial, report=message.report)
                )
            else:
                results.append(loader.features_through_gate(mapped, partial=message.partial))
    return [asdict(one) for one in results]


def _absolute(member: str, name: str) -> Path:
    path = Path(name)
    if "\0" in name or not path.is_absolute():
        raise InvalidBody([(member, f"'{name}' is not an absolute path on the server's machine")])
    lengths = [len(part.encode("utf-8", "surrogatepass")) for part in (name, *path.parts)]
    if lengths[0] > _LONGEST_PATH_BYTES or max(lengths[1:]) > _LONGEST_PART_BYTES:
        raise InvalidBody([(member, f"'{name[:80]}...' is longer than a path, or a name in it, can be")])
    return path


def _iri(text: str) -> NamedNode:
    try:
        return NamedNode(text)
    except ValueError as error:
        raise InvalidBody([("graph", f"'{text}' is not an absolute IRI: {error}")]) from error


async def _resumed(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece
