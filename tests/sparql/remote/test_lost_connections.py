"""The result of a commit when the connection to the store is lost: reported honestly, and settled."""

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from pyoxigraph import Literal, NamedNode, Quad, Triple

from sparql.model.change import Change, Statement
from sparql.model.errors import RemoteRefused, RemoteUndecided, RemoteUnreachable
from sparql.model.vocabulary import PROVENANCE, RDFS
from sparql.names.labels import LabelIndex
from sparql.remote.endpoint import RemoteAddress
from sparql.remote.store import RemoteStore
from sparql.storage.change_log import ChangeLog
from sparql.writing.writer import Writer
from tests.support.remote_servers import clear, direct

OpenRemote = Callable[..., RemoteStore]
A, B, P = (NamedNode(f"http://e.org/{name}") for name in "abp")
ONE, HERE = Quad(A, P, Literal("one")), Quad(A, P, B, PROVENANCE)


class Line(httpx.BaseTransport):
    """The network between us and a real store; `break_` says at which updates and how it breaks.

    A step is "ok", "request" (lost on the way there), "answer" (lost on the way back) or "down" (no
    connection). When the steps are used up everything goes through, unless `down`.
    """

    def __init__(self) -> None:
        self._network = httpx.HTTPTransport()
        self.steps: list[str] = []
        self.down = False
        self.sent: list[bytes] = []

    def break_(self, *steps: str) -> None:
        self.steps = list(steps)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        guarded = request.url.path == "/update" and b"DELETE {" in request.read()
        step = self.steps.pop(0) if guarded and self.steps else "ok"
        if step == "cut off":
            self.down, step = True, "answer"
        elif step == "cut off before":
            self.down, step = True, "request"
        elif self.down or step == "down":
            raise httpx.ConnectError("nobody listens", request=request)
        if guarded:
            self.sent.append(request.read())
        if step == "request":
            raise httpx.WriteError("the connection was reset", request=request)
        response = self._network.handle_request(request)
        if step == "answer":
            response.read()
            raise httpx.ReadError("the connection was reset", request=request)
        return response

    def close(self) -> None:
        self._network.close()


@pytest.fixture
def address(oxigraph_address: RemoteAddress) -> RemoteAddress:
    clear(oxigraph_address)
    return oxigraph_address


@pytest.fixture
def line() -> Line:
    return Line()


@pytest.fixture
def store(open_remote: OpenRemote, line: Line, tmp_path: Path) -> RemoteStore:
    store = open_remote(transport=line, settling_pauses_s=(0.0, 0.0))
    store.journal = ChangeLog(tmp_path / "changes", store.revision())
    line.sent.clear()
    return store


def held(store: RemoteStore) -> set[str]:
    return {triple.object.value for triple in store.match(A, P, None)}


def test_an_update_whose_answer_is_lost_is_found_to_be_applied(store: RemoteStore, line: Line):
    line.break_("answer")
    assert store.commit([ONE, HERE]) == 1
    assert held(store) == {"one"}
    assert store.contains(HERE)
    assert len(line.sent) == 1


def test_an_update_that_never_arrived_is_sent_again(store: RemoteStore, line: Line):
    line.break_("request", "request")
    assert store.commit([ONE, HERE]) == 1
    assert held(store) == {"one"}
    assert len(line.sent) == 3


def test_an_update_that_was_applied_and_is_sent_again_changes_nothing_more(
    address: RemoteAddress, store: RemoteStore, line: Line
):
    store.commit([ONE])
    store.commit([Quad(A, P, Literal("two"))], [ONE])
    store.commit([ONE])
    direct(address, line.sent[1].decode())
    assert held(store) == {"one", "two"}


def test_a_store_that_accepts_no_connection_is_reported_and_nothing_is_changed(
    store: RemoteStore, line: Line
):
    line.down = True
    with pytest.raises(RemoteUnreachable, match="Nothing was changed"):
        store.commit([ONE, HERE])
    line.down = False
    assert store.late_commit() is None
    assert store.revision() == 0
    assert held(store) == set()
    assert not store.contains(HERE)
    assert store.journal is not None
    assert store.journal.newest == 0
    assert store.commit([ONE]) == 1


def test_a_commit_with_unknown_result_is_reported_and_completed_if_it_was_applied(
    store: RemoteStore, line: Line
):
    line.break_("cut off")
    with pytest.raises(RemoteUndecided, match="may or may not have been applied"):
        store.commit([ONE, HERE])
    assert store.revision() == 0
    with pytest.raises(RemoteUnreachable):
        store.late_commit()
    line.down = False
    late = store.late_commit()
    assert late is not None
    assert list(late.additions) == [ONE]
    assert store.revision() == 1
    assert store.contains(HERE)
    assert store.journal is not None
    assert b"one" in store.journal.reader(0).next_lines()[0]
    assert store.late_commit() is None
    assert store.commit([Quad(A, P, Literal("two"))]) == 2


def test_a_commit_with_unknown_result_that_was_not_applied_is_prevented_for_good(
    address: RemoteAddress, store: RemoteStore, line: Line
):
    line.break_("cut off before")
    with pytest.raises(RemoteUndecided):
        store.commit([ONE, HERE])
    line.down = False
    with pytest.raises(RemoteUndecided, match="next write"):
        store.probe()
    assert store.late_commit() is None
    # The lost update arrives after all, by the slowest of ways.
    direct(address, line.sent[0].decode())
    assert held(store) == set()
    assert not store.contains(HERE)
    store.probe()
    assert store.commit([Quad(A, P, Literal("two"))]) == 1
    assert held(store) == {"two"}


@pytest.mark.parametrize(("step", "expected"), [("cut off", {"one"}), ("cut off before", set())])
def test_a_server_that_ended_in_between_settles_it_when_it_starts(
    open_remote: OpenRemote, store: RemoteStore, line: Line, step: str, expected: set[str]
):
    line.break_(step)
    with pytest.raises(RemoteUndecided):
        store.commit([ONE, HERE])
    store.close()
    again = open_remote()
    Writer(again).start()
    assert held(again) == expected
    assert again.contains(HERE) == bool(expected)
    assert again.revision() == len(expected)
    again.probe()


def test_the_writer_applies_a_late_commit_to_its_indexes(store: RemoteStore, line: Line):
    labels = LabelIndex()
    writer = Writer(store, observers=(labels,))
    writer.start()
    named = Triple(A, RDFS.label, Literal("Ashland"))
    line.break_("cut off")
    with pytest.raises(RemoteUndecided):
        writer.commit(Change(additions=(Statement(named),)))
    assert not labels.exact("Ashland")
    line.down = False
    verdict = writer.commit(Change(additions=(Statement(Triple(A, P, Literal("two"))),)))
    assert verdict.revision == 2
    assert labels.exact("Ashland")


def test_a_refusal_is_reported_in_the_words_of_the_store(open_remote: OpenRemote, address: RemoteAddress):
    store = open_remote()
    store.endpoint.address = RemoteAddress(address.query_url, f"{address.update_url}/nowhere")
    with pytest.raises(RemoteRefused, match="status 404"):
        store.commit([ONE])
    store.endpoint.address = address
    assert store.late_commit() is None
    assert store.commit([ONE]) == 1
