"""Opens the store that the settings name: in the folder, or at another host with the folder beside it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeGuard

from pyoxigraph import NamedNode

from server.errors import SettingsError, StateUnreadable
from server.settings import Settings
from sparql.storage.embedded_store import EmbeddedStore
from sparql.workers.pool import WorkerPool
from sparql.workers.query import Capturer, QueryService
from sparql.workers.workers import PoolSettings

_TIMEOUT_S = 30.0
_LONGEST_S = 1.0
_STEPS = 10_000

if TYPE_CHECKING:
    from sparql.remote.endpoint import RemoteAddress
    from sparql.remote.store import RemoteStore


def open_store(settings: Settings) -> EmbeddedStore | RemoteStore:
    """The store. Raises SettingsError, StoreError and, for another host's, RemoteError."""
    address = remote_address(settings)
    if address is not None and settings.infers:
        raise SettingsError(
            "inference 'materialised' needs the graph in the folder; with store_url leave it 'none' and ask "
            "queries with the inference of that store."
        )
    embedded = EmbeddedStore(settings.data, durability=settings.durability)
    if address is None:
        return embedded
    from sparql.remote.store import RemoteStore

    try:
        return RemoteStore(address, embedded)
    except BaseException:
        embedded.close()
        raise


def remote_address(settings: Settings) -> RemoteAddress | None:
    """Where the remote store is; None when the graph is in the folder. Raises SettingsError."""
    if settings.store_url is None:
        others = (settings.store_update_url, settings.store_graph_url, settings.store_default_graph)
        if any(value is not None for value in others):
            raise SettingsError("store_url is missing: the other store_ settings have no effect without it.")
        return None
    if settings.store_token is not None and settings.store_user is not None:
        raise SettingsError("Both store_token and store_user are set; set the one that the store expects.")
    from sparql.remote.endpoint import RemoteAddress

    return RemoteAddress(
        query_url=settings.store_url,
        update_url=settings.store_update_url or settings.store_url,
        graph_url=settings.store_graph_url,
        user=settings.store_user,
        password=settings.store_password,
        token=settings.store_token,
        digest=settings.store_auth == "digest",
        default_graph=_iri(settings.store_default_graph),
    )


def readers_of(store: EmbeddedStore | RemoteStore, settings: Settings) -> QueryService:
    """The processes that answer queries from it."""
    limits = PoolSettings(
        workers=settings.readers + 1,
        most_each=settings.readers,
        timeout_s=settings.query_timeout_s,
        memory_limit_bytes=settings.query_memory_bytes,
    )
    if isinstance(store, EmbeddedStore):
        return WorkerPool(store, limits)
    beside = PoolSettings(
        workers=1, timeout_s=settings.query_timeout_s, memory_limit_bytes=limits.memory_limit_bytes
    )
    from sparql.remote.query_service import RemoteQueryService

    return RemoteQueryService(store, WorkerPool(store.local, beside), limits)


def capturer_of(store: EmbeddedStore | RemoteStore, readers: QueryService) -> Capturer:
    """Captures updates that evaluate patterns."""
    if isinstance(store, EmbeddedStore):
        assert isinstance(readers, WorkerPool)
        return readers
    from sparql.remote.store import RemoteCapturer

    return RemoteCapturer(store)


def is_remote(store: object) -> TypeGuard[RemoteStore]:
    """Whether the graph is at another host; the HTTP client is imported only then."""
    if isinstance(store, EmbeddedStore):
        return False
    from sparql.remote.store import RemoteStore

    return isinstance(store, RemoteStore)


def capabilities(store: object) -> dict[str, Any]:
    """The guarantees of the store for `/healthz`; a remote one gives fewer."""
    if not is_remote(store):
        return {"kind": "embedded"}
    remote = store.capabilities
    return {
        "kind": "remote",
        "url": store.address.query_url,
        "server": remote.server,
        "default_graph": store.address.default_graph.value if store.address.default_graph else None,
        "row_limit": remote.row_limit,
        "datatypes_kept_apart": sorted(datatype.value for datatype in remote.kept_apart),
        "beside": ["provenance", "review queue", "state", "change log"],
        "not_promised": [
            "RDF 1.2 triple terms in the graph",
            "empty named graphs",
            "blank nodes: they are IRIs there",
            "reads of one revision (checkpoints), ETag and 304 for queries",
            "that a canceled query ends at once",
            "the parameters derived and rewrite of queries, and urbankg:textMatch in them",
            "an update whose later operations read what its earlier ones changed",
            "revisions and changes for what other programs write there",
            "our functions (geof:, ukf:) in queries: those of the store are called",
            "backup, restore and optimize of the graph itself",
        ],
    }


def _iri(text: str | None) -> NamedNode | None:
    try:
        return None if text is None else NamedNode(text)
    except ValueError as error:
        raise SettingsError(f"store_default_graph '{text}' is not an absolute IRI: {error}.") from error


def check_databases(folder: Path) -> None:
    """Raises `StateUnreadable` for the first SQLite file of a folder that is damaged or cannot be opened.

    The check of a large file ends after a second, so that the start does not depend on its size.
    """
    for path in sorted(folder.glob("*.sqlite")):
        try:
            with closing(sqlite3.connect(path, timeout=_TIMEOUT_S)) as connection:
                problem = _problem(connection)
        except sqlite3.Error as error:
            raise StateUnreadable(path, str(error)) from error
        if problem is not None:
            raise StateUnreadable(path, problem)


def _problem(connection: sqlite3.Connection) -> str | None:
    """What is wrong with a database, in SQLite's words."""
    connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()
    deadline = monotonic() + _LONGEST_S
    connection.set_progress_handler(lambda: monotonic() > deadline, _STEPS)
    try:
        found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return None
        raise
    return None if found == "ok" else " ".join(found.split())
