"""Replies watched as they come: what is given up, and that nothing is which could still conform."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractors.errors import ModelReplyError
from extractors.models.chat import Reply, Token
from extractors.models.http.replies import find_document
from extractors.models.http.reply_watch import ReplyWatch, conforms
from extractors.prompting.prompt import extraction_schema

FACTS = extraction_schema(["is a", "located in"])
STEP = {
    "anyOf": [
        {
            "type": "object",
            "properties": {"op": {"const": "near"}, "km": {"type": "number"}},
            "required": ["op", "km"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {"op": {"const": "count"}},
            "required": ["op"],
            "additionalProperties": False,
        },
    ]
}
PLAN = {"properties": {"steps": {"type": "array", "items": STEP, "minItems": 1}}, "required": ["steps"]}
KINDS = {
    "properties": {
        "a": {"type": "integer"},
        "b": {"type": "boolean"},
        "c": {"type": "null"},
        "d": {"type": "string", "maxLength": 3},
        "e": {"$ref": "#/$defs/word"},
    },
    "additionalProperties": False,
    "$defs": {"word": {"type": "string", "minLength": 2}},
}


def fact(subject: str, relation: str = "is a", object_: str = "museum") -> dict[str, str]:
    return {"subject": subject, "relation": relation, "object": object_}


@pytest.mark.parametrize(
    ("schema", "document"),
    [
        (FACTS, {"triples": []}),
        (FACTS, {"triples": [fact('The "Łódź" \\ hall\n')] * 3}),
        (FACTS, {"triples": [], "more": [1, {"x": None}, True]}),
        (PLAN, {"steps": [{"op": "near", "km": 1.5e3}, {"op": "count"}]}),
        (KINDS, {"a": -3, "b": False, "c": None, "d": "abc", "e": "xy"}),
        (KINDS, {"a": 10**400}),
        (KINDS, {}),
    ],
)
def test_a_reply_that_follows_the_schema_passes_however_it_is_spaced(
    schema: dict[str, Any], document: Any
) -> None:
    for text in (json.dumps(document), "\n" + json.dumps(document, indent=4, ensure_ascii=False) + "\n"):
        assert conforms(text, schema) is None


@pytest.mark.parametrize(
    ("schema", "text", "words"),
    [
        (FACTS, "Here is", "begins no JSON value"),
        (FACTS, "```json", "not the start of a value"),
        (FACTS, "[", "an array is not allowed"),
        (FACTS, '{"triples":{', "an object is not allowed"),
        (FACTS, '{"triples":[{"subject":7', "a number is not allowed"),
        (FACTS, '{"triples":[{"subject":"a","relation":"ow', "none of the choices"),
        (FACTS, '{"triples":[{"subject":"a"}', "lacks object, relation"),
        (FACTS, '{"facts":[]}', "lacks triples"),
        (FACTS, '{"triples":[]} and', "after the end"),
        (FACTS, '{"triples":[]]', "not allowed there in JSON"),
        (FACTS, '{"triples":[],}', "not allowed there in JSON"),
        (FACTS, '{"triples":[{"subject":"a\n', "control character"),
        (FACTS, '{"triples":[{"subject":"a\\q"', "no JSON string"),
        (FACTS, '{"triples":' + json.dumps([fact("a")] * 17), "more than 16"),
        (PLAN, '{"steps":[{"op":"fly', "none of the choices"),
        (PLAN, '{"steps":[{"opp"', "no key 'opp'"),
        (PLAN, '{"steps":[]', "too short"),
        (KINDS, '{"a":1.5,', "none that the schema allows"),
        (KINDS, '{"a":01,', "no number"),
        (KINDS, '{"a":' + "9" * 5000 + ",", "too many digits"),
        (KINDS, '{"b":null,', "none that the schema allows"),
        (KINDS, '{"b":truth', "is no JSON"),
        (KINDS, '{"d":"abcd"', "none that the schema allows"),
        (KINDS, '{"e":"x"', "none that the schema allows"),
        (KINDS, '{"z":', "no key 'z'"),
    ],
)
def test_a_hopeless_reply_is_given_up_before_its_end(schema: dict[str, Any], text: str, words: str) -> None:
    trouble = ReplyWatch(schema).feed(text)
    assert trouble is not None
    assert words in trouble


def test_white_space_without_end_is_given_up_with_and_without_a_schema() -> None:
    for schema in (FACTS, None):
        watch = ReplyWatch(schema)
        assert watch.feed(" " * 200) is None
        assert watch.feed(" ") == "it goes on with white space"


def test_white_space_after_the_end_is_no_trouble() -> None:
    watch = ReplyWatch(FACTS)
    watch.feed('{"triples":[]}' + "\n" * 300)
    assert watch.trouble is None
    assert watch.complete
    assert watch.white_run


def test_a_reply_that_ends_early_is_reported() -> None:
    assert conforms('{"triples":[', FACTS) == "it ends before its JSON does"


def test_without_a_schema_any_words_pass() -> None:
    assert ReplyWatch(None).feed('This is {"no": JSON') is None


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.dictionaries(st.text(max_size=4), ANYTHING, max_size=4), st.booleans())
def test_no_json_object_is_given_up_where_anything_may_stand(document: Any, ascii_only: bool) -> None:
    assert conforms(json.dumps(document, ensure_ascii=ascii_only), {"type": "object"}) is None


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.builds(fact, st.text(), st.sampled_from(["is a", "located in"]), st.text()), max_size=5))
def test_no_facts_are_given_up(facts: list[dict[str, str]]) -> None:
    for ascii_only in (True, False):
        assert conforms(json.dumps({"triples": facts}, ensure_ascii=ascii_only), FACTS) is None


def reply(text: str, tokens: tuple[Token, ...] = ()) -> Reply:
    return Reply(text, "stop", 7, 5, 0.1, "m", None, tokens)


def test_a_document_is_found_among_words_and_keeps_its_tokens() -> None:
    pieces = ("See {x}: ", '{"triples"', ":[]}", " done")
    found = find_document(reply("".join(pieces), tuple(Token(piece, -0.5) for piece in pieces)), FACTS)
    assert found.text == '{"triples":[]}'
    assert [token.text for token in found.tokens] == ['{"triples"', ":[]}"]


def test_tokens_that_do_not_fit_the_document_are_dropped() -> None:
    pieces = ('Yes: {"triples"', ":[]}")
    assert find_document(reply("".join(pieces), tuple(Token(p, -0.5) for p in pieces)), FACTS).tokens == ()


@pytest.mark.parametrize("text", ["no JSON at all", '{"facts": []}', "{{{{"])
def test_without_a_document_that_follows_the_schema_the_reply_is_of_no_use(text: str) -> None:
    with pytest.raises(ModelReplyError, match="not what the prompt asks for") as error:
        find_document(reply(text), FACTS)
    assert error.value.reply == text
    assert (error.value.prompt_tokens, error.value.completion_tokens) == (7, 5)
