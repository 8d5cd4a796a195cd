"""What requests leave behind: nothing that grows with their number."""

import gc
from collections import Counter
from pathlib import Path

import httpx

from server.rules.ruleset import Ruleset
from tests.server.conftest import RecordedModel, triples
from tests.support.workshop import RULES

URBAN = "https://w3id.org/urbankg/urban#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
TURTLE = {"content-type": "text/turtle"}
OF_OURS = ("server.", "sparql.", "shapes.", "extractors.", "ontology.", "geo.")


def objects() -> Counter[str]:
    """How many objects there are of each of our classes, once garbage is collected."""
    gc.collect()
    names = ((type(one).__module__, type(one).__name__) for one in gc.get_objects())
    return Counter(f"{module}.{name}" for module, name in names if str(module).startswith(OF_OURS))


async def remove(client: httpx.AsyncClient, source: str) -> None:
    for document in (await client.get("/documents", params={"source": source})).json()["documents"]:
        answer = await client.delete(f"/documents/{document['id']}")
        assert answer.status_code == 200, answer.text


async def submit(client: httpx.AsyncClient, number: int) -> None:
    """Candidates with a text, and the text taken back."""
    name = f"Museum {number} of Alder{number}"
    subject, quote = f"http://example.org/{number}", {"start": 0, "end": len(name), "quote": name}
    values = {TYPE: {"type": "uri", "value": URBAN + "Museum"}, LABEL: {"type": "literal", "value": name}}
    statements = [
        {"subject": subject, "predicate": predicate, "object": value, "evidence": quote}
        for predicate, value in values.items()
    ]
    body = {"source": str(number), "text": f"{name} is a museum.", "statements": statements}
    answer = await client.post("/candidates", json=body)
    assert answer.status_code == 200, answer.text
    await remove(client, str(number))


async def extract(client: httpx.AsyncClient, model: RecordedModel, number: int) -> None:
    name = f"Alder{number} Hall"
    model.replies = [triples((name, "is a", "museum"))]
    body = {"text": f"{name} is a museum.", "source": str(number)}
    answer = await client.post("/extractions", json=body)
    assert answer.status_code == 200, answer.text
    model.asked.clear()
    await remove(client, str(number))


async def ask(client: httpx.AsyncClient, model: RecordedModel, number: int) -> None:
    answer = await client.post("/ask", json={"question": f"How many museums have the number {number}?"})
    assert answer.status_code == 200, answer.text
    model.asked.clear()


async def test_many_requests_leave_no_objects_behind(client: httpx.AsyncClient, model: RecordedModel):
    async def mixed(numbers: range) -> None:
        for number in numbers:
            await submit(client, number)
            await extract(client, model, 10_000 + number)
            await ask(client, model, number)
            query = f"SELECT * {{ <http://example.org/{number}> ?p ?o FILTER(?o != {number}) }}"
            assert (await client.get("/sparql", params={"query": query})).status_code == 200

    # Modules and what tests before left are not looked through each time.
    gc.freeze()
    await mixed(range(20))
    before = objects()
    await mixed(range(20, 60))
    grown = {kind: more for kind, more in (objects() - before).items() if more > 10}
    # The index of geometries takes what it noted in when a query asks for it, caches hold parsed queries, and
    # the log for the capturer has a limit in quads. Canceled timers keep the context of their request, and so
    # its account, reader and budget, until a hundred of them are removed at once.
    bounded = {
        "extractors.models.accounting.Account",
        "server.reader_language.Reader",
        "sparql.ask.budget.Budget",
        "sparql.workers.store_copy.LoggedCommit",
        "sparql.rewriting.notes.Note",
        "sparql.syntax.tokens.Prologue",
        "sparql.syntax.request_facts.RequestFacts",
        "sparql.rewriting.lookups._Known",
    }
    trees = ("sparql.syntax.nodes.", "sparql.syntax.parser.")
    unexpected = {kind for kind in grown.keys() - bounded if not kind.startswith(trees)}
    assert not unexpected, grown


async def test_reloads_of_shapes_keep_one_rule_set_in_memory(shop_client: httpx.AsyncClient, tmp_path: Path):
    async def put(length: int) -> None:
        more = f"s:Short sh:targetSubjectsOf :name ; sh:path :name ; sh:maxLength {length} .\n"
        answer = await shop_client.put("/shapes/rules.ttl", content=RULES + more, headers=TURTLE)
        assert answer.status_code == 200, answer.text

    # The collector runs by itself when millions of objects have come; here it does not.
    gc.disable()
    gc.freeze()
    try:
        before = sum(type(one) is Ruleset for one in gc.get_objects())
        for length in range(10, 15):
            await put(length)
            alive = sum(type(one) is Ruleset for one in gc.get_objects()) - before
            # Those in force, and at most those before them.
            assert alive <= 2
        garbage = gc.collect()
        await put(5)
        # What one reading leaves, and not five.
        assert garbage < 3 * gc.collect()
    finally:
        gc.enable()
