"""Batches on which very much depends are held, judged beside requests, and committed or put to review."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from curation.proposals import TermKind, Use
from ontology import Schema
from server.app import create_app
from server.errors import HeldUnreadable
from server.intake.batch import Batch, Submission
from server.intake.held.packing import pack, unpack
from server.runtime.wiring import build
from server.services import Services
from server.settings import Settings
from sparql.model.change import Change, Statement, Violation
from sparql.model.vocabulary import RDFS, UKG
from sparql.provenance.records import Document, Support
from tests.server.conftest import RecordedModel
from tests.shapes.gate.test_hubs import SHAPES
from tests.support.retained import retained
from tests.support.running_server import RunningServer

EX = "http://example.org/"
PROPERTIES = "\n".join(
    f"ex:{name} a owl:DatatypeProperty ; rdfs:label '{name}'@en ; rdfs:comment 'A property.'@en ."
    for name in ("code", "barred")
)
ONTOLOGY = f"""@prefix ex: <{EX}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex: a owl:Ontology .
{PROPERTIES}
ex:in a owl:ObjectProperty ; rdfs:label 'in'@en .
ex:City a owl:Class ; rdfs:label 'city'@en .
"""


def written(folder: Path) -> tuple[Path, Path]:
    ontology, shapes = folder / "ontology", folder / "shapes"
    for path, name, text in ((ontology, "codes.ttl", ONTOLOGY), (shapes, "hubs.ttl", SHAPES)):
        path.mkdir(exist_ok=True)
        (path / name).write_text(text)
    return ontology, shapes


def opened(folder: Path, **settings: object) -> Services:
    """A server for which more than ten nodes are many."""
    ontology, shapes = written(folder)
    values = {"fan_in": 10, "readers": 1, "watch_files_s": 0, **settings}
    found = Settings(data=folder / "data", ontology=ontology, shapes=shapes, **values)
    return build(found, model=RecordedModel())


def client_of(services: Services) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", timeout=120)


async def update(client: httpx.AsyncClient, text: str) -> httpx.Response:
    headers = {"content-type": "application/sparql-update"}
    return await client.post("/update", content=f"PREFIX ex: <{EX}> {text}", headers=headers)


def codes(count: int) -> str:
    return "INSERT DATA { " + " ".join(f"ex:place{n} ex:code 'c{n}' ." for n in range(count)) + " }"


def candidates(*barred: str, text: str | None = None) -> dict[str, object]:
    """Statements, each of which concerns every code there is."""
    statements = [
        {"subject": EX + "list", "predicate": EX + "barred", "object": {"type": "literal", "value": one}}
        for one in barred
    ]
    return {"statements": statements, "source": "a client", "text": text}


async def holds(client: httpx.AsyncClient, value: str) -> bool:
    query = f"ASK {{ <{EX}list> <{EX}barred> '{value}' }}"
    return (await client.get("/sparql", params={"query": query})).json()["boolean"]


async def held(client: httpx.AsyncClient, *barred: str) -> str:
    answer = await client.post("/candidates", json=candidates(*barred))
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"/held/{answer.json()['id']}" == answer.json()["held"]["at"]
    assert answer.json()["accepted"] == answer.json()["rejected"] == []
    return answer.headers["location"]


async def paused(services: Services) -> list[object]:
    """Let nothing held be judged by itself from now on; how often it was asked for. All other work goes on.

    What was started before is waited for: it would judge what is held next.
    """
    asked: list[object] = []
    start = services.background.start

    def start_others(name: str, work: Callable[[], object]) -> None:
        if name == "judge held batches":
            asked.append(name)
        else:
            start(name, work)

    services.background.start = start_others  # type: ignore[method-assign]
    await asyncio.to_thread(services.background.finish, 60)
    return asked


async def test_a_held_batch_that_takes_too_long_to_judge_goes_on_waiting_and_says_so(tmp_path: Path):
    async with opened(tmp_path) as services, client_of(services) as client:
        await update(client, codes(15))
        await paused(services)
        place = await held(client, "nobody")
        services.judging_limit.seconds = 0.0
        await asyncio.to_thread(services.held_judge.judge_waiting)
        reported = (await client.get(place)).json()
        assert reported["status"] == "waiting"
        assert "took longer than 0 s" in reported["problem"]
        services.judging_limit.seconds = 30.0
        await asyncio.to_thread(services.held_judge.judge_waiting)
        assert await holds(client, "nobody")


async def test_the_problem_of_a_batch_goes_with_its_withdrawal(tmp_path: Path):
    async with opened(tmp_path) as services, client_of(services) as client:
        await update(client, codes(15))
        await paused(services)
        place = await held(client, "nobody")
        services.judging_limit.seconds = 0.0
        await asyncio.to_thread(services.held_judge.judge_waiting)
        empty = retained(services.held_judge._problems)
        assert (await client.delete(place)).json()["status"] == "withdrawn"
        assert retained(services.held_judge._problems) < empty


async def test_a_held_batch_waits_outside_the_graph_and_is_committed_when_it_is_judged(tmp_path: Path):
    async with opened(tmp_path) as services, client_of(services) as client:
        await update(client, codes(15))
        asked = await paused(services)
        place = await held(client, "nobody")
        assert set(asked) == {"judge held batches"}  # the commit before may have asked as well
        assert not await holds(client, "nobody")
        waiting = (await client.get(place)).json()
        assert (waiting["status"], waiting["statements"], waiting["outcome"]) == ("waiting", 1, None)
        assert "barred" in waiting["reason"]
        assert (await client.get("/held")).json()["batches"] == [waiting]
        services.held_judge.judge_waiting()
        assert await holds(client, "nobody")
        ended = (await client.get(place)).json()
        assert ended["status"] == "committed"
        assert ended["outcome"]["revision"] == services.store.revision()
        assert [one["object"]["value"] for one in ended["outcome"]["judged_in_full"]] == ["nobody"]
        assert (await client.get("/held")).json()["total"] == 0
        documents = (await client.get("/documents", params={"source": "a client"})).json()["documents"]
        assert [one["statements"] for one in documents] == [1]
        assert (await client.delete(place)).status_code == 409


async def test_what_fails_of_it_goes_to_review_and_the_rest_comes_in(tmp_path: Path):
    async with opened(tmp_path) as services, client_of(services) as client:
        await update(client, codes(15))
        place = await held(client, "nobody", "c3", "c7")
        await asyncio.to_thread(services.background.finish, 120)
        ended = (await client.get(place)).json()
        assert ended["status"] == "committed"
        assert [one["object"]["value"] for one in ended["outcome"]["accepted"]] == ["nobody"]
        items = (await client.get("/review")).json()["items"]
        assert {one["statement"]["object"]["value"] for one in items} == {"c3", "c7"}
        assert not await holds(client, "c3")
        place = await held(client, "c4")
        await asyncio.to_thread(services.background.finish, 120)
        assert (await client.get(place)).json()["status"] == "refused"
        assert (await client.get("/review")).json()["total"] == 3


async def test_it_is_judged_on_the_graph_as_it_is_then_later_writes_included(tmp_path: Path):
    async with opened(tmp_path) as services, client_of(services) as client:
        await update(client, codes(15))
        await paused(services)
        first, second = await held(client, "late"), await held(client, "never")
        written = await update(client, "INSERT DATA { ex:place99 ex:code 'late' }")
        assert written.status_code == 200, written.text
        services.held_judge.judge_waiting()
        assert (await client.get(first)).json()["status"] == "refused"
        assert (await client.get(second)).json()["status"] == "committed"
        shown = (await client.get("/held", params={"status": "any"})).json()["batches"]
        assert [f"/held/{one['id']}" for one in shown] == [first, second]


async def test_what_is_written_during_background_validation_is_judged_with_it(tmp_path: Path, monkeypatch):
    """Whatever is written between the validation of a shape and the commit, the batch is judged with it."""
    from shapes.gate import background_validation

    async with opened(tmp_path) as services, client_of(services) as client:
        await update(client, codes(15))
        await paused(services)
        first, second = await held(client, "late"), await held(client, "fine")
        real, writes = background_validation.validate_in_background, iter(["late", "other"])

        def validating(*arguments, **more):
            found = real(*arguments, **more)
            value = next(writes, None)
            if value is not None:
                triple = Triple(NamedNode(EX + value), NamedNode(EX + "code"), Literal(value))
                services.writer.commit(Change(additions=(Statement(triple),)))
            return found

        monkeypatch.setattr(background_validation, "validate_in_background", validating)
        await asyncio.to_thread(services.held_judge.judge_waiting)
        assert (await client.get(first)).json()["status"] == "refused"
        assert (await client.get(second)).json()["status"] == "committed"


async def test_a_batch_can_be_withdrawn_while_it_waits(tmp_path: Path):
    async with opened(tmp_path) as services, client_of(services) as client:
        await update(client, codes(15))
        await paused(services)
        place = await held(client, "nobody")
        assert (await client.delete(place)).json()["status"] == "withdrawn"
        services.held_judge.judge_waiting()
        assert not await holds(client, "nobody")
        assert (await client.delete(place)).status_code == 409
        assert (await client.get("/held/unheard-of")).status_code == 404
        assert (await client.delete("/held/not an iri<>")).status_code == 404


async def test_what_keeps_a_batch_from_being_judged_is_reported_and_it_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def unreadable(identifier: str):
        raise HeldUnreadable("its disk is away")

    async with opened(tmp_path) as services, client_of(services) as client:
        await update(client, codes(15))
        asked = await paused(services)
        place = await held(client, "nobody")
        with monkeypatch.context() as patch:
            patch.setattr(services.held_judge.batches, "submission", unreadable)
            services.held_judge.judge_waiting()
        shown = (await client.get(place)).json()
        assert shown["status"] == "waiting"
        assert "its disk is away" in shown["problem"]
        asked.clear()
        answer = await client.post("/held/judge")
        assert (answer.status_code, asked) == (202, ["judge held batches"])
        assert [one["problem"] for one in answer.json()["batches"]] == [None]
        services.held_judge.judge_waiting()
        shown = (await client.get(place)).json()
        assert (shown["status"], shown["problem"]) == ("committed", None)


async def test_updates_and_graphs_are_judged_in_full_and_the_answer_says_so(tmp_path: Path):
    async with opened(tmp_path) as services, client_of(services) as client:
        await update(client, codes(15))
        answer = await update(client, "INSERT DATA { ex:list ex:barred 'nobody' }")
        assert [one["object"]["value"] for one in answer.json()["judged_in_full"]] == ["nobody"]
        assert "judged_in_full" not in (await update(client, "INSERT DATA { ex:a ex:in2 ex:b }")).json()
        assert (await update(client, "INSERT DATA { ex:list ex:barred 'c3' }")).status_code == 422
        turtle = {"content-type": "text/turtle"}
        body = f"<{EX}list> <{EX}barred> 'somebody' ."
        answer = await client.post("/store?default", content=body, headers=turtle)
        assert [one["object"]["value"] for one in answer.json()["judged_in_full"]] == ["somebody"]
        assert (await client.get("/review")).json()["total"] == 0


async def test_what_is_too_much_to_judge_at_once_is_refused_with_a_way_out(tmp_path: Path):
    async with opened(tmp_path, fan_in_full=12) as services, client_of(services) as client:
        await update(client, codes(15))
        revision = services.store.revision()
        answer = await update(client, "INSERT DATA { ex:list ex:barred 'nobody' }")
        assert answer.status_code == 422
        assert answer.json()["title"] == "Too much depends on it"
        assert "/candidates" in answer.json()["detail"]
        assert "fan_in_full" in answer.json()["detail"]
        assert services.store.revision() == revision
        await held(client, "nobody")
        await asyncio.to_thread(services.background.finish, 120)
        assert await holds(client, "nobody")


async def test_a_setting_judges_batches_at_once_too(tmp_path: Path):
    async with opened(tmp_path, hub_batches="full") as services, client_of(services) as client:
        await update(client, codes(15))
        answer = await client.post("/candidates", json=candidates("nobody", "c3"))
        assert answer.status_code == 200
        assert [one["object"]["value"] for one in answer.json()["accepted"]] == ["nobody"]
        assert len(answer.json()["rejected"]) == 1


def end_of(address: str) -> dict[str, object]:
    """What is reported of a held batch once it no longer waits."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        found = httpx.get(address, timeout=120).json()
        if found["status"] != "waiting":
            return found
        time.sleep(0.05)
    raise AssertionError("the batch still waits")


