"""Words that the ontology does not have: collected, decided and settled, through the whole server."""

from pathlib import Path
from typing import Any

import httpx
from pyoxigraph import RdfFormat, parse
from typer.testing import CliRunner

from ontology import Schema
from server.cli.app import command_line
from server.runtime.wiring import build
from tests.server.conftest import RecordedModel, select, triples
from tests.support.workshop import CITY, folders, settings_in, submit

URBAN = "https://w3id.org/urbankg/urban#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
GRAPH = "https://w3id.org/urbankg/graph/proposals"
CITIES = f"""
@prefix urban: <{URBAN}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix id: <https://w3id.org/urbankg/id/> .
id:oldtown a urban:Borough ; rdfs:label "Oldtown"@en .
id:newtown a urban:Borough ; rdfs:label "Newtown"@en .
id:midtown a urban:Borough ; rdfs:label "Midtown East"@en .
"""
FIRST = "Oldtown rivals Newtown, as everybody who lives there will tell you at once."
SECOND = "Midtown East rivals Newtown. It has done so for more than a hundred years."


async def load(client: httpx.AsyncClient, turtle: str) -> None:
    response = await client.post("/store?default", content=turtle, headers={"content-type": "text/turtle"})
    assert response.status_code in (201, 204), response.text


async def say(client: httpx.AsyncClient, model: RecordedModel, text: str, *rows: tuple[str, str, str]) -> Any:
    model.replies = [triples(*rows)]
    response = await client.post("/extractions", json={"text": text, "source": "test"})
    assert response.status_code == 200, response.text
    return response.json()


async def rivals(client: httpx.AsyncClient, model: RecordedModel) -> dict[str, Any]:
    """The proposal that two texts make together."""
    await load(client, CITIES)
    await say(client, model, FIRST, ("Oldtown", "rivals", "Newtown"))
    await say(client, model, SECOND, ("Midtown East", "is rivals", "Newtown"))
    (found,) = (await client.get("/proposals")).json()["proposals"]
    return dict(found)


async def test_one_word_of_two_texts_is_one_proposal_with_its_examples(
    client: httpx.AsyncClient, model: RecordedModel
) -> None:
    found = await rivals(client, model)
    assert (found["kind"], found["status"], found["count"], found["documents"]) == ("property", "open", 2, 2)
    assert set(found["forms"]) == {"rivals", "is rivals"}
    assert [(end["label"], end["count"]) for end in found["domain"]] == [("borough", 2)]
    assert [(end["label"], end["count"]) for end in found["range"]] == [("borough", 2)]
    assert {example["statement"]["evidence"]["quote"] for example in found["examples"]} == {
        "Oldtown rivals Newtown", "Midtown East rivals Newtown",
    }  # fmt: skip
    assert "rivals Newtown" in found["definition"]
    item = (await client.get(f"/review/{found['examples'][0]['review']}")).json()
    assert item["status"] == "open"


async def test_the_same_text_again_is_not_counted_again(
    client: httpx.AsyncClient, model: RecordedModel
) -> None:
    await rivals(client, model)
    await say(client, model, FIRST, ("Oldtown", "rivals", "Newtown"))
    (found,) = (await client.get("/proposals")).json()["proposals"]
    assert found["count"] == 2


async def test_sparql_searches_the_proposals(client: httpx.AsyncClient, model: RecordedModel) -> None:
    await rivals(client, model)
    rows = await select(
        client,
        f"""PREFIX ukg: <https://w3id.org/urbankg/system#>
        SELECT ?p (COUNT(?e) AS ?n) FROM <{GRAPH}>
        {{ ?e ukg:proposal ?p . ?p a ukg:Proposal }} GROUP BY ?p""",
    )
    assert [row["n"] for row in rows] == ["2"]
    response = await client.post(
        "/sparql", content=f"DROP GRAPH <{GRAPH}>", headers={"content-type": "application/sparql-update"}
    )
    assert response.status_code == 403


