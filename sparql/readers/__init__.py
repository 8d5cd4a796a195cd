"""Queries run in worker processes on read-only checkpoints, where they can be stopped.

The names are loaded on first use: a worker process imports this package too and must start quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparql.readers.checkpoints import Checkpoint, CheckpointSource
    from sparql.readers.pool import ReaderPool
    from sparql.readers.protocol import QueryReaders, StreamedResult
    from sparql.readers.result import QueryRequest, QueryResult
    from sparql.readers.staff import ReaderSettings

__all__ = [
    "Checkpoint",
    "CheckpointSource",
    "QueryReaders",
    "QueryRequest",
    "QueryResult",
    "ReaderPool",
    "ReaderSettings",
    "StreamedResult",
]

_HOMES = {
    "Checkpoint": "sparql.readers.checkpoints",
    "CheckpointSource": "sparql.readers.checkpoints",
    "QueryRequest": "sparql.readers.result",
    "QueryResult": "sparql.readers.result",
    "ReaderPool": "sparql.readers.pool",
    "ReaderSettings": "sparql.readers.staff",
    "QueryReaders": "sparql.readers.protocol",
    "StreamedResult": "sparql.readers.protocol",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
