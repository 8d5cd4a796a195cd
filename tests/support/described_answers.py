"""Compares the JSON answers of a test's server with the models of the API's description."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import httpx
from jsonschema import Draft202012Validator
from pydantic.json_schema import models_json_schema

from server.http.description.graph_answers import Explanation, UpdateAnswer
from server.http.description.operations import OPERATIONS, Operation
from server.http.description.parts import Answer, FeatureCollection


class CheckedAnswers(httpx.AsyncBaseTransport):
    """A transport that fails where an answer is not what the description says, or is not described."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        kind = response.headers.get("content-type", "").partition(";")[0]
        if kind.endswith("json") and "problem" not in kind and kind != "application/ld+json":
            body = await response.aread()
            response.stream = httpx.ByteStream(response.extensions.get("raw", body))
            response.headers.pop("content-encoding", None)
            if body:
                check_answer(request.method, request.url.path, response.status_code, kind, response.json())
        return response


def check_answer(method: str, path: str, status: int, kind: str, answer: Any) -> None:
    """Raises AssertionError for an answer that does not fit the model of its operation."""
    if path in ("/openapi.json",):
        return
    if path in ("/sparql", "/query", "/update") and kind == "application/json" and "head" not in answer:
        model: type[Answer] = Explanation if "rewritten" in answer else UpdateAnswer
    elif path in ("/sparql", "/query") and kind == "application/geo+json":
        model = FeatureCollection
    else:
        found = operation_at(method.lower(), path)
        assert found is not None, f"{method} {path} is not described"
        assert str(status) in found.answers, f"{method} {path} has no model of {status}"
        model = found.answers[str(status)]
    problems = [
        f"{'.'.join(map(str, one.absolute_path))}: {one.message[-300:]}"
        for whole in _validator(model).iter_errors(answer)
        for one in (whole, *whole.context)
    ]
    assert not problems, f"{method} {path} {status} is no {model.__name__}: {problems[:5]}"


def operation_at(method: str, path: str) -> Operation | None:
    """The operation of an address, by the most literal template."""
    for (known, template), operation in sorted(
        OPERATIONS.items(), key=lambda one: _literal_parts(one[0][1]), reverse=True
    ):
        parts = (re.escape(part) if "{" not in part else ".+" for part in template.split("/"))
        if known == method and re.fullmatch("/".join(parts), path):
            return operation
    return None


def _literal_parts(template: str) -> int:
    return sum("{" not in part for part in template.split("/"))


@cache
def _validator(model: type[Answer]) -> Draft202012Validator:
    """Stricter than the description: a member that it does not name is an error, too."""
    _, schema = models_json_schema([(model, "validation")], ref_template="#/$defs/{model}")
    for definition in schema["$defs"].values():
        if "properties" in definition and "additionalProperties" not in definition:
            definition["additionalProperties"] = False
    return Draft202012Validator({"$ref": f"#/$defs/{model.__name__}", **schema})
