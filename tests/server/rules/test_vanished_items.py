"""Review items that are removed while others read the queue: a withdrawn document takes its items with it."""

import httpx
import pytest
from pyoxigraph import NamedNode

from curation.deciding.decision_in_progress import Outcome
from curation.deciding.decisions import Decisions
from curation.review.review_item import PREFIX, Reviewer
from curation.review.review_search import ReviewFilter
from server.services import Services
from shapes.errors import ReviewItemUnknown
from tests.support.workshop import RULES, SHORT, submit

GONE = NamedNode(PREFIX + "0" * 40)


@pytest.fixture
async def one_refused(
    shop: Services, shop_client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One item waits; a second one is found by each search, and removed before it is read."""
    await submit(shop_client, ("park", "name", "'High'"), ("park", "name", "'Low'"), ("park", "a", "Park"))
    find = shop.review.find

    def found(wanted: ReviewFilter) -> list[NamedNode]:
        return [GONE, *find(wanted)]

    monkeypatch.setattr(shop.review, "find", found)


@pytest.mark.usefixtures("one_refused")
async def test_the_list_leaves_out_what_was_removed_since(shop_client: httpx.AsyncClient) -> None:
    answer = await shop_client.get("/review")
    assert answer.status_code == 200, answer.text
    assert GONE.value not in answer.text


@pytest.mark.usefixtures("one_refused")
@pytest.mark.parametrize("dry", ["true", "false"])
async def test_an_edit_is_tried_and_put_in_force_without_them(
    shop_client: httpx.AsyncClient, dry: str
) -> None:
    content = "# said anew\n" + RULES
    answer = await shop_client.put(
        "/shapes/rules.ttl",
        content=content,
        params={"dry-run": dry},
        headers={"content-type": "text/turtle"},
    )
    assert answer.is_success, answer.text


async def test_those_left_are_accepted_when_one_vanishes_in_the_last_moment(
    shop: Services, shop_client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    turtle = {"content-type": "text/turtle"}
    await shop_client.put("/shapes/rules.ttl", content=RULES + SHORT, headers=turtle)
    await submit(shop_client, ("park", "name", "'Riverside'"), ("park", "a", "Park"))
    assert shop.review.find(ReviewFilter())
    accept, calls = Decisions.accept, []

    def vanishing(
        self: Decisions, chosen: list[NamedNode], by: Reviewer, *, reason: str | None = None
    ) -> Outcome:
        calls.append(list(chosen))
        if len(calls) == 1:
            raise ReviewItemUnknown(GONE.value)
        return accept(self, chosen, by, reason=reason)

    monkeypatch.setattr(Decisions, "accept", vanishing)
    answer = await shop_client.put("/shapes/rules.ttl", content=RULES, headers=turtle)
    assert answer.is_success, answer.text
    assert len(calls) == 2
    assert shop.review.find(ReviewFilter()) == []
