"""Ontology and shapes are edited while the server serves: checked first, then in force at once."""

import asyncio
import gc
from pathlib import Path

import httpx
import pytest
from pyoxigraph import NamedNode

from server.app import create_app
from server.runtime.wiring import build
from server.services import Services
from tests.server.conftest import RecordedModel, select
from tests.support.workshop import CITY, PREFIX, RULES, SHORT, folders, settings_in, submit, update

TURTLE = {"content-type": "text/turtle"}
# Requests beside an edit come often, and leave the processor to what they come beside.
PAUSE_S = 0.01
NAMED = "PREFIX ukg: <https://w3id.org/urbankg/system#>\n"


@pytest.fixture
def client(shop_client: httpx.AsyncClient) -> httpx.AsyncClient:
    return shop_client


async def test_a_shapes_file_that_is_put_judges_the_next_write(client: httpx.AsyncClient) -> None:
    assert (await update(client, "INSERT DATA { :a a :Park ; :name 'Riverside' }")).status_code == 200
    answer = await client.put("/shapes/rules.ttl", content=RULES + SHORT, headers=TURTLE)
    assert answer.status_code == 200, answer.text
    assert answer.json()["switched"] is True
    assert (await update(client, "INSERT DATA { :b a :Park ; :name 'Morningside' }")).status_code == 422
    assert (await update(client, "INSERT DATA { :b a :Park ; :name 'High' }")).status_code == 200


async def test_an_ontology_file_that_is_put_is_in_the_graph_and_in_the_file(
    client: httpx.AsyncClient, shop: Services, tmp_path: Path
) -> None:
    more = CITY + ':Square a owl:Class ; rdfs:label "square"@en ; skos:definition "Open." .\n'
    answer = await client.put("/ontologies/city.ttl", content=more, headers=TURTLE)
    assert answer.json()["switched"] is True
    rows = await select(
        client, PREFIX + "SELECT ?l { :Square <http://www.w3.org/2000/01/rdf-schema#label> ?l }"
    )
    assert rows == [{"l": "square"}]
    assert NamedNode("http://example.org/city#Square") in shop.schema.classes
    assert (tmp_path / "ontology" / "city.ttl").read_text() == more
    assert (await client.get("/healthz")).json()["ontology"] == answer.json()["rules"]["ontology"]


async def test_a_dry_run_changes_nothing(client: httpx.AsyncClient, tmp_path: Path) -> None:
    before = (await client.get("/rules")).json()["rules"]
    answer = await client.put(
        "/shapes/rules.ttl", params={"dry-run": "true"}, content=RULES + SHORT, headers=TURTLE
    )
    assert answer.status_code == 200
    assert answer.json()["switched"] is False
    assert answer.json()["rules"]["shapes"] != before["shapes"]
    assert (await client.get("/rules")).json()["rules"] == before
    assert (tmp_path / "shapes" / "rules.ttl").read_text() == RULES


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("/shapes/rules.ttl", RULES + "s:Broken sh:minCount 1 ;", "rules.ttl:6"),
        ("/ontologies/city.ttl", CITY + ":Both rdfs:subClassOf :Park , :Road .", "disjoint"),
        ("/shapes/rules.ttl", RULES + "s:X sh:targetClass :Park ; sh:path 'x' .", "rules.ttl:6"),
    ],
)
async def test_what_cannot_be_used_is_refused_with_its_place_and_the_old_rules_stay(
    shared_shop_client: httpx.AsyncClient, path: str, content: str, message: str
) -> None:
    before = (await shared_shop_client.get("/rules")).json()["rules"]
    answer = await shared_shop_client.put(path, content=content, headers=TURTLE)
    assert answer.status_code == 422
    assert message in answer.json()["detail"]
    assert answer.json()["check"]["errors"] >= 1
    assert (await shared_shop_client.get("/rules")).json()["rules"] == before
    assert (await update(shared_shop_client, "INSERT DATA { :a a :Park }")).status_code == 422