async def test_an_accepted_word_lets_in_what_waited_for_it(
    client: httpx.AsyncClient, model: RecordedModel
) -> None:
    found = await rivals(client, model)
    body = {"decision": "accept", "as": URBAN + "adjacentTo", "by": "Ada", "reason": "near enough"}
    reported = (await client.post(f"/proposals/{found['id']}", json=body)).json()
    assert len(reported["retried"]["let_in"]) == 2, reported
    assert (reported["proposal"]["status"], reported["proposal"]["accepted_as"]) == (
        "accepted",
        URBAN + "adjacentTo",
    )
    assert [(d["outcome"], d["by"]) for d in reported["proposal"]["decisions"]] == [("accepted", "Ada")]
    rows = await select(client, f"SELECT ?a ?b {{ ?a <{URBAN}adjacentTo> ?b }}")
    assert {row["b"] for row in rows} >= {"https://w3id.org/urbankg/id/newtown"}
    assert (await client.get("/proposals")).json()["total"] == 0
    assert (await client.post(f"/proposals/{found['id']}", json=body)).status_code == 409
    again = (await client.post(f"/proposals/{found['id']}", json={"decision": "retry"})).json()
    assert again["retried"] == {"let_in": [], "refused": [], "unread": [], "left": 0}


async def test_later_texts_are_read_by_what_was_accepted(
    client: httpx.AsyncClient, model: RecordedModel
) -> None:
    found = await rivals(client, model)
    body = {"decision": "accept", "as": URBAN + "adjacentTo"}
    await client.post(f"/proposals/{found['id']}", json=body)
    answer = await say(client, model, "Oldtown rivals Midtown East.", ("Oldtown", "rivals", "Midtown East"))
    assert [one["predicate"] for one in answer["accepted"]] == [URBAN + "adjacentTo"]
    value = await say(client, model, "Oldtown rivals 1902, it seems.", ("Oldtown", "rivals", "1902"))
    assert (value["accepted"], len(value["rejected"])) == ([], 1)


async def test_what_the_gate_or_the_words_refuse_goes_on_waiting(
    client: httpx.AsyncClient, model: RecordedModel
) -> None:
    await load(client, CITIES)
    await say(client, model, FIRST, ("Oldtown", "rivals", "everybody"))
    (found,) = (await client.get("/proposals")).json()["proposals"]
    body = {"decision": "accept", "as": URBAN + "adjacentTo"}
    reported = (await client.post(f"/proposals/{found['id']}", json=body)).json()
    assert reported["retried"]["unread"] == [found["examples"][0]["review"]]
    assert (await client.get("/review")).json()["total"] == 1


async def test_a_class_that_is_accepted_lets_in_the_name_that_waited_beside_it(
    client: httpx.AsyncClient, model: RecordedModel
) -> None:
    text = "The Elm Hall is a grand glimmerfax. It stands where the old one stood for two hundred years."
    await say(client, model, text, ("Elm Hall", "is a", "grand glimmerfax"))
    (found,) = (await client.get("/proposals?kind=class")).json()["proposals"]
    assert (found["term"], found["kind"]) == ("grand glimmerfax", "class")
    body = {"decision": "accept", "as": URBAN + "Museum"}
    reported = (await client.post(f"/proposals/{found['id']}", json=body)).json()
    assert reported["retried"]["refused"] == []
    rows = await select(client, f"SELECT ?l {{ ?s a <{URBAN}Museum> ; <{LABEL}> ?l }}")
    assert rows == [{"l": "Elm Hall"}]
    assert (await client.get("/review")).json()["total"] == 0


async def test_decisions_that_cannot_be_are_refused_with_the_reason(
    client: httpx.AsyncClient, model: RecordedModel
) -> None:
    found = await rivals(client, model)
    address = f"/proposals/{found['id']}"
    for body, status, word in (
        ({"decision": "accept"}, 422, "as"),
        ({"decision": "accept", "as": "no iri"}, 422, "absolute IRI"),
        ({"decision": "accept", "as": URBAN + "Nothing"}, 422, "declares no property"),
        ({"decision": "accept", "as": URBAN + "Museum"}, 422, "declares no property"),
        ({"decision": "dismiss"}, 422, "reason"),
        ({"decision": "reopen"}, 409, "open"),
        ({"decision": "retry"}, 409, "accepted"),
        ({"decision": "eat"}, 422, "decision"),
    ):
        response = await client.post(address, json=body)
        assert response.status_code == status, (body, response.text)
        assert response.headers["content-type"] == "application/problem+json"
        assert word in response.text
    assert (await client.get("/proposals/nothing")).status_code == 404
    assert (await client.get("/proposals?status=lost")).status_code == 422


