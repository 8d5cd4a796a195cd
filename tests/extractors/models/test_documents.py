"""The document in a reply: found among other words, and checked against its schema."""

from __future__ import annotations

import json
from typing import Any

import pytest

from extractors.errors import ModelReplyError
from extractors.models.chat import Reply, Token
from extractors.models.schemas import check_document, find_document
from extractors.prompting.prompt import extraction_schema

FACTS = extraction_schema(["is a", "located in"])
DOCUMENT = '{"triples": []}'


def reply(text: str, tokens: tuple[str, ...] = ()) -> Reply:
    said = tuple(Token(token, -0.5) for token in tokens)
    return Reply(text, "stop", 7, 5, 0.1, "m", None, said)


def fact(relation: str) -> dict[str, Any]:
    return {
        "triples": [
            {"quote": "a museum", "subject": 'The "Łódź"\n', "relation": relation, "object": "museum"}
        ]
    }


def test_a_document_of_the_schema_passes() -> None:
    check_document(reply(json.dumps(fact("is a"))), FACTS)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (json.dumps(fact("near")), r"'near' is not one of .* at \$\.triples\[0\]\.relation"),
        ("{}", "'triples' is a required property"),
        ('{"triples": [] and so on', "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("", "it is not JSON"),
    ],
)
def test_another_is_an_error_that_says_where(text: str, words: str) -> None:
    with pytest.raises(ModelReplyError, match=words) as error:
        check_document(reply(text), FACTS)
    assert error.value.reply == text
    assert error.value.completion_tokens == 5


def test_the_document_is_cut_out_of_the_words_around_it_with_its_tokens() -> None:
    said = reply(f"Well {{see}}: {DOCUMENT} Done.", ("Well ", "{see}", ": ", '{"triples"', ": []}", " Done."))
    found = find_document(said, FACTS)
    assert found.text == DOCUMENT
    assert [token.text for token in found.tokens] == ['{"triples"', ": []}"]


def test_the_first_that_follows_the_schema_counts() -> None:
    assert find_document(reply(f'{{"a": 1}} or {DOCUMENT}'), FACTS).text == DOCUMENT


def test_tokens_that_cross_the_border_of_the_document_are_left_out() -> None:
    assert find_document(reply(f"So {DOCUMENT}", ('So {"triples"', ": []}")), FACTS).tokens == ()
