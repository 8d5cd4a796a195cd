"""A store with damaged files is refused with a message, and its files stay unchanged for a rescue."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pyoxigraph
import pytest
from pyoxigraph import Literal, NamedNode, Quad

from sparql.model.errors import BackupError, StoreError, StoreUnreadable
from sparql.storage.backup import back_up, restore
from sparql.storage.database import breaks_off
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer

PREDICATE = NamedNode("http://example.org/p")
QUADS = [
    Quad(
        NamedNode(f"http://example.org/{number}"),
        PREDICATE,
        Literal(f"a value too long to be inlined {number}"),
    )
    for number in range(3000)
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with values in sorted files and one commit more in the log."""
    folder = tmp_path_factory.mktemp("whole")
    store = EmbeddedStore(folder)
    store.bulk_add(QUADS)
    store.end_bulk()
    store.commit([Quad(PREDICATE, PREDICATE, Literal("the last commit"))])
    store.close()
    return folder


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def zeroed(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def scrambled(path: Path) -> None:
    path.write_bytes(os.urandom(max(64, path.stat().st_size)))


def missing(path: Path) -> None:
    path.unlink()


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGE = [truncated, emptied, zeroed, scrambled, missing, a_folder]


def largest(folder: Path, pattern: str) -> Path:
    return max((folder / "graph").glob(pattern), key=lambda path: path.stat().st_size)


@pytest.mark.parametrize("pattern", ["CURRENT", "MANIFEST-*", "*.sst"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_store_with_a_damaged_file_is_refused_and_its_values_stay_on_the_disk(
    whole: Path, tmp_path: Path, pattern: str, damage: Callable[[Path], None]
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(whole, folder)
    damaged = largest(folder, pattern)
    damage(damaged)
    files = {path.name: path.stat().st_size for path in (folder / "graph").glob("*.sst") if path.is_file()}
    with pytest.raises(StoreUnreadable, match=r"urbankg restore") as error:
        EmbeddedStore(folder)
    assert str(folder) in str(error.value)
    assert "\n" not in str(error.value)
    assert (
        files.items() <= {path.name: path.stat().st_size for path in (folder / "graph").glob("*.sst")}.items()
    )


@pytest.mark.parametrize("part", [0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_list_of_files_truncated_anywhere_in_a_record_is_refused(
    whole: Path, tmp_path: Path, part: float
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(whole, folder)
    manifest = largest(folder, "MANIFEST-*")
    content = manifest.read_bytes()
    size = int(len(content) * part)
    while not breaks_off(content[:size]):
        size += 1
    manifest.write_bytes(content[:size])
    with pytest.raises(StoreUnreadable, match="is truncated"):
        EmbeddedStore(folder)
    manifest.write_bytes(content)
    store = EmbeddedStore(folder)
    assert store.contains(QUADS[-1])
    store.close()


def test_a_long_list_of_files_is_complete_at_every_moment(tmp_path: Path) -> None:
    database = tmp_path / "graph"
    store = pyoxigraph.Store(str(database))
    for number in range(150):
        store.add(Quad(PREDICATE, PREDICATE, Literal(str(number))))
        store.flush()
        assert not breaks_off(list_of_files(database).read_bytes())
    assert list_of_files(database).stat().st_size > 2 * 32 * 1024
    store.backup(str(tmp_path / "copy"))
    assert not breaks_off(list_of_files(tmp_path / "copy").read_bytes())


def list_of_files(database: Path) -> Path:
    return database / (database / "CURRENT").read_text().strip()


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_to_files_that_the_engine_makes_anew_loses_nothing(
    whole: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(whole, folder)
    damage(largest(folder, "OPTIONS-*"))
    store = EmbeddedStore(folder)
    assert store.contains(QUADS[0])
    store.close()


@pytest.mark.parametrize("place", ["graph", "checkpoints"])
def test_a_file_in_place_of_a_folder_is_refused(whole: Path, tmp_path: Path, place: str) -> None:
    folder = tmp_path / "data"
    shutil.copytree(whole, folder)
    shutil.rmtree(folder / place)
    (folder / place).write_text("not a folder")
    if place == "checkpoints":
        store = EmbeddedStore(folder)
        store.release(store.acquire())
        store.close()
    else:
        with pytest.raises(StoreError):
            EmbeddedStore(folder)


def test_damage_to_a_block_is_reported_when_it_is_read(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(whole, folder)
    for path in (folder / "graph").glob("*.sst"):
        content = bytearray(path.read_bytes())
        if len(content) > 50_000:
            content[1000:1100] = bytes(100)
            path.write_bytes(content)
    with pytest.raises((RuntimeError, StoreUnreadable), match="Corruption"):
        list(EmbeddedStore(folder).match_quads(None, None, None))


@pytest.mark.parametrize("pattern", ["CURRENT", "MANIFEST-*", "*.sst"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_backup_is_not_restored(
    whole: Path, tmp_path: Path, pattern: str, damage: Callable[[Path], None]
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(whole, folder)
    store = EmbeddedStore(folder)
    back_up(store, Writer(store), tmp_path / "backup")
    store.close()
    damaged = largest(tmp_path / "backup", pattern)
    # The files of a backup are links to those of the folder.
    content = damaged.read_bytes()
    damaged.unlink()
    damaged.write_bytes(content)
    damage(damaged)
    with pytest.raises(BackupError, match="backup"):
        restore(tmp_path / "backup", tmp_path / "restored")
    assert not (tmp_path / "restored").exists()
