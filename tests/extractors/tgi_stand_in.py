"""A strict stand-in for a text-generation-inference router, for contract tests.

It follows TGI's rules where clients trip over them: the schema must come in `response_format.value` and
compile with outlines-core, errors have TGI's bodies, and an unknown adapter silently answers with the base
model. What it answers, and what goes wrong, is scripted by the test.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from outlines_core.fsm.json_schema import build_regex_from_schema

MODEL = "stand-in/base-7b"

TROUBLES: dict[str, tuple[int, Any]] = {
    "overloaded": (429, {"error": "Model is overloaded", "error_type": "overloaded"}),
    "unavailable": (503, {"error": "unhealthy", "error_type": "healthcheck"}),
    "generation": (424, {"error": "Request failed during generation: oom", "error_type": "generation"}),
    "incomplete": (500, {"error": "Incomplete generation", "error_type": "incomplete_generation"}),
    "unauthorized": (401, {"error": "Unauthorized", "error_type": "unauthorized"}),
}


@dataclass
class StandIn:
    """The router's state: how it answers, what is to go wrong next, and what it was asked."""

    answer: str = '{"triples":[]}'
    kind: str = "tgi"
    troubles: list[str] = field(default_factory=list)
    adapters: tuple[str, ...] = ()
    api_key: str | None = None
    seconds: float = 0.0
    requests: list[dict[str, Any]] = field(default_factory=list)
    probes: list[str] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    limit: int = 128
    url: str = ""

    def application(self) -> FastAPI:
        """Build the ASGI app."""
        app = FastAPI()

        @app.get("/info")
        async def info() -> Response:
            self.probes.append("/info")
            if self.kind != "tgi":
                return JSONResponse({"detail": "Not Found"}, status_code=404)
            return JSONResponse(
                {
                    "model_id": MODEL, "router": "text-generation-router", "version": "3.3.7",
                    "max_total_tokens": 4096, "max_input_tokens": 4095, "max_stop_sequences": 4,
                    "max_concurrent_requests": self.limit,
                }
            )  # fmt: skip

        @app.get("/v1/models")
        async def models() -> Response:
            self.probes.append("/v1/models")
            owner = MODEL if self.kind == "tgi" else self.kind
            names = (MODEL, *self.adapters)
            data = [{"id": name, "object": "model", "created": 0, "owned_by": owner} for name in names]
            return JSONResponse({"object": "list", "data": data})

        @app.post("/v1/chat/completions")
        async def chat(request: Request) -> Response:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            try:
                return await self._chat(request)
            finally:
                self.at_once -= 1

        return app

    async def _chat(self, request: Request) -> Response:
        try:
            body = json.loads(await request.body())
        except ValueError as error:
            return PlainTextResponse(f"Failed to parse the request body as JSON: {error}", status_code=422)
        self.requests.append(body)
        if self.api_key and request.headers.get("authorization") != f"Bearer {self.api_key}":
            return _trouble("unauthorized")
        await asyncio.sleep(self.seconds)
        trouble = self.troubles.pop(0) if self.troubles else ""
        if trouble in TROUBLES:
            return _trouble(trouble)
        if trouble == "web page":
            return Response("<html><body>It works!</body></html>", media_type="text/html")
        if trouble == "error inside 200":
            return JSONResponse({"error": {"message": "Input validation error", "http_status_code": 422}})
        wrong = _wrong(body)
        if wrong is not None:
            return wrong
        return JSONResponse(self._completion(body, trouble))

    def _completion(self, body: dict[str, Any], trouble: str) -> dict[str, Any]:
        text, reason = self.answer, "stop"
        if trouble == "truncated":
            text, reason = self.answer[: len(self.answer) // 2], "length"
        elif trouble == "broken json":
            text = self.answer[:-1] + " and so on"
        elif trouble == "empty":
            text = ""
        elif trouble == "no finish":
            reason = ""
        elif isinstance(body.get("response_format"), dict):
            schema = body["response_format"]["value"]
            assert re.fullmatch(build_regex_from_schema(json.dumps(schema)), text), (
                "answer outside the schema"
            )
        pieces = re.findall(r"\w+|\W", text)
        tokens = [{"token": piece, "logprob": -0.25, "top_logprobs": []} for piece in pieces]
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "logprobs": {"content": tokens} if body.get("logprobs") else None,
            "finish_reason": reason or None,
        }
        usage = {"prompt_tokens": 11, "completion_tokens": len(pieces), "total_tokens": 11 + len(pieces)}
        return {"object": "chat.completion", "id": "", "created": 0, "model": MODEL, "choices": [choice],
                "usage": usage, "system_fingerprint": "3.3.7-native"}  # fmt: skip


def _trouble(name: str) -> Response:
    status, body = TROUBLES[name]
    return JSONResponse(body, status_code=status)


def _invalid(message: str) -> Response:
    body = {"error": f"Input validation error: {message}", "error_type": "validation"}
    return JSONResponse(body, status_code=422)


def _wrong(body: dict[str, Any]) -> Response | None:
    """Refuse what TGI's deserialiser and validation refuse."""
    if "model" not in body or "messages" not in body:
        return PlainTextResponse("Failed to deserialize the JSON body into the target type", status_code=422)
    if not body["messages"]:
        return _invalid("`inputs` cannot be empty")
    if "max_tokens" not in body:
        return _invalid("the stand-in wants max_tokens: without it TGI generates up to its limit")
    shape = body.get("response_format")
    if shape is None:
        return None
    if body.get("tools"):
        return _invalid("Grammar and tools are mutually exclusive")
    if shape.get("type") != "json_schema" or "value" not in shape:
        return PlainTextResponse(
            "Failed to deserialize the JSON body into the target type: "
            "response_format: missing field `value`",
            status_code=422,
        )
    if "properties" not in shape["value"]:
        return _invalid("Grammar must have a 'properties' field")
    try:
        build_regex_from_schema(json.dumps(shape["value"]))
    except ValueError as error:
        return _invalid(f"grammar is not valid: {error}")
    return None


def free_port() -> int:
    """Give a port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(stand_in: StandIn) -> Iterator[StandIn]:
    """Serve the stand-in on a free port, in a thread."""
    port = free_port()
    config = uvicorn.Config(
        stand_in.application(), port=port, log_level="error", lifespan="off", loop="asyncio"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the stand-in did not start"
            time.sleep(0.01)
        stand_in.url = f"http://127.0.0.1:{port}"
        yield stand_in
    finally:
        server.should_exit = True
        thread.join(timeout=10)
