"""A member or a parameter that is not known is refused with the nearest known one, and nothing is done."""

from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")

STATEMENT = {
    "subject": "https://example.org/a",
    "predicate": "http://www.w3.org/2000/01/rdf-schema#label",
    "object": {"type": "literal", "value": "a"},
}


@pytest.mark.parametrize(
    ("path", "body", "place", "said"),
    [
        ("/extractions", {"text": "A park.", "comit": False}, "comit", "did you mean 'commit'?"),
        (
            "/candidates",
            {"statements": [{**STATEMENT, "confidense": 1}]},
            "statements.0.confidense",
            "did you mean 'confidence'?",
        ),
        (
            "/candidates",
            {"statements": [{**STATEMENT, "object": {"type": "literal", "value": "a", "language": "en"}}]},
            "statements.0.object.language",
            "Known here: datatype, type, value, xml:lang",
        ),
        (
            "/review/decisions",
            {"decision": "reject", "filter": {"shapes": "https://example.org/s"}},
            "filter.shapes",
            "did you mean 'shape'?",
        ),
        ("/ask", {"question": "Which parks?", "Context": ""}, "Context", "did you mean 'context'?"),
        ("/relations", {"a": "POINT(0 0)", "b": "POINT(0 0)", "c": ""}, "c", "Known here: a, a_name"),
        ("/backup", {"folder": "/x", "zip": True}, "zip", "Known here: folder"),
        ("/check", {"shape": {}}, "shape", "did you mean 'shapes'?"),
    ],
)
async def test_an_unknown_member_is_refused(
    shared_client: httpx.AsyncClient, path: str, body: dict[str, Any], place: str, said: str
) -> None:
    before = (await shared_client.get("/healthz")).json()["revision"]
    response = await shared_client.post(path, json=body)

    assert response.status_code == 422, response.text
    problem = response.json()
    assert [one["place"] for one in problem["errors"]] == [place]
    assert said in problem["detail"]
    assert problem["detail"].endswith(("?", "."))
    assert "?." not in problem["detail"]
    assert (await shared_client.get("/healthz")).json()["revision"] == before


@pytest.mark.parametrize(
    ("method", "path", "name", "said"),
    [
        ("GET", "/review?staus=open", "staus", "did you mean 'status'?"),
        ("GET", "/documents?page=2", "page", "Known here: limit, offset, source, text"),
        ("GET", "/shapes?generate=true", "generate", "did you mean 'generated'?"),
        ("PUT", "/shapes/new.ttl?dryrun=true", "dryrun", "did you mean 'dry-run'?"),
        ("POST", "/candidates?sauce=x", "sauce", "did you mean 'source'?"),
        ("GET", "/changes?from=3", "from", "Known here: since"),
        ("POST", "/jobs?pause=true", "pause", "did you mean 'paused'?"),
    ],
)
async def test_an_unknown_parameter_is_refused(
    shared_client: httpx.AsyncClient, method: str, path: str, name: str, said: str
) -> None:
    response = await shared_client.request(method, path, content=b"")

    assert response.status_code == 422, response.text
    problem = response.json()
    assert [one["place"] for one in problem["errors"]] == [name]
    assert said in problem["detail"]
    assert problem["detail"].endswith(("?", "."))
    assert "?." not in problem["detail"]


async def test_a_file_put_with_a_misspelled_dry_run_is_not_in_force(shared_client: httpx.AsyncClient) -> None:
    await shared_client.put("/shapes/new.ttl?dry_run=true", content=b"")

    assert (await shared_client.get("/shapes/new.ttl")).status_code == 404
