"""Updates of several clients at once: whatever is committed together, a serial order explains it all."""

import asyncio
import json
import random
from dataclasses import replace

import httpx
import pytest

from server.services import Services
from server.writes.reviewing_writer import ReviewingWriter
from sparql.model.change import Change, Verdict
from sparql.model.errors import SparqlError
from sparql.model.triple_store import TripleStore
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.group import Outcome
from sparql.writing.update_account import change_of
from sparql.writing.updates import capture
from sparql.writing.writer import Writer
from tests.support.workshop import PREFIX

E = "http://example.org/city#"
DATE = "<http://www.w3.org/2001/XMLSchema#date>"


def held(store: TripleStore) -> set[str]:
    """What stands about the subjects of these tests."""
    found = store.match_quads(None, None, None)
    return {str(quad) for quad in found if str(quad.subject).startswith(f"<{E}s")}


def made_up(chance: random.Random, number: int) -> str:
    """An update: most follow from their text alone, some read the graph, some are refused or fail."""
    s, o, graph = f":s{chance.randrange(4)}", f":o{chance.randrange(3)}", f":g{chance.randrange(2)}"
    name = f"'{chance.randrange(3)}'"
    return PREFIX + chance.choice(
        [
            f"INSERT DATA {{ {s} a :Park ; :name {name} }}",
            f"INSERT DATA {{ {s} a :Park }}",
            f"INSERT DATA {{ {s} a :Road }}",
            f"INSERT DATA {{ {s} :name {name} }}",
            f"DELETE DATA {{ {s} :name {name} }}",
            f"DELETE DATA {{ {s} a :Park }}",
            f"DELETE DATA {{ {s} :p {o} }} ; INSERT DATA {{ {s} :p {number} }}",
            f"INSERT DATA {{ {s} :p {o} }}",
            f"INSERT DATA {{ GRAPH {graph} {{ {s} :p {o} }} }}",
            f"DELETE DATA {{ GRAPH {graph} {{ {s} :p {o} }} }}",
            f"CLEAR SILENT GRAPH {graph}",
            f"INSERT DATA {{ {s} :p '{number}'^^{DATE} }}",
            f"DELETE DATA {{ GRAPH <https://w3id.org/urbankg/graph/state> {{ {s} :p {o} }} }}",
            f"INSERT DATA {{ {s} :p }}",
            f"DELETE {{ {s} :p ?o }} INSERT {{ {s} :p {number} }} WHERE {{ {s} :p ?o }}",
        ]
    )


@pytest.mark.parametrize("seed", range(3))
async def test_any_mix_gives_what_the_same_updates_give_one_by_one(
    shop_client: httpx.AsyncClient, shop: Services, seed: int
) -> None:
    chance = random.Random(seed)
    texts = [made_up(chance, number) for number in range(80)]
    answers = await asyncio.gather(*(shop_client.post("/update", data={"update": one}) for one in texts))
    alone = EmbeddedStore()
    writer = Writer(alone, gate=shop.gate)
    writer.replace_ontology(shop.schema.triples)
    revisions: list[int] = []
    for text, answer in zip(texts, answers, strict=True):
        outcome = one_by_one(writer, alone, text)
        if isinstance(outcome, SparqlError):
            assert answer.status_code in (400, 403, 404), (text, answer.text)
        elif outcome.rejected:
            assert answer.status_code == 422, (text, answer.text)
            assert len(answer.json()["rejected"]) == len(outcome.rejected)
        else:
            assert answer.status_code == 200, (text, answer.text)
            revision = answer.json()["revision"]
            assert (revision is None) == (outcome.revision is None), text
            revisions += [] if revision is None else [revision]
    assert {422, 403, 400, 200} <= {answer.status_code for answer in answers}
    assert held(shop.store) == held(alone)
    assert revisions == list(range(revisions[0], shop.store.revision() + 1))
    reported = [json.loads(line) for line in shop.changes.reader(revisions[0] - 1).next_lines()]
    assert [one["revision"] for one in reported] == revisions
    assert replayed(reported) == held(alone)


def one_by_one(writer: Writer, store: EmbeddedStore, text: str) -> Outcome:
    try:
        verdict: Verdict = writer.commit_built(lambda: change_of(capture(store.graph, text)))
    except SparqlError as error:
        return error
    return verdict


def replayed(entries: list[dict[str, str]]) -> set[str]:
    """What the journal makes of an empty graph; each entry has only what it changed."""
    standing: set[str] = set()
    for one in entries:
        removed, added = (
            {line.removesuffix(" .") for line in one[side].splitlines()} for side in ("removals", "additions")
        )
        assert removed <= standing
        assert added.isdisjoint(standing)
        standing = (standing - removed) | added
    return standing


async def test_eight_clients_that_count_lose_nothing(shop_client: httpx.AsyncClient, shop: Services) -> None:
    async def client(name: int) -> None:
        for number in range(6):
            text = f"{PREFIX}INSERT DATA {{ :c{name} :p {number} }}"
            if number:
                text += f" ; DELETE DATA {{ :c{name} :p {number - 1} }}"
            answer = await shop_client.post("/update", data={"update": text})
            assert shop.store.revision() >= answer.json()["revision"]
            rows = await shop_client.get(
                "/sparql",
                params={"query": f"{PREFIX}SELECT ?n {{ :c{name} :p ?n }}"},
                headers={"accept": "text/csv"},
            )
            assert rows.text.split() == ["n", str(number)]

    before = shop.store.revision()
    await asyncio.gather(*(client(name) for name in range(8)))
    assert shop.store.revision() == before + 8 * 6


async def test_a_failure_that_nobody_expected_is_that_of_one_update(
    shop_client: httpx.AsyncClient, shop: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    concerns = shop.gate.concerns

    def failing(additions, *arguments):
        if any("s1" in str(one.subject) for one in additions):
            raise ZeroDivisionError
        return concerns(additions, *arguments)

    monkeypatch.setattr(shop.writer.gate, "concerns", failing)
    texts = [f"{PREFIX}INSERT DATA {{ :s{number} :p 1 }}" for number in range(4)]
    answers = await asyncio.gather(*(shop_client.post("/update", data={"update": one}) for one in texts))
    assert [answer.status_code for answer in answers] == [200, 500, 200, 200]
    assert len(held(shop.store)) == 3


async def test_a_change_is_checked_under_the_writers_lock(
    shop_client: httpx.AsyncClient, shop: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[bool, int]] = []

    def check(change: Change, source: str) -> Change:
        seen.append((shop.writer._lock.locked(), len(change.additions)))
        return change

    writer = shop.updates._writer
    assert isinstance(writer, ReviewingWriter)
    monkeypatch.setattr(shop.updates, "_writer", replace(writer, check=check))
    texts = [f"{PREFIX}INSERT DATA {{ :s{number} :p 1 }}" for number in range(4)]
    await asyncio.gather(*(shop_client.post("/update", data={"update": one}) for one in texts))
    assert seen == [(True, 1)] * 4
