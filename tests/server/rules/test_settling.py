"""People settle what new rules find wrong in the graph: they remove, replace or keep it as an exception."""

from typing import Any

import httpx
import pytest

from curation.review.review_queue import Exceptions
from server.services import Services
from tests.server.conftest import select
from tests.support.workshop import PREFIX, RULES, SHORT, submit, update

NAMES = "SELECT ?n { ?s :name ?n } ORDER BY ?n"


@pytest.fixture
async def item(shop_client: httpx.AsyncClient) -> str:
    """The item of a statement in the graph that a new shape refuses."""
    await update(
        shop_client, "INSERT DATA { :a a :Park ; :name 'High' . :b a :Park ; :name 'Hill' , 'Riverside' }"
    )
    turtle = {"content-type": "text/turtle"}
    assert (await shop_client.put("/shapes/rules.ttl", content=RULES + SHORT, headers=turtle)).is_success
    [found] = (await shop_client.get("/review")).json()["items"]
    return str(found["id"])


async def names(client: httpx.AsyncClient) -> list[str]:
    return [row["n"] for row in await select(client, PREFIX + NAMES)]


async def decided(client: httpx.AsyncClient, decision: str, **members: Any) -> dict[str, Any]:
    answer = await client.post(f"/review/{decision}", json={"by": "Eve", **members})
    assert answer.is_success, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_rejecting_removes_the_statement_and_undoing_restores_it(
    shop: Services, shop_client: httpx.AsyncClient, item: str
) -> None:
    done = await decided(shop_client, f"{item}/reject", reason="No such name.")
    assert await names(shop_client) == ["High", "Hill"]
    assert shop.gate.report(shop.store) == []
    await decided(shop_client, f"decisions/{done['decision'].rpartition('/')[2]}/undo")
    assert await names(shop_client) == ["High", "Hill", "Riverside"]
    [again] = (await shop_client.get("/review")).json()["items"]
    assert (again["id"], again["accepted"]) == (item, True)


async def test_accepting_needs_a_reason_and_is_an_exception_that_validation_knows(
    shop: Services, shop_client: httpx.AsyncClient, item: str
) -> None:
    refused = await shop_client.post(f"/review/{item}/accept", json={"by": "Eve"})
    assert refused.status_code == 422
    assert "reason" in refused.json()["detail"]
    [violation] = shop.gate.report(shop.store)
    assert Exceptions(shop.review).of(violation) is None
    await decided(shop_client, f"{item}/accept", reason="Its name on every map.")
    exception = Exceptions(shop.review).of(violation)
    assert exception is not None
    assert (exception.by, exception.reason) == ("Eve", "Its name on every map.")
    assert exception.at.startswith("20")
    await update(shop_client, "DELETE DATA { :b :name 'Riverside' }")
    assert Exceptions(shop.review).of(violation) is None, "nothing is left that it excepts"


async def test_a_correction_replaces_the_statement(shop_client: httpx.AsyncClient, item: str) -> None:
    short = {"predicate": "http://example.org/city#name", "subject": "http://example.org/city#b"}
    statement = {**short, "object": {"type": "literal", "value": "River"}}
    await decided(shop_client, f"{item}/accept", statements=[statement], reason="Shorter.")
    assert await names(shop_client) == ["High", "Hill", "River"]


async def test_a_warning_survives_edits_of_other_rules_and_goes_with_its_own(
    shop_client: httpx.AsyncClient,
) -> None:
    turtle = {"content-type": "text/turtle"}
    warns = SHORT.replace("sh:maxLength 5", "sh:severity sh:Warning ; sh:maxLength 5")

    async def put(text: str) -> None:
        assert (await shop_client.put("/shapes/rules.ttl", content=text, headers=turtle)).is_success

    async def waiting() -> list[tuple[str, str]]:
        items = (await shop_client.get("/review", params={"severity": "Warning"})).json()["items"]
        return [(one["id"], one["violations"][0]["message"]) for one in items]

    await put(RULES + warns)
    answer = await submit(shop_client, ("park", "name", "'Riverside'"), ("park", "a", "Park"))
    assert len(answer["warnings"]) == 1
    before = await waiting()
    assert [message for _, message in before] == ["Keep names short."]
    await put("# said anew\n" + RULES + warns)
    assert await waiting() == before
    await put(RULES + warns + SHORT.replace("s:Short", "s:Other").replace(":name", ":title"))
    assert await waiting() == before
    await put(RULES)
    assert await waiting() == []


@pytest.mark.parametrize(
    ("languages", "message"),
    [
        ("de, en", "Ein Park hat einen Namen."),
        ("fr", "Un parc a un nom."),
        ("nl, en", "A park has a name."),
    ],
)
async def test_of_messages_in_several_languages_the_setting_chooses_one(
    shop: Services,
    shop_client: httpx.AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
    languages: str,
    message: str,
) -> None:
    chosen = shop.settings.model_copy(update={"message_languages": languages})
    monkeypatch.setattr(shop, "settings", chosen)
    several = '"A park has a name."@en , "Ein Park hat einen Namen."@de-AT , "Un parc a un nom."@fr'
    text = RULES.replace('"A park has a name."@en', several)
    await shop_client.put("/shapes/rules.ttl", content=text, headers={"content-type": "text/turtle"})
    refused = await update(shop_client, "INSERT DATA { :a a :Park }")
    assert refused.status_code == 422
    reasons = [one["violations"] for one in refused.json()["rejected"]]
    assert [[one["message"] for one in found] for found in reasons] == [[message]], refused.text
