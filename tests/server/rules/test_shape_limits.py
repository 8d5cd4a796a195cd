"""No shape holds the server: what runs its query ends at a limit, and taking its file back never waits."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from pyoxigraph import NamedNode, Quad, Triple

from server.app import create_app
from server.runtime.wiring import build
from server.services import Services
from sparql.model.vocabulary import UKG
from sparql.writing.bulk import BulkLoad
from tests.server.conftest import RecordedModel
from tests.support.processes import family
from tests.support.running_server import RunningServer
from tests.support.waiting import eventually
from tests.support.workshop import RULES, SHORT, folders, settings_in, update

TURTLE = {"content-type": "text/turtle"}
HEAD = RULES.partition("s:Named")[0]
EVERYTHING = 'SELECT $this { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f . FILTER (STR(?a) = "x" && STR(?e) = "y") }'
SUB_SELECTS = (
    "SELECT $this { { SELECT $this ?a { $this ?o ?n . ?a ?p ?b } } "
    "{ SELECT $this ?c { $this ?o ?n . ?c ?q ?d } } "
    '{ SELECT $this ?e { $this ?o ?n . ?e ?r ?f } } FILTER (STR(?a) = CONCAT("x", STR(?c), STR(?e))) }'
)
ONE_NODE = (
    "SELECT $this { $this :near ?a . $this :near ?b . $this :near ?c . $this :near ?d . "
    'FILTER (STR(?a) = "x" && STR(?d) = "y") }'
)
COUNTED = (
    "SELECT $this { { SELECT $this (COUNT(*) AS ?n) { $this ?x ?y . ?a ?p ?b . ?c ?q ?d . ?e ?r ?f } "
    "GROUP BY $this } FILTER (?n = 3) }"
)
NOTE = "<http://example.org/city#note>"
KINDS = (EVERYTHING, SUB_SELECTS, ONE_NODE, COUNTED)
SLOW_S = 20.0


def shape(query: str, target: str = "sh:targetClass :Park") -> str:
    """A file with a shape that runs this query."""
    text = query.replace(":near", "<http://example.org/city#near>").replace("\n", " ")
    return HEAD + f"s:Slow {target} ; sh:sparql [ sh:message 'slow' ; sh:select '''{text}''' ] .\n"


async def put(client: httpx.AsyncClient, name: str, text: str) -> httpx.Response:
    return await client.put(f"/shapes/{name}", content=text, headers=TURTLE, timeout=120)


def grow(services: Services, size: int = 400) -> None:
    """Parks and what is near them, past the gate."""
    city = "http://example.org/city#"
    kind, near, name = (NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), city + "near", city)
    triples = [Triple(NamedNode(f"{name}p{n}"), kind, NamedNode(city + "Park")) for n in range(size)]
    triples += [
        Triple(NamedNode(city + "p0"), NamedNode(near), NamedNode(f"{city}p{n}")) for n in range(size)
    ]
    BulkLoad(services.store, services.writer).run(Quad(*one) for one in triples)


async def started(services: Services) -> None:
    """Return when a dry run has its process."""
    await eventually(lambda: services.rule_registry.dry_runs.pids)


@pytest.fixture
def limit_s() -> float:
    return 1.0


@pytest.fixture
async def slow_shop(tmp_path: Path, limit_s: float) -> AsyncIterator[Services]:
    folders(tmp_path)
    settings = settings_in(tmp_path).model_copy(update={"shapes_timeout_s": limit_s})
    async with build(settings, model=RecordedModel()) as services:
        yield services


@pytest.fixture
async def client(slow_shop: Services) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(slow_shop), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        yield client


@pytest.mark.parametrize("query", KINDS)
async def test_a_shape_that_takes_too_long_on_the_graph_is_refused_and_all_stays_as_it_was(
    client: httpx.AsyncClient, slow_shop: Services, tmp_path: Path, query: str
) -> None:
    grow(slow_shop)
    before = (await client.get("/rules")).json()["rules"]
    answer = await put(client, "slow.ttl", shape(query))
    assert answer.status_code == 422, answer.text
    assert "1 s" in answer.json()["detail"]
    assert not (tmp_path / "shapes" / "slow.ttl").exists()
    assert (await client.get("/rules")).json()["rules"] == before
    assert slow_shop.rule_registry.dry_runs.pids == []


@pytest.mark.parametrize("query", KINDS)
async def test_a_shape_that_became_slow_with_the_graph_ends_a_write_and_is_taken_back_at_once(
    client: httpx.AsyncClient, slow_shop: Services, query: str
) -> None:
    assert (await put(client, "slow.ttl", shape(query))).status_code == 201
    grow(slow_shop)
    revision = slow_shop.store.revision()
    began = time.monotonic()
    refused = await update(client, "INSERT DATA { :p0 a :Park ; :name 'new' ; :near :p1, :x }")
    assert refused.status_code == 503, refused.text
    assert refused.json()["shape"] == "http://example.org/shapes#Slow"
    assert "shapes_timeout_s" in refused.json()["detail"]
    assert slow_shop.store.revision() == revision
    taken = await client.delete("/shapes/slow.ttl", timeout=120)
    assert taken.status_code == 200, taken.text
    assert time.monotonic() - began < SLOW_S
    assert (await update(client, "INSERT DATA { :p0 :name 'new' ; :near :x }")).status_code == 200


CITY_IRI = "http://example.org/city#"
NEW_PARK = f"<{CITY_IRI}p0> a <{CITY_IRI}Park> ; <{CITY_IRI}name> 'new' ; <{CITY_IRI}near> <{CITY_IRI}x> ."
WRITES: dict[str, tuple[str, str, str]] = {
    "an update with a pattern": (
        "/update",
        "application/sparql-update",
        f"INSERT {{ {NEW_PARK} }} WHERE {{ ?s a <{CITY_IRI}Park> }}",
    ),
    "a graph": ("/store?default", "text/turtle", NEW_PARK),
    "candidates": ("/candidates", "text/turtle", NEW_PARK),
}


@pytest.mark.parametrize("name", WRITES)
async def test_a_slow_shape_ends_every_kind_of_write_of_another_client_with_its_name(
    client: httpx.AsyncClient, slow_shop: Services, name: str
) -> None:
    assert (await put(client, "slow.ttl", shape(EVERYTHING))).status_code == 201
    grow(slow_shop)
    revision = slow_shop.store.revision()
    path, kind, body = WRITES[name]
    # The first query after a bulk load waits for a checkpoint.
    assert (await client.get("/sparql", params={"query": "ASK { ?s ?p ?o }"})).status_code == 200
    began = time.monotonic()
    writing = asyncio.create_task(
        client.post(path, content=body, headers={"content-type": kind}, timeout=120)
    )
    turns = 0
    while not writing.done():
        assert (await client.get("/sparql", params={"query": "ASK { ?s ?p ?o }"})).status_code == 200
        turns += 1
    refused = await writing
    assert time.monotonic() - began < SLOW_S
    assert refused.status_code == 503, refused.text
    assert refused.json()["shape"] == "http://example.org/shapes#Slow"
    assert "shapes_timeout_s" in refused.json()["detail"]
    assert slow_shop.store.revision() == revision
    assert turns > 3, "others are answered meanwhile"


BACKTRACKING = "a" * 60 + "b"
PATTERN = HEAD + "s:Slow sh:targetClass :Park ; sh:property [ sh:path :note ; sh:pattern '{}' ] .\n"
NESTED = (
    PATTERN.format("^(a|aa)+$")
    .replace("sh:pattern", "sh:node [ " * 10 + "sh:pattern")
    .replace(" ] .", " ]" * 11 + " .")
)
REGEX = "SELECT $this {{ $this :near ?a . $this :note ?n . FILTER ({}) }}"
EXPRESSIONS = (
    PATTERN.format("^(a|aa)+$"),
    # Nested as deep as this it is a shape of the reference engine.
    NESTED,
    shape(REGEX.format("REGEX(?n, '^(a|aa)+$')").replace("'", '"').replace(":note", NOTE)),
    shape(REGEX.format("REPLACE(?n, '^(a|aa)+$', 'x') = 'x'").replace("'", '"').replace(":note", NOTE)),
)


@pytest.mark.parametrize("file", EXPRESSIONS)
async def test_a_regular_expression_that_backtracks_ends_a_write_and_holds_nobody(
    client: httpx.AsyncClient, slow_shop: Services, file: str
) -> None:
    assert (await put(client, "slow.ttl", file)).status_code == 201
    revision = slow_shop.store.revision()
    began = time.monotonic()
    writing = asyncio.create_task(
        update(client, f"INSERT DATA {{ :p0 a :Park ; :name 'new' ; :near :p1 ; :note '{BACKTRACKING}' }}")
    )
    turns = 0
    while not writing.done():
        answer = await client.get("/sparql", params={"query": "ASK { ?s ?p ?o }"})
        assert answer.status_code == 200
        turns += 1
    refused = await writing
    assert refused.status_code == 503, refused.text
    assert refused.json()["shape"] == "http://example.org/shapes#Slow"
    assert "shapes_timeout_s" in refused.json()["detail"]
    assert slow_shop.store.revision() == revision
    assert time.monotonic() - began < SLOW_S
    assert turns > 3, "others are answered meanwhile"


async def test_a_slow_shape_is_taken_back_even_if_no_write_met_it(
    client: httpx.AsyncClient, slow_shop: Services
) -> None:
    assert (await put(client, "slow.ttl", shape(EVERYTHING))).status_code == 201
    grow(slow_shop)
    taken = await client.delete("/shapes/slow.ttl", timeout=120)
    assert taken.status_code == 200, taken.text
    assert "too long" in taken.json()["impact"]["notes"][-1]


@pytest.mark.parametrize("limit_s", [100.0])
async def test_a_later_edit_of_a_file_ends_the_dry_run_of_the_earlier_one(
    client: httpx.AsyncClient, slow_shop: Services
) -> None:
    grow(slow_shop)
    began = time.monotonic()
    for later, status in (
        (client.delete("/shapes/slow.ttl"), 404),
        (put(client, "slow.ttl", HEAD + SHORT), 201),
    ):
        earlier = asyncio.create_task(put(client, "slow.ttl", shape(EVERYTHING)))
        await started(slow_shop)
        assert (await later).status_code == status
        assert (await earlier).status_code == 409
    assert time.monotonic() - began < 100


@pytest.mark.parametrize("limit_s", [100.0])
async def test_a_dry_run_that_is_only_asked_for_ends_with_an_edit_of_its_file_too(
    client: httpx.AsyncClient, slow_shop: Services
) -> None:
    grow(slow_shop)
    message = {"shapes": {"rules.ttl": shape(EVERYTHING)}}
    asked = asyncio.create_task(client.post("/impact", json=message, timeout=120))
    await started(slow_shop)
    assert (await put(client, "rules.ttl", RULES + SHORT)).status_code == 200
    assert (await asked).status_code == 409


async def test_a_slow_shape_on_the_disk_is_reported_and_not_put_in_force(
    slow_shop: Services, tmp_path: Path
) -> None:
    grow(slow_shop)
    rule_registry, before = slow_shop.rule_registry, slow_shop.gate.version
    (tmp_path / "shapes" / "slow.ttl").write_text(shape(EVERYTHING))
    assert [rule_registry.reload_if_changed(), rule_registry.reload_if_changed()] == [None, None]
    assert "took more than 1 s" in (rule_registry.problem or "")
    assert slow_shop.gate.version == before
    (tmp_path / "shapes" / "slow.ttl").unlink()
    assert rule_registry.reload_if_changed() is None
    assert rule_registry.reload_if_changed() is not None
    assert rule_registry.problem is None


@pytest.mark.parametrize("limit_s", [100.0])
async def test_a_slow_shape_on_the_disk_is_given_up_when_the_file_changes(
    slow_shop: Services, tmp_path: Path
) -> None:
    grow(slow_shop)
    rule_registry = slow_shop.rule_registry
    (tmp_path / "shapes" / "slow.ttl").write_text(shape(EVERYTHING))
    assert rule_registry.reload_if_changed() is None
    looking = asyncio.create_task(asyncio.to_thread(rule_registry.reload_if_changed))
    await started(slow_shop)
    (tmp_path / "shapes" / "slow.ttl").unlink()
    assert await looking is None
    assert rule_registry.problem is None
    assert rule_registry.reload_if_changed() is None
    assert rule_registry.reload_if_changed() is not None, "the files are those in force"


async def test_a_full_validation_names_the_shape_that_it_gave_up_and_judges_by_the_others(
    client: httpx.AsyncClient, slow_shop: Services
) -> None:
    assert (await put(client, "slow.ttl", shape(EVERYTHING))).status_code == 201
    grow(slow_shop)
    found = slow_shop.gate.report(slow_shop.store)
    given_up = [one for one in found if one.component == UKG.NotJudged]
    assert [str(one.focus) for one in given_up] == ["<http://example.org/shapes#Slow>"]
    assert "longer than 1 s" in given_up[0].message
    assert any("A park has a name" in one.message for one in found)


async def test_the_end_of_the_server_ends_what_is_judged_and_tried(
    client: httpx.AsyncClient, slow_shop: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await put(client, "slow.ttl", shape(EVERYTHING))).status_code == 201
    grow(slow_shop)
    monkeypatch.setattr("server.services._LAST_JUDGMENTS_S", 0.0)
    slow_shop.judging_limit.seconds = 100.0
    judged = asyncio.create_task(update(client, "INSERT DATA { :p0 a :Park ; :near :y }"))
    tried = asyncio.create_task(put(client, "more.ttl", shape(EVERYTHING)))
    await started(slow_shop)
    slow_shop.leave()
    assert ((await judged).status_code, (await tried).status_code) == (503, 503)


def test_sigterm_while_a_dry_run_runs_ends_the_server_within_seconds(tmp_path: Path) -> None:
    ontology, shapes = folders(tmp_path)
    flags = ("--ontology", str(ontology), "--shapes", str(shapes))
    with RunningServer(tmp_path / "data", *flags) as server:
        rows = "".join(f":p{n} a :Park ; :name 'n' ; :near :p0 .\n" for n in range(300))
        text = f"@prefix : <http://example.org/city#> .\n{rows}"
        assert httpx.post(server.url + "/store?default", content=text, headers=TURTLE).is_success

        async def edit() -> None:
            async with httpx.AsyncClient(base_url=server.url) as client:
                asked = asyncio.create_task(put(client, "slow.ttl", shape(EVERYTHING)))
                pid = server.process.pid
                await eventually(lambda: _dry_runs(pid))
                began = time.monotonic()
                server.process.send_signal(signal.SIGTERM)
                assert (await asked).status_code == 503
                assert await asyncio.to_thread(server.process.wait, 30) == 0
                assert time.monotonic() - began < 5

        asyncio.run(edit())
    assert not (shapes / "slow.ttl").exists()


def _dry_runs(server: int) -> list[int]:
    """What was forked from the process that forks for dry runs."""
    return [
        one for starter in family(server) if "starter" in _command(starter) for one in family(starter)[1:]
    ]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