async def test_an_edit_of_a_file_that_changed_meanwhile_is_refused(client: httpx.AsyncClient) -> None:
    tag = (await client.get("/shapes/rules.ttl")).headers["etag"]
    first = await client.put("/shapes/rules.ttl", content=RULES + SHORT, headers={"if-match": tag})
    second = await client.put("/shapes/rules.ttl", content=RULES, headers={"if-match": tag})
    assert (first.status_code, second.status_code) == (200, 412)


async def test_a_file_may_be_added_and_taken_out(client: httpx.AsyncClient, tmp_path: Path) -> None:
    head = RULES.partition("s:Named")[0]
    added = await client.put("/shapes/more.ttl", content=head + SHORT, headers=TURTLE)
    assert added.status_code == 201
    assert "Keep names short" in (await client.get("/shapes")).text
    assert (await update(client, "INSERT DATA { :a a :Park ; :name 'Riverside' }")).status_code == 422
    assert (await client.delete("/shapes/more.ttl")).status_code == 200
    assert not (tmp_path / "shapes" / "more.ttl").exists()
    assert (await update(client, "INSERT DATA { :a a :Park ; :name 'Riverside' }")).status_code == 200


@pytest.mark.parametrize("name", ["..%2Fx.ttl", ".x.ttl", "x.exe"])
async def test_only_plain_names_of_known_endings_are_files(
    shared_shop_client: httpx.AsyncClient, name: str
) -> None:
    assert (await shared_shop_client.put(f"/shapes/{name}", content=RULES)).status_code == 404


async def test_the_shipped_files_are_not_edited(services: Services) -> None:
    transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        answer = await client.put("/shapes/core.ttl", content=RULES)
        assert answer.status_code == 409
        assert "--shapes" in answer.json()["detail"]


async def test_an_edit_on_the_disk_is_followed_once_it_is_still(shop: Services, tmp_path: Path) -> None:
    look = shop.rule_registry.reload_if_changed
    assert look() is None
    (tmp_path / "shapes" / "rules.ttl").write_text(RULES + SHORT)
    assert look() is None, "it may still be written to"
    switched = look()
    assert switched is not None
    assert switched.changed
    assert shop.gate.version == switched.rules.gate.version
    assert look() is None


async def test_a_broken_file_on_the_disk_is_reported_and_the_old_rules_serve(
    client: httpx.AsyncClient, shop: Services, tmp_path: Path
) -> None:
    before = shop.gate.version
    (tmp_path / "shapes" / "rules.ttl").write_text(RULES + "broken")
    assert [shop.rule_registry.reload_if_changed(), shop.rule_registry.reload_if_changed()] == [None, None]
    assert shop.gate.version == before
    assert "rules.ttl:6" in (await client.get("/rules")).json()["problem"]
    assert (await update(client, "INSERT DATA { :a a :Park }")).status_code == 422
    (tmp_path / "shapes" / "rules.ttl").write_text(RULES + SHORT)
    assert [shop.rule_registry.reload_if_changed(), shop.rule_registry.reload_if_changed()][1] is not None
    assert (await client.get("/rules")).json()["problem"] is None


async def test_at_start_a_broken_file_lets_the_last_good_version_serve(tmp_path: Path) -> None:
    folders(tmp_path, shapes=RULES + SHORT)
    async with build(settings_in(tmp_path), model=RecordedModel()) as services:
        good = services.gate.version
    del services
    gc.collect()  # Ends the store, which nobody may open anew before.
    (tmp_path / "shapes" / "rules.ttl").write_text(RULES + "broken")
    async with build(settings_in(tmp_path), model=RecordedModel()) as services:
        assert services.gate.version == good
        assert "rules.ttl" in (services.rule_registry.problem or "")
        (tmp_path / "shapes" / "rules.ttl").write_text(RULES)
        assert [services.rule_registry.reload_if_changed(), services.rule_registry.reload_if_changed()][
            1
        ] is not None
        assert services.rule_registry.problem is None


