"""The queue of gaps is shared by clients, and a list of it is never longer than a reply may be."""

from pathlib import Path

import pytest

from server.gaps import storage
from server.gaps.storage import Asked, GapFilter, GapQueue, GraphDocuments, Passages
from server.http.pages import MOST_BYTES, page


def gap(name: str) -> dict[str, str]:
    return {
        "kind": "entity",
        "subject": name,
        "property": "?",
        "object": "?",
        "message": f"{name} is missing.",
    }


@pytest.fixture
def gaps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GapQueue:
    monkeypatch.setattr(storage, "MOST_OPEN", 10)
    return GapQueue(tmp_path)


def held(gaps: GapQueue) -> set[str]:
    return {gaps.get(one).subject for one in gaps.find(GapFilter())}


def test_a_client_that_fills_the_queue_gives_way_to_others(gaps: GapQueue):
    for number in range(30):
        gaps.record([gap(f"flood {number}")], Asked("?"), None, "anonymous", "flooder")
    assert len(held(gaps)) == 10
    for number in range(30):
        gaps.record([gap(f"guest {number}")], Asked("?"), None, "anonymous", "guest")
    for number in range(3):
        gaps.record([gap(f"third {number}")], Asked("?"), None, "anonymous", "third")
    found = held(gaps)
    shares = {who: sum(one.startswith(who) for one in found) for who in ("flood", "guest", "third")}
    assert sum(shares.values()) == 10
    assert max(shares.values()) - min(shares.values()) <= 2
    assert "flood 0" in found


def test_what_many_ask_for_stays_whoever_asks_too_much(gaps: GapQueue):
    gaps.record([gap("wanted")], Asked("?"), None, "ada", "ada")
    for number in range(30):
        gaps.record([gap(f"flood {number}")], Asked("?"), None, "anonymous", "flooder")
    assert "wanted" in held(gaps)


def test_a_page_of_long_items_is_shorter_than_was_asked_for_and_counts_on_from_there():
    items = [{"text": "x" * (MOST_BYTES // 3)} for _ in range(10)]
    first = page("items", items, 0, 10, lambda one: one)
    assert len(first["items"]) == first["limit"] < 4
    following = page("items", items, first["limit"], 10, lambda one: one)
    assert following["items"]
    assert page("items", [{"text": "x" * 2 * MOST_BYTES}], 0, 10, lambda one: one)["items"]


def test_passages_are_those_that_have_the_name(tmp_path: Path):
    texts = {
        "d:1": "The Clock Museum was designed by Ann Mill and opened in 1901.",
        "d:2": "The Rope Museum opened in 1907. It is large.",
        "d:3": "Who designed the museum that opened? Designed, designed, opened, museum.",
    }
    documents = GraphDocuments(lambda: texts, lambda iri: (texts[iri], iri))
    passages = Passages(tmp_path, documents, None)
    found = passages.search("Rope Museum", "designed by Who designed the Rope Museum?")
    assert [one.document for one in found] == ["d:2"]
    assert passages.search("?", "designed") == []
    assert passages.search('Mirror "Palace" OR *', "designed") == []