async def test_a_dismissed_word_is_dismissed_for_later_texts_too_until_reopened(
    client: httpx.AsyncClient, model: RecordedModel
) -> None:
    found = await rivals(client, model)
    address = f"/proposals/{found['id']}"
    assert (await client.post(address, json={"decision": "dismiss", "reason": "gossip"})).status_code == 200
    await say(client, model, FIRST + " Indeed.", ("Oldtown", "rivals", "Newtown"))
    assert (await client.get("/proposals")).json()["total"] == 0
    (dismissed,) = (await client.get("/proposals?status=dismissed")).json()["proposals"]
    assert (dismissed["count"], dismissed["decisions"][0]["reason"]) == (3, "gossip")
    assert (await client.post(address, json={"decision": "reopen"})).json()["proposal"]["status"] == "open"


async def test_filters_and_pages_narrow_the_list(client: httpx.AsyncClient, model: RecordedModel) -> None:
    await rivals(client, model)
    await say(client, model, "Oldtown outshines Newtown, they say.", ("Oldtown", "outshines", "Newtown"))
    counts = {}
    for query in ("", "?kind=class", "?text=outsh", "?least=2", "?offset=1", "?status=any"):
        page = (await client.get("/proposals" + query)).json()
        counts[query] = (page["total"], len(page["proposals"]))
    assert counts == {"": (2, 2), "?kind=class": (0, 0), "?text=outsh": (1, 1), "?least=2": (1, 1),
                      "?offset=1": (2, 1), "?status=any": (2, 2)}  # fmt: skip
    assert (await client.get("/proposals")).json()["proposals"][0]["term"] in ("rivals", "is rivals")


async def test_a_document_that_is_taken_back_takes_its_uses_with_it(
    client: httpx.AsyncClient, model: RecordedModel
) -> None:
    found = await rivals(client, model)
    for left in (1, 0):
        document = found["examples"][left]["document"].rpartition("/")[2]
        assert (await client.request("DELETE", f"/documents/{document}")).status_code == 200
        assert (await client.get("/proposals")).json()["total"] == left


async def test_without_commit_nothing_is_proposed(client: httpx.AsyncClient, model: RecordedModel) -> None:
    await load(client, CITIES)
    model.replies = [triples(("Oldtown", "rivals", "Newtown"))]
    await client.post("/extractions", json={"text": FIRST, "commit": False})
    assert (await client.get("/proposals?status=any")).json()["total"] == 0


async def test_a_clients_own_terms_are_proposed_too(shop_client: httpx.AsyncClient) -> None:
    await submit(shop_client, ("a", "a", "Road"), ("a", "leadsTo", "b"), ("b", "a", "GrandSquare"))
    found = {one["term"]: one for one in (await shop_client.get("/proposals")).json()["proposals"]}
    assert set(found) == {"leads to", "grand square"}
    assert [end["label"] for end in found["leads to"]["domain"]] == ["road"]


async def test_the_export_pasted_into_the_ontology_settles_the_proposals_and_lets_in_what_waited(
    tmp_path: Path,
) -> None:
    folders(tmp_path, shapes="")
    model = RecordedModel()
    text = "Elm Park is a park. Elm Park outshines Oak Park. Oak Park is a park."
    rows = [("Elm Park", "is a", "park"), ("Oak Park", "is a", "park"), ("Elm Park", "outshines", "Oak Park")]
    async with build(settings_in(tmp_path), model=model) as services:
        from server.app import create_app

        transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            model.replies = [triples(*rows)]
            await client.post("/extractions", json={"text": text})
            (found,) = (await client.get("/proposals")).json()["proposals"]
            exported = await client.get("/proposals/export")
            assert exported.headers["content-type"].startswith("text/turtle")
            declared = {str(triple.subject) for triple in parse(exported.content, format=RdfFormat.TURTLE)}
            assert "<http://example.org/city#outshines>" in declared
            checked = await client.put(
                "/ontologies/city.ttl", content=CITY + exported.text, headers={"content-type": "text/turtle"}
            )
            assert checked.status_code == 200, checked.text
            settled = (await client.get(f"/proposals/{found['id']}")).json()
            assert (settled["status"], settled["accepted_as"]) == (
                "accepted", "http://example.org/city#outshines",
            )  # fmt: skip
            assert settled["decisions"][0]["by"].startswith("rules ")
            rows_found = await select(client, "SELECT ?a ?b { ?a <http://example.org/city#outshines> ?b }")
            assert len(rows_found) == 1


