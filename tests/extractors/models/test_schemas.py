"""The dialect of schemas that every server takes, and the forms in which servers get one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from outlines_core.fsm.json_schema import build_regex_from_schema

from extractors.errors import ModelRequestRefused
from extractors.models.chat import Message
from extractors.models.http.servers import CANARY_SCHEMA, follows_canary, openai_form, tgi_form
from extractors.models.schemas import spelled_out, strict_form
from extractors.prompting.prompt import extraction_schema
from tests.support.schema_dialect import LONGEST_STRING, check_schema

WORDS = {"type": "string"}


def holding(node: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": node}}


TAKEN = [
    WORDS,
    {"type": "integer", "minimum": 3},
    {"type": "string", "maxLength": LONGEST_STRING},
    {"type": "string", "format": "date"},
    {"enum": ["x", 1, 1.5, None, True]},
    {"const": "x"},
    {"anyOf": [WORDS, {"type": "null"}]},
    {"oneOf": [WORDS, {"type": "integer"}]},
    {"type": "array", "items": WORDS, "minItems": 1, "maxItems": 4},
    {"type": "object", "properties": {"b": WORDS}, "required": ["b"], "additionalProperties": False},
    {"properties": {"b": WORDS}},
    {"$ref": "#/$defs/name"},
]
REFUSED = [
    ({"type": ["string", "null"]}, "list of types"),
    ({"type": "text"}, "'text'"),
    ({"type": "string", "format": "email"}, "'email'"),
    ({"type": "string", "format": "uri"}, "'uri'"),
    ({"not": WORDS}, "`not`"),
    ({"if": WORDS, "then": WORDS}, "`if`"),
    ({"enum": [["x"]]}, "among its choices"),
    ({"const": {"x": 1}}, "among its choices"),
    ({"$ref": "#/$defs/gone"}, "does not define"),
    ({"$ref": "https://example.org/name"}, "does not define"),
    ({"title": "a name"}, "which values"),
    ({"type": "string", "minLength": 9, "maxLength": 2}, "minLength"),
    (True, "write an object"),
]
# What TGI compiles, but into something else than the schema says, or for a very long time.
WITHHELD = [
    ({"allOf": [WORDS]}, "`allOf`"),
    ({"type": "array", "prefixItems": [WORDS]}, "prefixItems"),
    ({"type": "object", "patternProperties": {"x": WORDS}}, "patternProperties"),
    ({"type": "string", "maxLength": 300}, "long to compile"),
    ({"enum": []}, "empty `enum`"),
]


def whole(node: Any) -> dict[str, Any]:
    return {**holding(node), "$defs": {"name": WORDS}}


@pytest.mark.parametrize("node", TAKEN, ids=str)
def test_what_is_let_through_compiles_at_tgi(node: Any) -> None:
    check_schema(whole(node))
    assert build_regex_from_schema(json.dumps(whole(node)))


@pytest.mark.parametrize(("node", "words"), REFUSED, ids=str)
def test_what_tgi_rejects_is_refused_here_with_a_mend(node: Any, words: str) -> None:
    with pytest.raises(ModelRequestRefused, match=words) as refusal:
        check_schema(whole(node))
    assert refusal.value.status is None
    with pytest.raises(ValueError, match=r".+"):
        build_regex_from_schema(json.dumps(whole(node)))


@pytest.mark.parametrize(("node", "words"), WITHHELD, ids=str)
def test_what_would_not_be_honored_is_refused_too(node: Any, words: str) -> None:
    with pytest.raises(ModelRequestRefused, match=words):
        check_schema(whole(node))


def test_a_schema_without_properties_is_refused() -> None:
    with pytest.raises(ModelRequestRefused, match="no `properties`"):
        check_schema({"type": "array", "items": WORDS})


def test_a_schema_may_use_a_definition_twice() -> None:
    name = {"$ref": "#/$defs/name"}
    check_schema({"properties": {"a": name, "b": name}, "$defs": {"name": WORDS}})


def test_a_schema_that_refers_to_itself_is_refused() -> None:
    tree = {"properties": {"child": {"$ref": "#/$defs/tree"}}}
    with pytest.raises(ModelRequestRefused, match=r"property 'child'.*refers to itself"):
        check_schema({**tree, "$defs": {"tree": tree}})


def test_our_own_schemas_are_in_the_dialect() -> None:
    check_schema(extraction_schema(["is a", "located in"]))
    check_schema(CANARY_SCHEMA)


def test_openai_gets_closed_objects_and_no_unknown_key() -> None:
    shape = openai_form(extraction_schema(["is a"]))
    assert "value" not in shape
    schema = shape["json_schema"]["schema"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["triples"]["items"]["additionalProperties"] is False
    assert schema["properties"]["triples"]["items"]["properties"]["relation"]["enum"] == ["is a"]
    assert shape["json_schema"]["strict"] is True


def test_a_property_that_may_be_missing_is_not_called_strict() -> None:
    assert strict_form({"properties": {"a": WORDS, "b": WORDS}, "required": ["a"]})[1] is False


def test_tgi_gets_the_schema_bare() -> None:
    assert tgi_form(CANARY_SCHEMA) == {"type": "json", "value": CANARY_SCHEMA}


def test_a_schema_in_words_stands_at_the_end_of_the_last_message() -> None:
    messages = spelled_out((Message("system", "Extract."), Message("user", "Łódź")), holding(WORDS))
    assert messages[0] == Message("system", "Extract.")
    assert messages[1].content.startswith("Łódź\n\n")
    assert json.dumps(holding(WORDS)) in messages[1].content


@pytest.mark.parametrize(
    ("text", "heeded"),
    [
        ('{"qx_brindle": "ochre-7", "vorpal_tally": "two-k"}', True),
        ('{"qx_brindle": "ochre-7"}', False),
        ('{"qx_brindle": "red", "vorpal_tally": "two-k"}', False),
        ('{"month": "June"}', False),
        ("June", False),
        ("[]", False),
    ],
)
def test_the_canary_tells_a_heeded_schema_from_a_dropped_one(text: str, heeded: bool) -> None:
    assert follows_canary(text) is heeded