async def test_every_version_that_was_in_force_is_kept_as_files(
    client: httpx.AsyncClient, shop: Services
) -> None:
    first = shop.gate.version
    await client.put("/shapes/rules.ttl", content=RULES + SHORT, headers=TURTLE)
    history = (await client.get("/rules")).json()["history"]
    assert {one["version"] for one in history if one["kind"] == "shapes"} >= {shop.gate.version}
    kept = shop.rule_registry.history.folder / "shapes" / first / "rules.ttl"
    assert kept.read_text() == RULES


async def test_provenance_names_the_versions_that_judged(client: httpx.AsyncClient, shop: Services) -> None:
    first = shop.gate.version
    await submit(client, ("Hill", "name", "'Hill'"), ("Hill", "a", "Park"))
    await client.put("/shapes/rules.ttl", content=RULES + SHORT, headers=TURTLE)
    await submit(client, ("Dale", "name", "'Dale'"), ("Dale", "a", "Park"))
    rows = await select(
        client,
        NAMED
        + """PREFIX prov: <http://www.w3.org/ns/prov#>
        SELECT DISTINCT ?name ?version FROM <https://w3id.org/urbankg/graph/provenance> {
          ?evidence prov:wasGeneratedBy/ukg:shapesVersion ?version ;
                    <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( ?s ?p ?name )>> .
          FILTER isLiteral(?name) }""",
    )
    assert {(row["name"], row["version"]) for row in rows} == {("Hill", first), ("Dale", shop.gate.version)}
    rows = await select(
        client,
        NAMED
        + """SELECT ?shapes ?iri FROM <https://w3id.org/urbankg/graph/provenance> {
          ?rules a ukg:Rules ; ukg:fromRevision ?revision ; ukg:shapesVersion ?shapes ;
                 <http://www.w3.org/2002/07/owl#versionIRI> ?iri } ORDER BY ?revision""",
    )
    assert [row["shapes"] for row in rows] == [first, shop.gate.version]
    assert rows[0]["iri"] == "http://example.org/city/1.0"


async def test_no_request_is_lost_while_rules_are_switched_back_and_forth(client: httpx.AsyncClient) -> None:
    done = asyncio.Event()

    async def ask() -> list[int]:
        codes = []
        while not done.is_set():
            codes.append((await client.get("/sparql", params={"query": "ASK { ?s ?p ?o }"})).status_code)
            await asyncio.sleep(PAUSE_S)
        return codes

    async def write(worker: int) -> list[int]:
        codes = []
        while not done.is_set():
            name = f"n{worker}x{len(codes)}"
            codes.append((await update(client, f"INSERT DATA {{ :{name} a :Park ; :name 'x' }}")).status_code)
            await asyncio.sleep(PAUSE_S)
        return codes

    async def switch() -> list[int]:
        codes = []
        for text in [RULES + SHORT, RULES] * 2:
            codes.append((await client.put("/shapes/rules.ttl", content=text, headers=TURTLE)).status_code)
        done.set()
        return codes

    asked, *written, switched = await asyncio.gather(ask(), write(1), write(2), switch())
    assert set(switched) == {200}
    assert set(asked) == {200}
    assert {code for codes in written for code in codes} == {200}
    rows = await select(client, PREFIX + "SELECT (COUNT(*) AS ?n) { ?s :name 'x' }")
    assert int(rows[0]["n"]) == sum(len(codes) for codes in written)


async def test_shapes_made_from_the_ontology_are_shown_and_judge_where_switched_on(tmp_path: Path) -> None:
    folders(tmp_path)
    for switched_on, code in (("off", 200), ("closed", 422)):
        settings = settings_in(tmp_path).model_copy(
            update={"generate_shapes": switched_on, "data": tmp_path / f"data-{switched_on}"}
        )
        async with build(settings, model=RecordedModel()) as services:
            transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
                made = (await client.get("/shapes", params={"generated": "true"})).text
                assert "near-domain" in made
                assert ("near-domain" in (await client.get("/shapes")).text) is (switched_on == "closed")
                both = "INSERT DATA { :x a :Park , :Road ; :name 'x' }"
                assert (await update(client, both)).status_code == code


