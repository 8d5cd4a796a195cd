"""Loading, dumping, backing up and optimizing an open folder: one place for routes and command line."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode, Triple

from server.data.loading import (
    FIRST,
    LoadResult,
    describe,
    first_of,
    listed,
    load_features,
    load_file,
    result_of,
    shortened,
)
from server.data.rdf_files import LoadError, OnBytes, RdfFile, RdfLines
from server.data.sample.city import sample_city
from server.monitoring.metrics import folder_bytes
from server.reader_language import for_reader
from server.services import Services
from server.stores import is_remote
from sparql.model.change import Violation
from sparql.model.errors import GraphUnknown, QueryFailed
from sparql.model.triple_store import TripleStore
from sparql.protocol.formats import WITH_PREFIXES, Format
from sparql.storage.dump import TRIPLE_TERM_STATUS, holds_graph_names, triple_term_unwritable
from sparql.storage.embedded_store import EmbeddedStore
from sparql.workers.query import QueryService
from sparql.writing.bulk import BulkLoad, BulkOutcome, Rejections

if TYPE_CHECKING:
    from server.data.feature_loading import FeatureFiles, OnFeatures

_PIECE = 64 * 1024
_DUMP_TIMEOUT_S = 3600.0
_SMALL_BYTES = 64 * 2**20
_GROWN = 1.25
"""A bulk load that lets the store grow by more than this factor ends with compacting its files."""
_OBJECTS = 1_000_000
Say = Callable[[str], None]
"""LoadResult what is being done now, where that takes long."""


@contextmanager
def naming_what_was_loaded(results: Sequence[LoadResult]) -> Iterator[None]:
    """Let a `LoadError` name what was loaded before, which stays."""
    try:
        yield
    except LoadError as error:
        before = ", ".join(one.name for one in results if one.accepted or not one.refused)
        if not before:
            raise
        raise LoadError(f"{error} Loaded before it: {before}.") from error


class Loader:
    """Loads files into the graph of the services. Blocks; call it on a thread of its own."""

    def __init__(
        self,
        services: Services,
        *,
        on_bytes: OnBytes = lambda read: None,
        on_features: OnFeatures = lambda count: None,
        say: Say = lambda what: None,
    ) -> None:
        self._services = services
        self._on_bytes = on_bytes
        self._on_features = on_features
        self._say = say

    def through_gate(self, files: Sequence[RdfFile], *, partial: bool) -> list[LoadResult]:
        """Each file as one change: whole or not at all, or (partial) what of it conforms.

        Raises `LoadError` for a file that cannot be read; it names those that were loaded before.
        """
        results: list[LoadResult] = []
        writer = self._services.writer_for("load")
        for file in files:
            self._say(f"{file.path}: read, judged, committed")
            with naming_what_was_loaded(results):
                verdict = load_file(writer, file.path, partial=partial, on_bytes=self._on_bytes)
            results.append(result_of(str(file.path), verdict))
        return results

    def in_bulk(self, files: Sequence[RdfFile], *, partial: bool, report: bool) -> LoadResult:
        """All files past the gate, then relations and indexes, then (report) the shapes over everything."""
        names = listed(file.path for file in files)

        def add(load: BulkLoad) -> BulkOutcome:
            if all(file.is_of_lines for file in files) and not is_remote(self._services.store):
                return load.run_lines([RdfLines(file, self._on_bytes) for file in files])
            return load.run(chain.from_iterable(file.quads(self._on_bytes) for file in files))

        return self._past_gate(add, lambda: names, partial=partial, report=report)

    def features_through_gate(self, files: FeatureFiles, *, partial: bool) -> LoadResult:
        """Features in batches through the gate."""
        from server.data.feature_loading import ToleranceEffect, load_through_gate
        from sparql.spatial.relations import geometries_in

        self._say("features: read, judged, committed")
        services = self._services
        effect = ToleranceEffect()
        result = load_through_gate(
            services.writer,
            services.store,
            files,
            partial=partial,
            on_features=self._on_features,
            on_derived=effect.note,
        )
        exact = not (services.settings.tolerance_m or services.settings.layer_tolerance_m)
        hint = effect.message(lambda node: geometries_in(services.store, node)) if exact else ""
        return replace(result, hint=hint)

    def features_in_bulk(self, files: FeatureFiles, *, partial: bool, report: bool) -> LoadResult:
        """All features past the gate, all or none of them, then the same as for RDF files."""
        from server.data.feature_loading import outdated_geometry, quads_of

        outdated: set[Triple] = set()

        def note(triples: Sequence[Triple]) -> None:
            outdated.update(outdated_geometry(self._services.store, triples))

        quads = quads_of(files, self._on_features, note, partial=partial)
        result = self._past_gate(
            lambda load: load.run(quads, lambda: outdated),
            lambda: files.name,
            partial=partial,
            report=report,
        )
        notes = first_of(files.notes, files.left_out)
        examples = "\n".join([*notes, result.examples]).rstrip("\n")
        return replace(result, examples=examples, left_out=files.left_out)

    def _past_gate(
        self,
        add: Callable[[BulkLoad], BulkOutcome],
        name: Callable[[], str],
        *,
        partial: bool,
        report: bool,
    ) -> LoadResult:
        from shapes.results import in_order

        services = self._services
        self._say("bulk load past the gate, then relations and indexes")
        size = _bytes_of(services.store)
        outcome = add(BulkLoad(services.store, services.writer, partial=partial))
        if _bytes_of(services.store) > max(_SMALL_BYTES, _GROWN * size):
            # Lookups in files as the bulk loader leaves them cost up to twice as much.
            self._say("compacting the store's files")
            services.store.optimize()
        results = blocking = 0
        first: list[Violation] = []
        if report:
            self._say("validating everything, as the gate was deferred")
            with _rarely_collected():
                for violation in chain(self._outside_extent(), services.gate.results(services.store)):
                    results += 1
                    if violation.blocking:
                        blocking += 1
                        if len(first) < FIRST:
                            first.append(violation)
        examples = [
            _described(outcome.left_out),
            _described(outcome.repaired),
            *(_words(one) for one in in_order([first])),
        ]
        return LoadResult(
            name(),
            outcome.quads,
            outcome.left_out.count,
            outcome.derived,
            outcome.revision,
            "\n".join(one for one in examples if one),
            results,
            blocking,
        )

    def _outside_extent(self) -> Iterable[Violation]:
        """The geometries of the graph outside of the extent, if there is one."""
        from server.extent import extent_of, geometries_outside

        services = self._services
        extent = extent_of(services.settings.extent, services.schema)
        return () if extent is None else geometries_outside(extent, services.store.match(None, None, None))

    def sample(self, progress: Callable[[int, int], None] = lambda done, total: None) -> LoadResult:
        """The sample city, through the gate."""
        triples = list(sample_city(self._services.settings.base_iri))
        count, derived = load_features(self._services.writer, triples, progress)
        return LoadResult("sample city", count, 0, derived, self._services.store.revision())


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """Let cycles be looked for rarely: of the very many objects of a report hardly any are in one."""
    before = gc.get_threshold()
    # The oldest, which were there before, are not looked at.
    gc.set_threshold(_OBJECTS, before[1], _OBJECTS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _bytes_of(store: TripleStore) -> int:
    """The size of the graph on the disk; 0 where it is elsewhere."""
    embedded = isinstance(store, EmbeddedStore) and store.folder is not None
    return folder_bytes((store.folder or Path()) / "graph") if embedded else 0


def check_graph(store: TripleStore, name: NamedNode | None) -> None:
    """Raises `GraphUnknown` when a graph is named that holds nothing."""
    if name is not None and not store.has_graph(name):
        raise GraphUnknown(name.value)


async def stream_dump(
    store: TripleStore,
    readers: QueryService,
    format_: Format,
    name: NamedNode | None,
    prefixes: Mapping[str, str],
) -> AsyncIterator[bytes]:
    """A dump of the store in pieces; `prefixes` shorten Turtle and TriG.

    Raises `QueryFailed`, and RemoteError for a store at another host.
    """
    if isinstance(store, EmbeddedStore):
        pieces = _dump_of_checkpoint(store, format_, name, prefixes)
    elif is_remote(store) and name is None and holds_graph_names(format_):
        from sparql.remote.streaming import dump_dataset

        pieces = dump_dataset(store, format_)
    else:
        pieces = _dump_of_graph(readers, format_, name, prefixes)
    async for piece in pieces:
        yield piece


async def _dump_of_graph(
    readers: QueryService, format_: Format, name: NamedNode | None, prefixes: Mapping[str, str]
) -> AsyncIterator[bytes]:
    shortening = prefixes if format_.name in WITH_PREFIXES else None
    result = await readers.open_dump(name, format_, prefixes=shortening, timeout_s=_DUMP_TIMEOUT_S)
    try:
        async for piece in result:
            yield piece
    finally:
        readers.close_query(result)


async def _dump_of_checkpoint(
    store: EmbeddedStore, format_: Format, name: NamedNode | None, prefixes: Mapping[str, str]
) -> AsyncIterator[bytes]:
    """A dump of the store at its newest revision, in pieces, written by a process of its own.

    The process ends when nobody reads on. Raises `QueryFailed` when it could not write all.
    """
    checkpoint = await asyncio.to_thread(store.acquire)
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "sparql.storage.dump", str(checkpoint.path), format_.name,
            json.dumps(dict(prefixes)), *([] if name is None else [name.value]),
            stdout=asyncio.subprocess.PIPE, stdin=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            while piece := await process.stdout.read(_PIECE):
                yield piece
            status = await process.wait()
            if status == TRIPLE_TERM_STATUS:
                raise triple_term_unwritable(format_)
            if status != 0:
                raise QueryFailed("The dump broke off; the server's log says why. Ask for it again.")
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    finally:
        store.release(checkpoint)


def _described(rejections: Rejections) -> str:
    return describe(rejections.examples, besides=rejections.count - len(rejections.examples))


def _words(violation: Violation) -> str:
    message = for_reader(violation).message
    return shortened(f"{violation.focus} {violation.path or ''}: {message}")
