"""Reading replies: whole, cut off and broken, and the model's confidence."""

import json
import math

import pytest

from extractors.errors import ModelReplyError
from extractors.models.chat import Token
from extractors.prompting.reply import parse
from tests.support.scripted import COLUMBIA_TRIPLES, reply, words


def as_tuples(text: str, finish: str = "stop") -> list[tuple[str, str, str]]:
    return [(t.subject, t.relation, t.object) for t in parse(words(text, finish=finish)).triples]


def test_a_whole_reply_gives_its_triples_in_order_with_the_models_own_words() -> None:
    answer = reply(COLUMBIA_TRIPLES)
    parsed = parse(answer)
    assert [(t.subject, t.relation, t.object) for t in parsed.triples] == COLUMBIA_TRIPLES
    assert not parsed.truncated
    assert all(t.raw in answer.text and json.loads(t.raw)["object"] == t.object for t in parsed.triples)


def test_no_triples_are_no_error() -> None:
    assert as_tuples('{"triples": []}') == []


def test_values_are_stripped_and_triples_with_an_empty_end_are_dropped() -> None:
    answer = reply([(" A  B ", "is a", "c\n"), ("", "is a", "o")])
    assert as_tuples(answer.text) == [("A B", "is a", "c")]


@pytest.mark.parametrize(
    "wrapped",
    [
        "Sure! Here are the triples:\n```json\n{}\n```\nLet me know if {{I}} can help.",
        'The form is {{"triples": [{{"subject": "x", "relation": "y"}}]}}, so:\n{}',
        '<think>{{ first "triples": [ then</think>{}',
    ],
)
def test_triples_in_prose_or_a_fence_are_read_and_the_last_object_counts(wrapped: str) -> None:
    text = wrapped.format(reply(COLUMBIA_TRIPLES).text)
    assert as_tuples(text) == COLUMBIA_TRIPLES
    (first, *_) = parse(words(text)).triples
    assert first.raw in text


def test_a_bare_array_of_triples_and_an_object_with_more_in_it_are_read() -> None:
    array = json.dumps(json.loads(reply(COLUMBIA_TRIPLES).text)["triples"])
    assert as_tuples(f"```\n{array}\n```") == COLUMBIA_TRIPLES
    more = {"thoughts": "a } and a {", **json.loads(reply(COLUMBIA_TRIPLES).text)}
    assert as_tuples(json.dumps(more)) == COLUMBIA_TRIPLES


def test_a_cut_off_reply_keeps_its_complete_triples() -> None:
    whole = reply(COLUMBIA_TRIPLES).text
    parsed = parse(words(whole[: whole.index("King's")], finish="length"))
    assert parsed.truncated
    assert [(t.subject, t.relation, t.object) for t in parsed.triples] == COLUMBIA_TRIPLES[:3]


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "Sure! Here are the triples.",
        '{"facts": []}',
        "[]",
        '{"triples": [',
        '{"triples": [{"subject": "A"}]}',
        '{"triples": ["A is a B"]}',
        '{"triples": [{"subject": "A", "relation": "is a", "object": "b"} oops]}',
        '{"triples": {"subject": "A"}}',
        '{"triples":' + "[" * 5000,
    ],
)
def test_anything_else_is_a_model_reply_error_that_keeps_the_reply(broken: str) -> None:
    with pytest.raises(ModelReplyError, match="schema") as raised:
        parse(words(broken))
    assert raised.value.reply == broken


def test_a_reply_cut_off_before_its_array_says_what_to_change() -> None:
    with pytest.raises(ModelReplyError, match="max_tokens"):
        parse(words('{"tri', finish="length"))


def test_confidence_is_the_geometric_mean_over_the_tokens_of_the_three_values() -> None:
    pieces = [('{"triples": [{"subject": "', 0.1), ("Pier", 0.5), (" 17", 0.5), ('", "relation": "', 0.1)]
    pieces += [("is a", 1.0), ('", "object": "', 0.1), ("pier", 0.25), ('"}]}', 0.1)]
    tokens = tuple(Token(text, math.log(p)) for text, p in pieces)
    (triple,) = parse(words("".join(text for text, _ in pieces), tokens=tokens)).triples
    assert triple.confidence == pytest.approx((0.5 * 0.5 * 1.0 * 0.25) ** (1 / 4))


def test_each_triple_has_a_confidence_of_its_own() -> None:
    text = reply([("A", "is a", "b"), ("C", "is a", "d")]).text
    sure = text.index(", {")
    tokens = tuple(Token(c, 0.0 if i < sure else math.log(0.5)) for i, c in enumerate(text))
    first, second = parse(words(text, tokens=tokens)).triples
    assert first.confidence == 1.0
    assert second.confidence == pytest.approx(0.5)


def test_tokens_that_hold_half_a_character_do_not_shift_the_others() -> None:
    text = reply([("Café", "is a", "b")]).text
    before, after = text.split("é")
    halves = (Token(before, -9.0), Token("\ufffd", -9.0), Token("\ufffd", -9.0))
    tokens = (*halves, *(Token(c, 0.0) for c in after))
    (triple,) = parse(words(text, tokens=tokens)).triples
    assert triple.confidence is not None
    assert 0.0 < triple.confidence < 1.0


def test_without_probabilities_there_is_no_confidence() -> None:
    assert parse(reply(COLUMBIA_TRIPLES)).triples[0].confidence is None