async def test_an_ontology_edited_while_nobody_served_settles_at_the_next_start(tmp_path: Path) -> None:
    folders(tmp_path, shapes="")
    async with build(
        settings_in(tmp_path), model=RecordedModel(triples(("Elm Park", "outshines", "Oak Park")))
    ) as one:
        await one.intake.extract("Elm Park outshines Oak Park by far.")
        assert len(one.proposals.find(one_open())) == 1
    outshines = (
        ':outshines a owl:ObjectProperty ; rdfs:label "outshines"@en ; skos:definition "Is finer." .\n'
    )
    (tmp_path / "ontology" / "city.ttl").write_text(CITY + outshines)
    async with build(settings_in(tmp_path), model=RecordedModel()) as other:
        assert other.proposals.find(one_open()) == []
        (iri,) = other.proposals.find(one_open(status=None))
        assert other.proposals.get(iri).accepted_as is not None


def one_open(**parts: Any) -> Any:
    from curation.proposals import ProposalFilter

    return ProposalFilter(**parts)


async def test_the_export_of_everything_is_turtle_that_the_ontology_room_reads(
    client: httpx.AsyncClient, model: RecordedModel, tmp_path: Path
) -> None:
    await load(client, CITIES)
    rows = [
        ("Oldtown", 'says "hello\\"', "Newtown"), ("Oldtown", "is a", "the 2nd glimmerfax"),
        ("Oldtown", "was worth", "$5 million"), ("Newtown", "was worth", "$6 million"),
    ]  # fmt: skip
    text = (
        'Oldtown says "hello\\" to Newtown. Oldtown is the 2nd glimmerfax, was worth $5 million; '
        "Newtown $6 million."
    )
    await say(client, model, text, *rows)
    exported = (await client.get("/proposals/export")).text
    (tmp_path / "words.ttl").write_text(exported + "\n<http://example.org/o> a owl:Ontology .\n")
    schema = Schema.load(tmp_path)
    assert len([term for term in schema.properties.values() if term.label.startswith(("says", "worth"))]) == 2
    assert (await client.get("/proposals/export?text=nothing-like-it")).text.endswith("There are none.\n")


def test_the_commands_list_show_decide_and_export(tmp_path: Path) -> None:
    folders(tmp_path, shapes="")
    (tmp_path / "urbankg.toml").write_text(
        f'data = "{tmp_path / "data"}"\nontology = "{tmp_path / "ontology"}"\n'
        f'shapes = "{tmp_path / "shapes"}"\nreaders = 1\nlanguage = ""\n'
    )

    def urbankg(*arguments: str) -> str:
        done = CliRunner().invoke(
            command_line(),
            ["proposals", arguments[0], "--config", str(tmp_path / "urbankg.toml"), *arguments[1:]],
        )
        assert done.exit_code in (0, 1), done.output
        return done.stdout

    propose(tmp_path)
    listed = urbankg("list", "--json")
    identifier = listed.partition('"id": "')[2].partition('"')[0]
    assert '"term": "outshines"' in listed
    assert '"quote"' in urbankg("show", identifier)
    assert "outshines" in urbankg("export")
    assert "dismissed" in urbankg("decide", "dismiss", identifier, "--reason", "no")
    assert "open" in urbankg("decide", "reopen", identifier)
    assert "accepted" in urbankg("decide", "accept", identifier, "--as", "http://example.org/city#near")
    assert "waits" in urbankg("decide", "retry", identifier)


def propose(root: Path) -> None:
    import asyncio

    async def run() -> None:
        model = RecordedModel(triples(("Elm Park", "outshines", "Oak Park")))
        async with build(settings_in(root), model=model) as services:
            await services.intake.extract("Elm Park outshines Oak Park by far.")

    asyncio.run(run())
