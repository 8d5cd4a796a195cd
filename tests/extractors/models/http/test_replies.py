"""Reading replies, retry pauses and schema checks, without any server."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

import extractors.models
from extractors.errors import ModelReplyError
from extractors.models.http.endpoint import RetryPolicy, pause_of
from extractors.models.http.replies import read_reply


def completion(text: str, tokens: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    choice = {"message": {"content": text}, "finish_reason": "stop", "logprobs": {"content": tokens or []}}
    return {"choices": [choice]}


def read(body: dict[str, Any], structured: bool = False) -> extractors.models.Reply:
    return read_reply(body, structured=structured, seconds=0.1, model="m", adapter=None)


def test_tokens_that_share_a_character_become_one() -> None:
    pieces = [{"token": "K", "bytes": [75], "logprob": -0.5}]
    pieces += [{"token": "\ufffd", "bytes": [byte], "logprob": -0.25} for byte in "ó".encode()]
    reply = read(completion("Kó", pieces))
    assert [(token.text, token.logprob) for token in reply.tokens] == [("K", -0.5), ("ó", -0.5)]


def test_tokens_that_do_not_make_up_the_text_are_dropped() -> None:
    assert read(completion("yes", [{"token": "no", "logprob": -1.0}])).tokens == ()


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    assert read(completion("Kr\ud83dkow")).text == "Kr\ufffdkow"


def test_a_body_without_choices_is_an_error() -> None:
    with pytest.raises(ModelReplyError, match="no choices"):
        read({"choices": []})


def test_text_after_the_json_is_an_error() -> None:
    with pytest.raises(ModelReplyError, match="not JSON"):
        read(completion('{"a":1} done'), structured=True)


def test_pauses_double_and_are_spread() -> None:
    policy = RetryPolicy(attempts=4, first_seconds=1.0, random=Random(1))
    pauses = [policy.wait(429, attempt) for attempt in (1, 2, 3)]
    for pause, middle in zip(pauses, (1.0, 2.0, 4.0), strict=True):
        assert pause is not None
        assert middle * 0.5 <= pause <= middle * 1.5
    assert policy.wait(429, 4) is None


@pytest.mark.parametrize("status", [400, 401, 404, 422, 500])
def test_a_refusal_is_never_retried(status: int) -> None:
    assert RetryPolicy().wait(status, 1) is None


def test_a_server_that_names_a_pause_gets_it_up_to_a_limit() -> None:
    policy = RetryPolicy(random=Random(1))
    pause, longest = policy.wait(429, 1, 8.0), policy.wait(429, 1, 86_400.0)
    assert pause is not None
    assert longest is not None
    assert 8.0 <= pause <= 10.0
    assert 60.0 <= longest <= 75.0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("8", 8.0),
        ("0.5", 0.5),
        ("Sun, 22 Nov 2026 05:00:30 GMT", 30.0),
        ("Sun, 22 Nov 2026 04:00:00 GMT", 0.0),
        ("soon", None),
        (None, None),
    ],
)
def test_a_pause_is_named_in_seconds_or_as_a_date(header: str | None, seconds: float | None) -> None:
    now = datetime(2026, 11, 22, 5, 0, 0, tzinfo=UTC)
    assert pause_of(header, now) == seconds


@pytest.mark.parametrize(
    "choice",
    [
        {"message": "x"},
        {"message": {"content": ["x"]}, "finish_reason": 3},
        {"delta": {"content": "x"}, "logprobs": ["x"], "finish_reason": "stop"},
        {"delta": {"content": "x"}, "logprobs": {"content": ["x"]}, "finish_reason": "stop"},
        {"message": {"content": "x"}, "logprobs": {"content": [{"token": "x", "bytes": ["x"]}]}},
        {"message": {"content": "x"}, "logprobs": {"content": [{"token": "x", "logprob": "low"}]}},
        "x",
    ],
    ids=str,
)
@pytest.mark.parametrize("usage", [None, "x", {"prompt_tokens": "many"}], ids=str)
def test_a_body_of_other_types_is_a_reply_or_an_error_of_the_reply(choice: Any, usage: Any) -> None:
    with suppress(ModelReplyError):
        assert read({"choices": [choice], "usage": usage}).prompt_tokens == 0