@pytest.mark.slow
async def test_an_impossible_class_is_reported_by_the_reasoner_after_the_switch(tmp_path: Path):
    folders(tmp_path)
    settings = settings_in(tmp_path).model_copy(update={"reasoner": "hermit"})
    async with build(settings, model=RecordedModel()) as services:
        transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            parkway = ':Parkway a owl:Class ; rdfs:label "parkway"@en ; skos:definition "Both." '
            more = CITY + (
                ':leads a owl:ObjectProperty ; rdfs:label "leads"@en ; skos:definition "Goes into." ; '
                "rdfs:domain :Place ; rdfs:range :Park .\n"
                + parkway
                + "; rdfs:subClassOf [ a owl:Restriction ; "
                "owl:onProperty :leads ; owl:someValuesFrom :Road ] .\n"
            )
            answer = await client.put("/ontologies/city.ttl", content=more, headers=TURTLE)
            assert answer.status_code == 200, answer.text
            await asyncio.to_thread(services.background.finish, 300)
            reported = (await client.get("/rules")).json()
            assert reported["background"] == []
            (found,) = [f for f in reported["check"]["findings"] if f["rule"] == "unsatisfiable_class"]
            assert found["subject"].endswith("#Parkway")
            assert any("Reasoned over by HermiT" in note for note in reported["check"]["notes"])