def test_killing_the_server_loses_no_held_batch_and_commits_none_twice(tmp_path: Path):
    ontology, shapes = written(tmp_path)
    flags = ("--ontology", str(ontology), "--shapes", str(shapes))
    config = tmp_path / "urbankg.toml"
    config.write_text("fan_in = 10\nreaders = 1\n")
    headers = {"content-type": "application/sparql-update"}
    with RunningServer(tmp_path / "data", *flags, "--config", str(config)) as server:
        reported = httpx.post(
            server.url + "/update", content=f"PREFIX ex: <{EX}> " + codes(400), headers=headers, timeout=120
        )
        assert reported.status_code == 200, reported.text
        places = []
        for number in range(12):
            answer = httpx.post(server.url + "/candidates", json=candidates(f"x{number}"), timeout=120)
            assert answer.status_code == 202
            places.append(answer.headers["location"])
        server.kill()
    with RunningServer(tmp_path / "data", *flags, "--config", str(config)) as server:
        for place in places:
            assert end_of(server.url + place)["status"] == "committed"
        query = f"SELECT (COUNT(*) AS ?n) {{ <{EX}list> <{EX}barred> ?o }}"
        rows = httpx.get(server.url + "/sparql", params={"query": query}, timeout=120).json()
        assert rows["results"]["bindings"][0]["n"]["value"] == "12"


