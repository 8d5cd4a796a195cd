"""How the engine reads probabilities, over a stand-in for llama.cpp's server."""

from __future__ import annotations

import math
from typing import Any

import pytest

from extractors.models.local.engine import _fill


class _Server:
    """Answers as llama.cpp does: a token that is part of a character is left out, with its alternatives.

    `first` holds the first tokens by probability; one of "" stands for a part of a character.
    """

    def __init__(self, first: dict[str, float], answer: str) -> None:
        self._first = first
        self._answer = answer
        self.grammars: list[str | None] = []

    def handle_completions(self, request: dict[str, Any]) -> dict[str, Any]:
        grammar = request.get("grammar")
        self.grammars.append(grammar)
        if request["n_predict"] > 1:
            return self._body([_entry(self._answer, 0.9)], "stop")
        if grammar is not None:
            return self._body([_entry(" none", self._first[" none"])], "length")
        greedy = max(self._first, key=lambda token: self._first[token])
        if not greedy:
            return self._body([], "length")
        entry = _entry(greedy, self._first[greedy])
        entry["top_logprobs"] = [_entry(token, share) for token, share in self._first.items()]
        return self._body([entry], "length")

    def _body(self, entries: list[dict[str, Any]], reason: str) -> dict[str, Any]:
        choice = {"logprobs": {"content": entries}, "finish_reason": reason}
        return {"choices": [choice], "timings": {"prompt_n": 7}}


def _entry(token: str, share: float) -> dict[str, Any]:
    return {"token": token, "bytes": list(token.encode()), "logprob": math.log(share)}


def _form(least: float) -> dict[str, Any]:
    field = {"heading": "part of:", "grammar": 'root ::= " Østerbro | Copenhagen"'}
    return {
        "opening": "Text: Østerbro is a district of Copenhagen.\n",
        "fields": [field],
        "none": " none",
        "least_presence": least,
        "maximum_tokens": 30,
    }


@pytest.mark.parametrize("none", [0.2, 0.45])
def test_an_answer_that_begins_with_a_part_of_a_character_is_there(none: float) -> None:
    server = _Server({"": 0.5, " none": none}, " Østerbro | Copenhagen\n")
    ((presence, tokens),) = _fill(server, _form(0.3))["fields"]
    assert presence == pytest.approx(1 - none)
    assert bytes(tokens[0]["bytes"]).decode() == " Østerbro | Copenhagen\n"
    assert server.grammars[1] == 'root ::= " none"\n'


def test_an_unsure_one_stays_empty() -> None:
    server = _Server({"": 0.5, " none": 0.45}, " Østerbro | Copenhagen\n")
    ((presence, tokens),) = _fill(server, _form(0.6))["fields"]
    assert presence == pytest.approx(0.55)
    assert tokens == []


def test_a_whole_first_token_is_asked_for_once() -> None:
    server = _Server({" none": 0.9, " Paris": 0.1}, " Paris | France\n")
    ((presence, tokens),) = _fill(server, _form(0.3))["fields"]
    assert presence == pytest.approx(0.1)
    assert tokens == []
    assert server.grammars == [None]