async def test_only_an_edit_of_the_ontology_asks_the_reasoner(
    shop: Services, shop_client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    given: list[str] = []
    # What the opening of the server starts may come in between.
    monkeypatch.setattr(
        shop.background, "start", lambda name, work: given.append(name) if "reason" in name else None
    )
    shop.settings = shop.settings.model_copy(update={"reasoner": "hermit"})
    answer = await shop_client.put("/shapes/rules.ttl", content=RULES + SHORT, headers=TURTLE)
    assert answer.status_code == 200, answer.text
    assert given == []
    square = ':Square a owl:Class ; rdfs:label "square"@en ; skos:definition "Open." .\n'
    answer = await shop_client.put("/ontologies/city.ttl", content=CITY + square, headers=TURTLE)
    assert answer.status_code == 200, answer.text
    assert given == [f"reason over ontology {shop.schema.version}"]


RDF_HEAD = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://example.org/">'
NESTED = RDF_HEAD + "<rdf:Description>" + "<e:p><rdf:Description>" * 5000
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE rdf:RDF [<!ENTITY l0 "ha">'
    + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    + "]>"
    + RDF_HEAD
    + "<rdf:Description><e:p>&l9;</e:p></rdf:Description></rdf:RDF>"
)


@pytest.mark.parametrize("content", [NESTED, LAUGHS], ids=["nested", "entities"])
async def test_xml_that_nests_deep_or_grows_without_measure_is_refused_before_it_is_read(
    shared_shop_client: httpx.AsyncClient, content: str
):
    for path in ("/ontologies/deep.owl", "/ontologies/deep.rdf", "/shapes/deep.rdf"):
        answer = await shared_shop_client.put(path, content=content)
        assert answer.status_code == 400, answer.text
        assert "deep." in answer.json()["detail"]
    for path in ("/check", "/impact"):
        assert (
            await shared_shop_client.post(path, json={"ontology": {"deep.rdf": content}})
        ).status_code == 400


async def test_xml_that_breaks_off_is_refused_with_its_place(shared_shop_client: httpx.AsyncClient):
    answer = await shared_shop_client.put("/ontologies/half.rdf", content=RDF_HEAD + "\n<rdf:Description>")
    assert answer.status_code == 400, answer.text
    assert answer.json()["line"] == 2
    stored = await shared_shop_client.post(
        "/store?default", content=RDF_HEAD, headers={"content-type": "application/rdf+xml"}
    )
    assert stored.status_code == 400, stored.text


UNUSABLE = [
    "a%00.ttl",
    "%00",
    "a" * 300 + ".ttl",
    "é" * 120 + ".ttl",
    "a%0A.ttl",
    "a%7F.ttl",
    "%ED%A0%80.ttl",
]


@pytest.mark.parametrize("folder", ["shapes", "ontologies"])
@pytest.mark.parametrize("name", UNUSABLE)
async def test_a_name_that_no_file_can_have_is_a_mistake_of_the_client(
    shared_shop_client: httpx.AsyncClient, folder: str, name: str
) -> None:
    path = f"/{folder}/{name}"
    dry = f"{path}?dry-run=true"
    for answer in (
        await shared_shop_client.get(path),
        await shared_shop_client.put(path, content=RULES, headers=TURTLE),
        await shared_shop_client.put(dry, content=RULES, headers=TURTLE),
        await shared_shop_client.delete(path),
        await shared_shop_client.delete(dry),
    ):
        assert answer.status_code == 400, answer.text
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/check", "/impact"])
@pytest.mark.parametrize("kind", ["ontology", "shapes"])
async def test_so_it_is_in_an_edit_of_many_files(
    shared_shop_client: httpx.AsyncClient, path: str, kind: str
) -> None:
    for name, status in (("a\0.ttl", 400), ("a" * 300 + ".ttl", 422)):
        assert (await shared_shop_client.post(path, json={kind: {name: ""}})).status_code == status


QUERY = "s:X sh:targetClass :Park ; sh:sparql [ sh:message 'm' ; sh:select '''{}''' ] .\n"
LIST = "_:l <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> :near ; "
LIST += "<http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> _:l .\n"


@pytest.mark.parametrize(
    "text",
    [
        "s:X sh:targetClass :Park ; sh:property [ sh:path _:p ] . _:p sh:inversePath _:p .",
        "s:X sh:targetClass :Park ; sh:property [ sh:path _:l ] . " + LIST,
        "s:X sh:targetClass :Park ; sh:in _:l . " + LIST,
        "s:X sh:targetClass :Park ; sh:or _:l . " + LIST,
        "s:X sh:targetClass 'x' ; sh:targetSubjectsOf 3 .",
        "s:X sh:targetClass :Park ; sh:property [ sh:path :near ; sh:equals 3 ; sh:class 'x' ] .",
        f"s:X sh:targetClass :Park ; sh:property [ sh:path :name ; sh:pattern '{'(' * 3000}{')' * 3000}' ] .",
        QUERY.format("CONSTRUCT WHERE { $this ?p ?o }"),
        QUERY.format("SELECT $this { $this undeclared:near ?o }"),
        QUERY.format("SELECT $this { " + "{" * 5000 + " $this ?p ?o " + "}" * 5000 + " }"),
        QUERY.format("SELECT $this { $this ?p ?o FILTER(" + "(" * 20000 + "?o" + ")" * 20000 + ") }"),
        QUERY.format("SELECT $this { $this ?p ?o FILTER(" + "?o || " * 20000 + "?o) }"),
        "".join(f"s:N{n} sh:node s:N{n + 1} .\n" for n in range(3000)) + "s:N0 sh:targetClass :Park .",
    ],
)
async def test_no_file_of_shapes_fails_the_server(shared_shop_client: httpx.AsyncClient, text: str) -> None:
    client = shared_shop_client
    before = (await client.get("/rules")).json()["rules"]
    content = RULES.partition("s:Named")[0] + text
    answer = await client.put("/shapes/hostile.ttl", content=content, headers=TURTLE, timeout=120)
    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"]
    assert (await client.get("/rules")).json()["rules"] == before


# SHACL leaves recursive shapes undefined (3.4.3); the engine stops after some rounds, and warns.
@pytest.mark.filterwarnings("ignore:.*Recursive Shape:Warning")
async def test_a_shape_that_refers_to_itself_is_judged_or_refused(client: httpx.AsyncClient) -> None:
    for text in ("sh:node s:X", "sh:not s:X", "sh:property [ sh:path :near ; sh:node s:X ]"):
        content = RULES.partition("s:Named")[0] + f"s:X sh:targetClass :Park ; {text} ."
        answer = await client.put("/shapes/own.ttl", content=content, headers=TURTLE, timeout=120)
        assert answer.status_code in (200, 201, 422), answer.text
        added = await update(client, "INSERT DATA { :a a :Park ; :name 'a' ; :near :a }")
        assert added.status_code in (200, 422), added.text
