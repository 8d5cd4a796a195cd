"""The engine's database: its files, opening it, exact writes, the buffer of recent ones, and a full disk."""

from __future__ import annotations

import errno
import gc
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import pyoxigraph
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Triple, parse

from sparql.model.errors import DiskFull, FormatUnknown, StoreLocked, StoreUnreadable, StoreUnwritable
from sparql.model.source import Term
from sparql.model.vocabulary import STATE, UKG, XSD

# A limit on file sizes (RLIMIT_FSIZE) or a quota has the same effect as a full disk.
_NUMBERS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# The engine reports only the operating system's message.
_WORDS = tuple(os.strerror(number) for number in sorted(_NUMBERS))
_PROBE = ".room"
LEAST_SPACE = 4 * 2**20
"""The space that a database needs to open, beyond the content of its logs."""


def is_full(error: BaseException) -> bool:
    """Whether an error means that the disk is full."""
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    if not isinstance(error, OSError):
        return False
    return error.errno in _NUMBERS or any(words in str(error) for words in _WORDS)


def has_space(folder: Path, size: int = LEAST_SPACE) -> bool:
    """Whether a file of this size can be written in a folder: tested by writing, since limits and quotas
    count.
    """
    probe = folder / f"{_PROBE}-{os.getpid()}"
    try:
        handle = os.open(probe, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        try:
            os.posix_fallocate(handle, 0, size)
        finally:
            os.close(handle)
            probe.unlink()
    except OSError as error:
        return not is_full(error)
    return True


def is_full_for_sqlite(error: BaseException, folder: Path) -> bool:
    """The same for an error of SQLite, which does not include the operating system's error."""
    if is_full(error):
        return True
    return isinstance(error, sqlite3.Error) and "I/O" in str(error) and not has_space(folder)


def unwritable(folder: Path, error: OSError | RuntimeError) -> StoreUnwritable:
    """Our error for an operating system error during a write."""
    kind = DiskFull if is_full(error) else StoreUnwritable
    return kind(folder, (error.strerror if isinstance(error, OSError) else None) or str(error))


# The version of a data folder's format, in its file `format`.
#
# A folder without the file is of format 1, which had none at first. When the format changes, the number grows
# by one, and `check_format` converts an older folder or names the command that does.
FORMAT: Final = 1
_FILE: Final = "format"


def check_format(folder: Path) -> None:
    """Check before anything is opened. Raises `FormatUnknown` for a newer folder, or an unreadable file."""
    try:
        found = (folder / _FILE).read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return
    if found != str(FORMAT):
        raise FormatUnknown(folder, found, FORMAT)


def mark_format(folder: Path) -> None:
    """Write the file, if it is missing. Where nothing can be written, its absence says the same."""
    with suppress(OSError), (folder / _FILE).open("x", encoding="utf-8") as file:
        file.write(f"{FORMAT}\n")


# Detects damage to database files that the engine itself would not notice, and would make worse.
#
# If the list of files (manifest) is truncated, the engine (RocksDB) assumes that its end was not written
# before a crash. It then opens an old state of the database and deletes every file that the truncated list
# does not name. If the pointer to the list is missing, it creates a new database in the same place. Both
# cases are detected here before it opens.
_CURRENT = "CURRENT"
_BLOCK = 32 * 1024
_HEADER = 7
"""Bytes of a record's header: checksum (4), length (2), type (1)."""
_FULL, _LAST = 1, 4


def check_files(database: Path) -> None:
    """Raise OSError for a database whose list of files is missing or truncated; a new one passes."""
    try:
        name = (database / _CURRENT).read_bytes().strip().decode("ascii", "replace")
    except FileNotFoundError as error:
        if any(database.glob("*.sst")):
            raise OSError("the file CURRENT is missing beside the files of a database") from error
        return
    # The engine itself refuses an invalid name.
    if name.startswith("MANIFEST-") and "/" not in name and "\0" not in name:
        content = (database / name).read_bytes()
        if breaks_off(content):
            raise OSError(f"the file {name} is truncated after {len(content)} bytes")


def breaks_off(content: bytes) -> bool:
    """Whether a log of RocksDB ends in the middle of a record.

    Records are split into fragments within blocks; a remainder too short for a header ends a block.
    """
    place, kind = 0, _FULL
    while place < len(content):
        left = _BLOCK - place % _BLOCK
        if left < _HEADER:
            place += left
            continue
        header = content[place : place + _HEADER]
        if not any(header):
            # Space that the file system allocated before the engine wrote to it.
            break
        end = place + _HEADER + int.from_bytes(header[4:6], "little")
        if len(header) < _HEADER or end > len(content):
            return True
        place, kind = end, header[6]
    return kind not in (_FULL, _LAST)


# The engine's database: opening it, and the revision that every commit writes into it.
#
# The revision is a quad of the state graph, committed with the data, so a restart knows exactly what was
# acknowledged.
_REVISION = UKG.revision


def open_database(path: Path) -> tuple[pyoxigraph.Store, int]:
    """The database and its revision. Raises `StoreLocked`, `StoreUnreadable` and `DiskFull`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        check_files(path)
        graph = pyoxigraph.Store(str(path))
        return graph, stored_revision(graph)
    except (OSError, RuntimeError) as error:
        # The engine raises RuntimeError where a file does not hold what was written to it.
        if "lock" in str(error).lower():
            raise StoreLocked(path.parent) from error
        if is_full(error):
            raise unwritable(path.parent, error) from error
        raise StoreUnreadable(path.parent, str(error)) from error


def open_again(path: Path) -> pyoxigraph.Store:
    """A database whose last handle of this process was dropped just now.

    The handle, and the lock of its files with it, can outlive the last name for it: a traceback of a failed
    write forms a cycle with its frames, which hold the store. Raises OSError as the engine does.
    """
    try:
        return pyoxigraph.Store(str(path))
    except OSError as error:
        if "lock" not in str(error).lower():
            raise
    gc.collect()
    return pyoxigraph.Store(str(path))


def stored_revision(graph: pyoxigraph.Store) -> int:
    """The revision of the last commit that a database holds; 0 for a new one."""
    stamps = graph.quads_for_pattern(UKG.store, _REVISION, None, STATE)
    return max((int(quad.object.value) for quad in stamps if isinstance(quad.object, Literal)), default=0)


def revision_quad(revision: int) -> Quad:
    """The quad that records a revision."""
    return Quad(UKG.store, _REVISION, Literal(str(revision), datatype=XSD.integer), STATE)


# One atomic step that removes and adds exactly the given quads, stored blank nodes included.
_TERM = NamedNode("urn:x-urbankg:term")
_SUBJECT = "<urn:s> <urn:p> "


def _term(written: Term) -> Term | None:
    """The term encoded in a literal of our own datatype; any other term is returned unchanged."""
    if not isinstance(written, Literal) or written.datatype != _TERM:
        return written
    if written.value.startswith("_:"):
        return BlankNode(written.value[2:])
    quads = list(parse(f"{_SUBJECT}{written.value} .", format=RdfFormat.N_TRIPLES))
    return quads[0].object if len(quads) == 1 else None


FUNCTIONS: Final[dict[NamedNode, Callable[..., Term | None]]] = {_TERM: _term}
"""The functions that the update's text calls."""


def write_exactly(
    graph: pyoxigraph.Store,
    additions: Collection[Quad],
    removals: Collection[Quad] = (),
    created: Collection[NamedNode] = (),
    dropped: Collection[NamedNode] = (),
) -> None:
    """Write quads, and create or drop named graphs, in one transaction of the engine. Raises OSError.

    A dropped graph loses all its quads.
    """
    if created:
        # Additions create their graph, which is much faster in the engine.
        made = {quad.graph_name for quad in additions}
        created = [graph for graph in created if graph not in made]
    if not (removals or created or dropped):
        graph.extend(additions)
        return
    left = [quad for quad in removals if quad.graph_name not in dropped]
    text = " ;\n".join(
        [
            *(f"DROP SILENT GRAPH {graph}" for graph in dropped),
            *(f"CREATE SILENT GRAPH {graph}" for graph in created),
            update_text(additions, left),
        ]
    )
    graph.update(text, custom_functions=FUNCTIONS)


def update_text(additions: Iterable[Quad], removals: Iterable[Quad]) -> str:
    """One SPARQL update that removes and adds exactly these quads: run the text with `FUNCTIONS`.

    SPARQL cannot name a stored blank node. Quads with blank nodes are rows of VALUES, where each such term is
    written as a literal that a custom function decodes: the engine takes thousands of rows easily, and
    overflows its stack at thousands of any other construct.
    """
    parts = []
    for verb, quads in (("DELETE", removals), ("INSERT", additions)):
        plain: list[Quad] = []
        default: list[Quad] = []
        named: list[Quad] = []
        for quad in quads:
            if not _has_blank(quad):
                plain.append(quad)
            elif isinstance(quad.graph_name, DefaultGraph):
                default.append(quad)
            else:
                named.append(quad)
        if plain:
            parts.append(f"{verb} DATA {{\n" + "\n".join(_data(quad) for quad in plain) + "\n}")
        if default:
            parts.append(_through_rows(verb, "?s ?p ?o", ("s", "p", "o"), default))
        if named:
            parts.append(_through_rows(verb, "GRAPH ?g { ?s ?p ?o }", ("s", "p", "o", "g"), named))
    return " ;\n".join(parts)


def _through_rows(verb: str, template: str, names: Sequence[str], quads: Iterable[Quad]) -> str:
    head = " ".join(f"?_{name}" for name in names)
    binds = " ".join(f"BIND({_TERM}(?_{name}) AS ?{name})" for name in names)
    rows = "\n".join(
        "(" + " ".join(_written(term) for term in tuple(quad)[: len(names)]) + ")" for quad in quads
    )
    return f"{verb} {{ {template} }} WHERE {{ VALUES ({head}) {{\n{rows}\n}} {binds} }}"


def _has_blank(quad: Quad) -> bool:
    return any(_is_blank(term) for term in (quad.subject, quad.object, quad.graph_name))


def _is_blank(term: object) -> bool:
    if isinstance(term, Triple):
        return _is_blank(term.subject) or _is_blank(term.object)
    return isinstance(term, BlankNode)


def _written(term: Term | DefaultGraph) -> str:
    return str(Literal(_syntax(term), datatype=_TERM)) if _is_blank(term) else _syntax(term)


def _syntax(term: Term | DefaultGraph) -> str:
    """A term as N-Triples writes it (RDF 1.2)."""
    if isinstance(term, Triple):
        return f"<<( {' '.join(_syntax(part) for part in term)} )>>"
    return str(term)


def _data(quad: Quad) -> str:
    triple = " ".join(_syntax(term) for term in quad.triple)
    if isinstance(quad.graph_name, DefaultGraph):
        return f"{triple} ."
    return f"GRAPH {quad.graph_name} {{ {triple} }}"


# Bounds the memory in which the engine keeps recent writes.
#
# RocksDB keeps writes in memory until they are written to a table file, which happens when a checkpoint is
# made, and otherwise only beyond a gigabyte. So a database with many writes and few checkpoints grows with
# each write, removals included. Here writes are counted, and flushed when they take too much.
_BYTES_PER_QUAD: Final = 500
"""Bytes of an added or removed quad in all indexes together, without long texts (measured: 400 to 650)."""


class WriteBuffer:
    """Counts what is written to a database, and calls `write_out` when that exceeds `most_bytes`."""

    def __init__(self, write_out: Callable[[], None], most_bytes: int) -> None:
        self._write_out = write_out
        self._most_bytes = most_bytes
        self._bytes = 0

    def wrote(self, quads: int, characters: int = 0) -> None:
        """Count added and removed quads, and the characters of added literals. Raises OSError."""
        self._bytes += quads * _BYTES_PER_QUAD + characters
        if self._bytes > self._most_bytes:
            self.emptied()
            self._write_out()

    def emptied(self) -> None:
        """Everything was written out, for example by a checkpoint."""
        self._bytes = 0


def literal_characters(quads: Iterable[Quad]) -> int:
    """The total length of all literals."""
    return sum(len(quad.object.value) for quad in quads if isinstance(quad.object, Literal))
