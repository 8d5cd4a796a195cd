"""Backups are complete or absent, hold one revision and the files beside it, and never overwrite."""

import json
import sqlite3
import threading
from pathlib import Path

import pytest
from pyoxigraph import Quad

from sparql.model.change import Change, Statement
from sparql.model.errors import BackupError
from sparql.model.vocabulary import Namespace
from sparql.storage.backup import MANIFEST, back_up, restore
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer

EX = Namespace("http://example.org/")


def committed(writer: Writer, *numbers: int) -> None:
    for number in numbers:
        quad = Quad(EX.s, EX.p, EX.term(f"o{number}"))
        writer.commit(Change(additions=(Statement(quad.triple),)))


@pytest.fixture
def store(tmp_path: Path) -> EmbeddedStore:
    return EmbeddedStore(tmp_path / "data")


def test_a_restored_folder_holds_the_revision_and_the_files_beside_it(store: EmbeddedStore, tmp_path: Path):
    writer = Writer(store)
    committed(writer, 1, 2)
    assert store.folder is not None
    with sqlite3.connect(store.folder / "state.sqlite") as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE jobs (name)")
        database.execute("INSERT INTO jobs VALUES ('one')")
    database.close()
    (store.folder / "documents").mkdir()
    (store.folder / "documents" / "a.txt").write_text("a text")
    (store.folder / "server.json").write_text("{}")
    backup = back_up(store, writer, tmp_path / "kept")
    committed(writer, 3)
    assert backup.revision == 2
    restored = restore(tmp_path / "kept", tmp_path / "again")
    assert restored.revision == 2
    again = EmbeddedStore(tmp_path / "again")
    assert again.revision() == 2
    assert sum(1 for _ in again.match(EX.s, None, None)) == 2
    assert (tmp_path / "again" / "documents" / "a.txt").read_text() == "a text"
    assert not (tmp_path / "again" / "server.json").exists()
    with sqlite3.connect(tmp_path / "again" / "state.sqlite") as database:
        assert database.execute("SELECT name FROM jobs").fetchall() == [("one",)]
    database.close()
    committed(Writer(again), 4)
    assert restore(tmp_path / "kept", tmp_path / "third").revision == 2


def test_backups_are_taken_while_others_write(store: EmbeddedStore, tmp_path: Path):
    writer = Writer(store)
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            committed(writer, number)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        backups = [back_up(store, writer, tmp_path / f"kept{number}") for number in range(3)]
    finally:
        stop.set()
        thread.join()
    for number, backup in enumerate(backups):
        restore(backup.folder, tmp_path / f"again{number}")
        again = EmbeddedStore(tmp_path / f"again{number}")
        assert sum(1 for _ in again.match(EX.s, None, None)) == backup.revision


def test_an_existing_or_enclosed_folder_is_refused(store: EmbeddedStore, tmp_path: Path):
    writer = Writer(store)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(BackupError, match="already exists"):
        back_up(store, writer, tmp_path / "full")
    with pytest.raises(BackupError, match="inside the data folder"):
        back_up(store, writer, tmp_path / "data" / "kept")
    back_up(store, writer, tmp_path / "kept")
    with pytest.raises(BackupError, match="not empty"):
        restore(tmp_path / "kept", tmp_path / "full")


def test_an_incomplete_backup_is_refused(store: EmbeddedStore, tmp_path: Path):
    writer = Writer(store)
    committed(writer, 1)
    back_up(store, writer, tmp_path / "kept")
    manifest = tmp_path / "kept" / MANIFEST
    found = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**found, "revision": 7}))
    with pytest.raises(BackupError, match="revision 1, not 7"):
        restore(tmp_path / "kept", tmp_path / "again")
    manifest.unlink()
    with pytest.raises(BackupError, match="not a complete backup"):
        restore(tmp_path / "kept", tmp_path / "again")
    assert not (tmp_path / "again").exists()
    with pytest.raises(BackupError, match="in memory"):
        back_up(EmbeddedStore(), Writer(EmbeddedStore()), tmp_path / "other")
