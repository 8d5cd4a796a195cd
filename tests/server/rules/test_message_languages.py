"""A reader gets the messages of shapes in her language, also of what was refused long before."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from pyoxigraph import NamedNode, Quad

from server.reader_language import parse_accept_language
from server.services import Services
from sparql.model.change import choose_text
from sparql.model.vocabulary import REVIEW, UKG
from tests.support.workshop import RULES, submit, update

SEVERAL = '"A park has a name."@en , "Ein Park hat einen Namen."@de-AT , "Un parc a un nom."@fr'
ENGLISH, GERMAN, FRENCH = "A park has a name.", "Ein Park hat einen Namen.", "Un parc a un nom."
ADD = "INSERT DATA { :a a :Park }"


@pytest.fixture(autouse=True)
async def rules(shop_client: httpx.AsyncClient) -> None:
    text = RULES.replace('"A park has a name."@en', SEVERAL)
    turtle = {"content-type": "text/turtle"}
    assert (await shop_client.put("/shapes/rules.ttl", content=text, headers=turtle)).is_success


@pytest.fixture
def speaking(shop_client: httpx.AsyncClient) -> Callable[[str], httpx.AsyncClient]:
    """The client of a reader with an Accept-Language; without one for "*"."""

    def choose(languages: str) -> httpx.AsyncClient:
        shop_client.headers["accept-language"] = languages
        return shop_client

    return choose


def messages(refused: list[dict[str, Any]]) -> set[str]:
    return {violation["message"] for one in refused for violation in one["violations"]}


def varies(answer: httpx.Response) -> bool:
    return "accept-language" in answer.headers.get("vary", "").lower()


@pytest.mark.parametrize(
    ("languages", "message"),
    [
        ("de", GERMAN),
        ("de-CH, fr;q=0.9", GERMAN),
        ("fr;q=0.4, de;q=0.8", GERMAN),
        ("nl, fr;q=0.2", FRENCH),
        ("nl", ENGLISH),
        ("*", ENGLISH),
        ("de;q=0", ENGLISH),
    ],
)
async def test_a_refused_update_says_why_in_the_language_of_its_reader(
    speaking: Callable[[str], httpx.AsyncClient], languages: str, message: str
) -> None:
    refused = await update(speaking(languages), ADD)
    assert refused.status_code == 422
    assert messages(refused.json()["rejected"]) == {message}
    assert varies(refused)


async def test_an_answer_without_messages_does_not_vary_by_language(
    speaking: Callable[[str], httpx.AsyncClient],
) -> None:
    accepted = await update(speaking("de"), "INSERT DATA { :a a :Park ; :name 'High' }")
    assert accepted.is_success
    assert not varies(accepted)


async def test_a_validation_report_has_the_message_in_the_language_of_its_reader(
    speaking: Callable[[str], httpx.AsyncClient],
) -> None:
    client = speaking("fr")
    headers = {"content-type": "application/sparql-update", "accept": "text/turtle"}
    refused = await client.post(
        "/update", content="INSERT DATA { <urn:a> a <http://example.org/city#Park> }", headers=headers
    )
    assert FRENCH in refused.text
    assert GERMAN not in refused.text
    assert varies(refused)


async def test_a_warning_of_a_plain_update_too(
    speaking: Callable[[str], httpx.AsyncClient], shop_client: httpx.AsyncClient
) -> None:
    text = RULES.replace(
        'sh:message "A park has a name."@en', f"sh:severity sh:Warning ; sh:message {SEVERAL}"
    )
    await shop_client.put("/shapes/rules.ttl", content=text, headers={"content-type": "text/turtle"})
    warned = await update(speaking("fr"), ADD)
    assert warned.is_success
    assert messages(warned.json()["warnings"]) == {FRENCH}
    assert varies(warned)


async def test_what_waits_in_review_is_read_in_each_language(
    speaking: Callable[[str], httpx.AsyncClient], shop_client: httpx.AsyncClient
) -> None:
    await submit(shop_client, ("a", "a", "Park"))
    for languages, message in (("*", ENGLISH), ("de", GERMAN), ("fr", FRENCH), ("nl", ENGLISH)):
        client = speaking(languages)
        listed = await client.get("/review")
        assert messages(listed.json()["items"]) == {message}
        assert varies(listed)
        [item] = listed.json()["items"]
        one = await client.get(f"/review/{item['id']}")
        assert messages([one.json()]) == {message}
        [group] = (await client.get("/review/groups")).json()["groups"]
        assert group["example"] == message
        table = await client.get("/review/export")
        assert message in table.text
        report = await client.get("/review/export", params={"format": "shacl"})
        assert message in report.text
        assert varies(table)
        assert varies(report)
        # It is found by its words in any language.
        for words in (ENGLISH, GERMAN, FRENCH):
            found = await client.get("/review", params={"text": words})
            assert len(found.json()["items"]) == 1


@pytest.mark.parametrize("bulk", [False, True])
async def test_the_examples_of_a_load_are_in_the_language_of_its_reader(
    speaking: Callable[[str], httpx.AsyncClient], tmp_path: Path, bulk: bool
) -> None:
    file = tmp_path / "parks.ttl"
    file.write_text("<urn:a> a <http://example.org/city#Park> .")
    answer = await speaking("de").post("/loads", json={"files": [str(file)], "bulk": bulk})
    assert GERMAN in answer.text
    assert ENGLISH not in answer.text
    assert varies(answer)


async def test_an_answer_in_one_language_is_not_taken_for_one_in_another(
    speaking: Callable[[str], httpx.AsyncClient], shop_client: httpx.AsyncClient
) -> None:
    await submit(shop_client, ("a", "a", "Park"))
    tag = (await speaking("de").get("/review")).headers["etag"]
    again = await speaking("de").get("/review", headers={"if-none-match": tag})
    assert again.status_code == 304
    assert varies(again)
    other = await speaking("fr").get("/review", headers={"if-none-match": tag})
    assert messages(other.json()["items"]) == {FRENCH}


async def test_an_item_of_an_earlier_version_has_the_message_that_it_was_stored_with(
    shop: Services, speaking: Callable[[str], httpx.AsyncClient], shop_client: httpx.AsyncClient
) -> None:
    await submit(shop_client, ("a", "a", "Park"))
    stored: list[Quad] = list(shop.store.match_quads(None, UKG.translation, None, REVIEW))
    assert len(stored) == 3
    assert all(isinstance(quad.subject, NamedNode) for quad in stored)
    stored += shop.store.match_quads(None, UKG.messages, None, REVIEW)
    shop.store.commit([], stored)
    listed = await speaking("de").get("/review")
    assert messages(listed.json()["items"]) == {ENGLISH}


def test_languages_are_read_in_the_order_of_their_weights() -> None:
    assert parse_accept_language("fr;q=0.5, de-AT, *;q=0.1, nl;q=0, en ; q = .7") == ("de-AT", "en", "fr")
    assert parse_accept_language("") == ()
    assert parse_accept_language("de;q=much, en") == ("en",)


def test_a_language_takes_its_regions_and_one_of_a_region_takes_the_language() -> None:
    texts = {"": "x", "de-at": "Jänner", "de": "Januar", "en-GB": "January"}
    assert choose_text(texts, ["de-AT"]) == "Jänner"
    assert choose_text(texts, ["de-CH", "en"]) == "Januar"
    assert choose_text(texts, ["en"]) == "January"
    assert choose_text(texts, ["d"]) is None
    assert choose_text(texts, []) is None