def test_everything_of_a_submission_is_kept(schema: Schema):
    subject, other = NamedNode(EX + "s"), BlankNode("b7")
    triple = Triple(subject, NamedNode(EX + "p"), Literal('a "quoted"\nline', language="en"))
    second = Triple(other, NamedNode(EX + "q"), Literal("1900", datatype=NamedNode(EX + "year")))
    about = Triple(subject, NamedNode(EX + "says"), triple)
    batch = Batch(
        statements={one: Statement(one, 0.25) for one in (triple, second, about)},
        supports={triple: Support(1, 4, "abc", 0.5, inferred=("subject",), computed=NamedNode(EX + "r"))},
        refused={second: (Violation(other, "no", UKG.Unknown, value=triple, path="p"),)},
        minted=frozenset([subject]),
        uses={about: Use(TermKind.PROPERTY, "says", about, (subject,), datatype=RDFS.label)},
    )
    submission = Submission(
        "id",
        batch,
        datetime.now(UTC),
        {UKG.model: "model"},
        Document("text\u2028", "source"),
        "source",
        {subject: {"name": Support(0, 4, "name")}},
    )
    assert unpack(pack(submission)) == submission


def test_a_submission_of_the_earlier_format_is_read():
    iri, triple = tagged("term", "<http://e/s>"), tagged("term", '<<( _:b <http://e/p> "v"@en )>>')
    support = {"$": "Support", "start": 0, "end": 1, "quote": "q", "inferred": ["subject"]}
    violation = {"$": "Violation", "focus": iri, "message": "no", "component": iri, "value": triple}
    use = {"$": "Use", "kind": tagged("kind", "property"), "words": "w", "triple": triple}
    members = {
        "identifier": "id",
        "started": tagged("time", "2026-01-02T03:04:05+00:00"),
        "facts": tagged("map", [[iri, "fact"]]),
        "document": {"$": "Document", "text": "text", "source": None},
        "source": "source",
        "names": tagged("map", [[iri, tagged("map", [["q", support]])]]),
        "statements": tagged("map", [[triple, {"$": "Statement", "triple": triple, "confidence": 0.5}]]),
        "supports": tagged("map", [[triple, support]]),
        "refused": tagged("map", [[triple, [violation]]]),
        "minted": tagged("set", [iri]),
        "uses": tagged("map", [[triple, use]]),
    }
    node = NamedNode("http://e/s")
    stated = Triple(BlankNode("b"), NamedNode("http://e/p"), Literal("v", language="en"))
    quoted = Support(0, 1, "q", inferred=("subject",))
    assert unpack(json.dumps(tagged("map", list(members.items())))) == Submission(
        "id",
        Batch(
            statements={stated: Statement(stated, 0.5)},
            supports={stated: quoted},
            refused={stated: (Violation(node, "no", node, value=stated),)},
            minted=frozenset({node}),
            uses={stated: Use(TermKind.PROPERTY, "w", stated)},
        ),
        datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        {node: "fact"},
        Document("text"),
        "source",
        {node: {"q": quoted}},
    )


def tagged(kind: str, value: object) -> dict[str, object]:
    return {"$": kind, "value": value}


@pytest.mark.parametrize("text", ["{}", "[]", "nonsense", '{"$": "Unheard", "value": 1}'])
def test_a_record_of_another_version_is_reported(text: str):
    with pytest.raises(HeldUnreadable):
        unpack(text)
