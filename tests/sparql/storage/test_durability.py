"""When a commit is on the disk: which logs are synced, and who shares a sync."""

import threading
from pathlib import Path

import pytest
from pyoxigraph import Quad

from sparql.model.change import Change, Statement
from sparql.model.errors import StoreClosing, StoreUnwritable
from sparql.model.vocabulary import Namespace
from sparql.storage.durability import Durability, GroupSync, LogFiles
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer
from tests.support.waiting import wait_until

EX = Namespace("http://example.org/")


def statement(number: int) -> Change:
    return Change(additions=(Statement(Quad(EX.s, EX.p, EX.term(f"o{number}")).triple),))


@pytest.mark.parametrize("durability", Durability)
def test_every_level_keeps_what_was_committed(tmp_path: Path, durability: Durability):
    store = EmbeddedStore(tmp_path, durability=durability)
    writer = Writer(store)
    for number in range(20):
        writer.commit(statement(number))
    store.close()
    again = EmbeddedStore(tmp_path)
    assert sum(1 for _ in again.match(EX.s, None, None)) == 20


def test_a_sync_reaches_the_log_of_every_commit_since_the_last(tmp_path: Path):
    for name in ("000004.log", "000009.log", "LOG", "000010.sst"):
        (tmp_path / name).touch()
    logs = LogFiles(tmp_path)
    logs.sync()
    (tmp_path / "000004.log").unlink()
    (tmp_path / "000012.log").touch()
    logs.sync()
    (tmp_path / "000012.log").unlink()
    logs.sync()


def test_writers_that_wait_together_share_a_sync():
    reached = 0
    gate = threading.Event()

    def slow_sync() -> None:
        gate.wait(5)

    group = GroupSync(slow_sync, lambda: reached)
    reached = 1
    first = threading.Thread(target=group.wait, args=(1,))
    first.start()
    wait_until(lambda: group._syncing)
    reached = 9
    others = [threading.Thread(target=group.wait, args=(number,)) for number in range(2, 10)]
    for other in others:
        other.start()
    gate.set()
    for thread in (first, *others):
        thread.join(5)
        assert not thread.is_alive()
    assert group.syncs == 2


def test_after_a_sync_that_failed_nothing_is_acknowledged_any_more():
    def failing() -> None:
        raise StoreUnwritable(Path("data"), "Input/output error")

    group = GroupSync(failing, lambda: 1)
    for _ in range(2):
        with pytest.raises(StoreUnwritable, match="Input/output error"):
            group.wait(1)
    assert group.syncs == 1


def test_concurrent_commits_are_acknowledged_after_their_sync(tmp_path: Path):
    store = EmbeddedStore(tmp_path, durability=Durability.GROUP)
    writer = Writer(store)
    unsettled: list[int] = []

    def write(client: int) -> None:
        for number in range(10):
            verdict = writer.commit(statement(client * 100 + number))
            assert verdict.revision is not None
            if store.group._settled < verdict.revision:
                unsettled.append(verdict.revision)

    threads = [threading.Thread(target=write, args=(client,)) for client in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert unsettled == []
    assert store.revision() == 40
    assert store.group.syncs <= 40


def test_a_closed_writer_accepts_no_writes(tmp_path: Path):
    writer = Writer(EmbeddedStore(tmp_path))
    writer.commit(statement(1))
    writer.close()
    with pytest.raises(StoreClosing):
        writer.commit(statement(2))


def test_a_probe_leaves_nothing_behind_and_makes_no_revision(tmp_path: Path):
    store = EmbeddedStore(tmp_path)
    before = set(store.match_quads(None, None, None))
    store.probe()
    assert set(store.match_quads(None, None, None)) == before
    assert store.revision() == 0
