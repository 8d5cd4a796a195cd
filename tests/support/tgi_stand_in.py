"""A strict stand-in for a text-generation-inference router and its relatives, for contract tests.

It takes what they take (`tgi_rules`), answers as they answer (streams, logprobs, usage, errors), decodes
under the schema as they do (outlines-core), and answers for an unknown adapter with the base model. What it
says, and what goes wrong, is scripted by the test.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import math
import re
import socket
import threading
import time
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from outlines_core.fsm.json_schema import build_regex_from_schema

from extractors.models.http.servers import CANARY_SCHEMA
from tests.support.tgi_rules import (
    MAX_TOTAL_TOKENS,
    Refusal,
    chat_refusal,
    generate_refusal,
    relative_refusal,
    tgi_schema,
)

MODEL = "stand-in/base-7b"
PROSE = "June is the month that comes after May."

TROUBLES: dict[str, tuple[int, Any]] = {
    "overloaded": (429, {"error": "Model is overloaded", "error_type": "overloaded"}),
    "unavailable": (503, {"error": "unhealthy", "error_type": "healthcheck"}),
    "generation": (424, {"error": "Request failed during generation: oom", "error_type": "generation"}),
    "incomplete": (500, {"error": "Incomplete generation", "error_type": "incomplete_generation"}),
}
STREAM_ERRORS: dict[str, dict[str, Any]] = {
    "error in stream": {"error": "Request failed during generation: oom", "error_type": "generation"},
    "overload in stream": {"error": "Model is overloaded", "error_type": "overloaded"},
    "broken in stream": {
        "error": {"message": "Request failed during generation: oom", "http_status_code": 422}
    },
    "chat error in stream": {"error": {"message": "Input validation error: no", "http_status_code": 422}},
    "vllm error in stream": {"error": {"message": "engine died", "type": "InternalServerError", "code": 500}},
}


@dataclass
class StandIn:
    """The router's state: how it answers, what is to go wrong next, and what it was asked.

    `kind` "gateway" is a TGI whose /info cannot be reached. `adapters` are loaded and listed (TGI lists
    none), `unlisted` loaded alone. `follows_schemas` is off for one that drops schemas. `zips`: bodies come
    in gzip. `refused` are the answers to requests that the rules refuse, `callers` the ports of the callers.
    `writes` says how a plain prompt goes on, by how its last line begins: the probability that it is not
    " none", and the words then. `completions` are the bodies of such requests.
    """

    answer: str = '{"triples":[]}'
    kind: str = "tgi"
    troubles: list[str] = field(default_factory=list)
    adapters: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    steady: bool = True
    follows_schemas: bool = True
    streams: bool = True
    retry_after: str | None = None
    api_key: str | None = None
    limit: int = 128
    version: str = "3.3.7"
    gate: threading.Event = field(default_factory=threading.Event)
    held: int = 0
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    canaries: list[dict[str, Any]] = field(default_factory=list)
    samples: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    probes: list[str] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    abandoned: int = 0
    writes: dict[str, tuple[float, str]] = field(default_factory=dict)
    completions: list[dict[str, Any]] = field(default_factory=list)
    completions_at_once: int = 0
    most_completions_at_once: int = 0
    silent_logprobs: bool = False
    zips: bool = False
    refused: list[Refusal] = field(default_factory=list)
    callers: list[int] = field(default_factory=list)

    @property
    def is_tgi(self) -> bool:
        return self.kind in ("tgi", "gateway")

    @property
    def rules(self) -> str:
        """The version whose rules hold, as `tgi_rules` names it."""
        return ".".join(self.version.split(".")[:2])

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
                    "model_id": MODEL, "router": "text-generation-router", "version": self.version,
                    "max_total_tokens": MAX_TOTAL_TOKENS, "max_input_tokens": MAX_TOTAL_TOKENS - 1,
                    "max_stop_sequences": 4, "max_concurrent_requests": self.limit,
                }
            )  # fmt: skip

        @app.get("/v1/models")
        async def models() -> Response:
            self.probes.append("/v1/models")
            owner = MODEL if self.is_tgi else self.kind
            data: list[dict[str, Any]] = [{"id": MODEL, "object": "model", "owned_by": owner}]
            parent = MODEL if self.kind in ("vllm", "sglang") else None
            listed = () if self.is_tgi else self.adapters
            data += [{"id": name, "object": "model", "owned_by": owner, "parent": parent}
                     for name in listed]  # fmt: skip
            return JSONResponse({"object": "list", "data": data})

        @app.get("/version")
        async def version() -> Response:
            return JSONResponse({"version": self.version} if self.kind == "vllm" else {})

        @app.get("/props")
        async def props() -> Response:
            if self.kind != "llamacpp":
                return JSONResponse({"detail": "Not Found"}, status_code=404)
            settings = {"n_ctx": MAX_TOTAL_TOKENS}
            return JSONResponse({"total_slots": self.limit, "default_generation_settings": settings})

        @app.get("/lora-adapters")
        async def lora() -> Response:
            return JSONResponse([{"id": 0, "path": f"/models/{n}.gguf", "scale": 1.0} for n in self.unlisted])

        @app.post("/v1/chat/completions")
        async def chat(request: Request) -> Response:
            return await self._chat(request)

        @app.post("/generate" if self.is_tgi else "/v1/completions")
        async def complete(request: Request) -> Response:
            return await self._complete(request)

        return app

    async def _complete(self, request: Request) -> Response:
        raw = await request.body()
        body: dict[str, Any] | Refusal = json.loads(raw)
        if self.is_tgi:
            body = generate_refusal(raw, request.headers.get("content-type", ""), self.rules)
        if isinstance(body, Refusal):
            self.refused.append(body)
            return _refused(body)
        self.completions.append(body)
        self.completions_at_once += 1
        self.most_completions_at_once = max(self.most_completions_at_once, self.completions_at_once)
        await asyncio.sleep(0.01)
        self.completions_at_once -= 1
        trouble = self.troubles.pop(0) if self.troubles else ""
        if trouble in TROUBLES:
            status, message = TROUBLES[trouble]
            return JSONResponse(message, status_code=status)
        if self.silent_logprobs:
            return JSONResponse({"choices": [{"text": " none", "finish_reason": "stop"}]})
        return JSONResponse(completion(self.writes, body))

    async def _chat(self, request: Request) -> Response:
        self.headers.append(dict(request.headers))
        self.callers.append(request.client.port if request.client else 0)
        if self.api_key and request.headers.get("authorization") != f"Bearer {self.api_key}":
            if self.is_tgi:
                return Response(status_code=401)
            message = f"Unauthorized: Incorrect key {request.headers.get('authorization')}"
            return JSONResponse({"error": message, "error_type": "unauthorized"}, status_code=401)
        raw = await request.body()
        if self.is_tgi:
            body = chat_refusal(raw, request.headers.get("content-type", ""), self.rules)
        else:
            body = relative_refusal(raw, self.kind, (MODEL, *self.adapters))
        if isinstance(body, Refusal):
            self.refused.append(body)
            if raw:
                self._note(json.loads(raw))
            late = body.late and self.streams and json.loads(raw).get("stream")
            return self._late(body.body) if late else _refused(body)
        noted = self._note(body)
        trouble = self.troubles.pop(0) if noted and self.troubles else ""
        streamed = bool(body.get("stream") and self.streams)
        if trouble in TROUBLES:
            status, message = TROUBLES[trouble]
            if self.is_tgi and streamed and trouble != "unavailable":
                return self._late(message)
            headers = {"retry-after": self.retry_after} if self.retry_after else {}
            return JSONResponse(message, status_code=status, headers=headers)
        if trouble == "web page":
            return Response("<html><body>It works!</body></html>", media_type="text/html")
        if trouble == "key in error":
            words = f"no access with {request.headers.get('authorization')}"
            return JSONResponse({"error": {"message": words}}, status_code=403)
        if trouble == "error inside 200":
            return JSONResponse({"error": {"message": "Something went wrong"}})
        if trouble == "broken gzip":
            return Response(b"no gzip at all", headers={"content-encoding": "gzip"})
        text, reason = self._text(body, trouble), "length" if trouble == "truncated" else "stop"
        most = body.get("max_tokens") or body.get("max_completion_tokens") or 100
        if len(_pieces(text)) > most:
            text, reason = "".join(_pieces(text)[:most]), "length"
        if trouble == "no finish":
            reason = ""
        zipped = {"content-encoding": "gzip"} if self.zips else {}
        if streamed:
            stream = self._stream(request, body, text, reason, trouble)
            content = _zipped(stream) if self.zips else stream
            return StreamingResponse(content, media_type="text/event-stream", headers=zipped)
        whole = json.dumps(self._completion(body, text, reason)).encode()
        return Response(gzip.compress(whole) if self.zips else whole, headers=zipped,
                        media_type="application/json")  # fmt: skip

    def _late(self, message: dict[str, Any] | str) -> Response:
        """An error after the stream was begun: 2.4 leaves it out, and later ones say 422 whatever it is."""
        assert isinstance(message, dict)
        event = _event({"error": {"message": message["error"], "http_status_code": 422}})
        return Response(
            ("" if self.rules == "2.4" else event) + "data: [DONE]\n\n", media_type="text/event-stream"
        )

    def _note(self, body: dict[str, Any]) -> bool:
        """Put a request where tests look for it; True for one that is no trying out."""
        if schema_of(body) == CANARY_SCHEMA:
            self.canaries.append(body)
            return False
        if "Alder Hall" in str(body.get("messages")):
            self.samples.append(body)
            return False
        self.requests.append(body)
        return True

    def _text(self, body: dict[str, Any], trouble: str) -> str:
        if "Alder Hall" in str(body["messages"]):
            in_force = body.get("model") in (*self.adapters, *self.unlisted)
            unsteady = "" if self.steady else f" {len(self.samples)}"
            return ('{"triples": [' if in_force else "Alder Hall is a museum") + unsteady
        schema = schema_of(body) if self.follows_schemas else None
        if trouble == "empty":
            return ""
        if trouble == "truncated":
            return self.answer[: len(self.answer) // 2]
        if trouble == "broken json":
            return self.answer[:-1] + " and so on"
        if trouble == "white space":
            return self.answer[:-1] + " " * 5000
        if trouble == "white space after":
            return self.answer + "\n" * 5000
        if trouble == "off the schema":
            return '{"facts": [], "more": "' + "and so on " * 500 + '"}'
        if schema is None:
            asked_for_one = body.get("response_format") is not None
            return PROSE if asked_for_one and schema_of(body) == CANARY_SCHEMA else self.answer
        pattern = build_regex_from_schema(json.dumps(schema))
        return self.answer if re.fullmatch(pattern, self.answer) else json.dumps(sample(schema))

    async def _stream(
        self, request: Request, body: dict[str, Any], text: str, reason: str, trouble: str
    ) -> AsyncIterator[str]:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        whole = False
        try:
            while self.held and not self.gate.is_set():
                await asyncio.sleep(0.005)
            yield ": keep-alive\n\n"
            if self.kind in ("llamacpp", "vllm"):
                yield _event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]})
            pieces = _pieces(text)
            for number, piece in enumerate(pieces):
                if number == 2 and trouble in STREAM_ERRORS:
                    yield _event(STREAM_ERRORS[trouble]) + "data: [DONE]\n\n"
                    whole = True
                    return
                if number == 2 and trouble == "dropped":
                    raise ConnectionError("the router died")
                if number == 2 and trouble == "silence":
                    while not await request.is_disconnected():
                        await asyncio.sleep(0.005)
                    return
                if number % 50 == 49:
                    await asyncio.sleep(0)
                yield _event(self._chunk(body, piece, None))
            if trouble == "nested":
                yield "data: " + "[" * 100_000 + "\n\n"
            if trouble == "garbled":
                yield "data: {not json\n\n"
            usage = _usage(len(pieces)) if (body.get("stream_options") or {}).get("include_usage") else None
            in_last = self.is_tgi and self.rules in ("2.4", "3.0")
            if reason:
                yield _event({**self._chunk(body, "", reason), "usage": usage if in_last else None})
            if usage and not in_last:
                yield _event({"choices": [], "model": MODEL, "usage": usage})
            if trouble != "no finish":
                yield "data: [DONE]\n\n"
            whole = True
        finally:
            self.abandoned += not whole
            self.at_once -= 1

    def _chunk(self, body: dict[str, Any], piece: str, reason: str | None) -> dict[str, Any]:
        # The last token is the end of the sequence: it has a text in logprobs and none in the content.
        entry = {"token": piece or "<|im_end|>", "logprob": -0.25, "top_logprobs": []}
        delta = {"role": "assistant", "content": piece} if piece or self.is_tgi else {}
        choice = {
            "index": 0,
            "delta": delta,
            "logprobs": {"content": [entry]} if body.get("logprobs") else None,
            "finish_reason": reason,
        }
        return {"object": "chat.completion.chunk", "id": "", "created": 0, "model": MODEL,
                "choices": [choice], "usage": None}  # fmt: skip

    def _completion(self, body: dict[str, Any], text: str, reason: str) -> dict[str, Any]:
        pieces = _pieces(text)
        tokens = [{"token": piece, "logprob": -0.25, "top_logprobs": []} for piece in pieces]
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "logprobs": {"content": tokens} if body.get("logprobs") else None,
            "finish_reason": reason or None,
        }
        return {"object": "chat.completion", "id": "", "created": 0, "model": MODEL, "choices": [choice],
                "usage": _usage(len(pieces)), "system_fingerprint": f"{self.version}-native"}  # fmt: skip


def schema_of(body: dict[str, Any]) -> dict[str, Any] | None:
    """The schema that a request asks for: TGI reads `value`, the others `json_schema`."""
    shape = body.get("response_format")
    if not isinstance(shape, dict):
        return None
    found = tgi_schema(shape) if "value" in shape else (shape.get("json_schema") or {}).get("schema")
    return found if isinstance(found, dict) else None


def sample(schema: dict[str, Any]) -> Any:
    """A document of the schema."""
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    if "anyOf" in schema:
        return sample(schema["anyOf"][0])
    if "properties" in schema:
        return {name: sample(below) for name, below in schema["properties"].items()}
    if schema.get("type") == "array":
        return [sample(schema["items"])] * schema.get("minItems", 0)
    return {"string": "Lyon", "integer": 3, "number": 1.5, "boolean": True}.get(schema.get("type", "null"))


def _pieces(text: str) -> list[str]:
    return re.findall(r"\w+|\W", text)


def _usage(tokens: int) -> dict[str, int]:
    return {"prompt_tokens": 11, "completion_tokens": tokens, "total_tokens": 11 + tokens}


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"


async def _zipped(stream: AsyncIterator[str]) -> AsyncIterator[bytes]:
    press = zlib.compressobj(wbits=31)
    async for piece in stream:
        yield press.compress(piece.encode()) + press.flush(zlib.Z_SYNC_FLUSH)
    yield press.flush()


def _refused(refusal: Refusal) -> Response:
    if isinstance(refusal.body, str):
        return PlainTextResponse(refusal.body, status_code=refusal.status)
    return JSONResponse(refusal.body, status_code=refusal.status)


def free_port() -> int:
    """Give a port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(stand_in: StandIn, port: int | None = None) -> Iterator[StandIn]:
    """Serve the stand-in on a free port, in a thread."""
    port = port or free_port()
    config = uvicorn.Config(
        stand_in.application(), port=port, log_level=100, lifespan="off", loop="asyncio", workers=1
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
        stand_in.gate.set()
        server.should_exit = True
        thread.join(timeout=60)


def completion(writes: dict[str, tuple[float, str]], body: dict[str, Any]) -> dict[str, Any]:
    """A plain completion, as TGI or the others give it: word by word, " none" where nothing is written."""
    prompt = body.get("inputs") or body["prompt"]
    line = prompt.rpartition("\n")[2]
    presence, words = next((writes[key] for key in writes if line.startswith(key)), (0.0, ""))
    said = line.partition(":")[2]
    pieces = [piece for piece in re.split(r"(?= )|(?<=\n)|(?=\n)", words) if piece]
    rest = re.split(r"(?= )|(?<=\n)|(?=\n)", words[len(said) :])
    limit = body["parameters"]["max_new_tokens"] if "inputs" in body else body["max_tokens"]
    none, first = max(1 - presence, 1e-9), max(presence, 1e-9)
    if not said:
        tops = {" none": math.log(none), **({pieces[0]: math.log(first)} if pieces else {})}
        rest = [max(tops, key=lambda word: tops[word]), *pieces[1:]]
    else:
        rest = [piece for piece in rest if piece]
        tops = {rest[0]: math.log(0.9)} if rest else {}
    logs = [tops.get(piece, math.log(0.9)) for piece in rest[:limit]]
    reason = "length" if len(rest) > limit else "stop"
    if "inputs" in body:
        tokens = [{"id": 1, "text": w, "logprob": log, "special": False}
                  for w, log in zip(rest[:limit], logs, strict=True)]  # fmt: skip
        tokens = tokens or [{"id": 2, "text": "<|im_end|>", "logprob": 0.0, "special": True}]
        top = [{"id": 1, "text": w, "logprob": log, "special": False} for w, log in tops.items()]
        details = {"finish_reason": "length" if reason == "length" else "eos_token",
                   "generated_tokens": len(tokens), "tokens": tokens, "top_tokens": [top]}  # fmt: skip
        return {"generated_text": "".join(rest[:limit]), "details": details}
    ended = rest[:limit] or ["<|im_end|>"]
    logprobs = {"tokens": ended, "token_logprobs": logs or [0.0], "top_logprobs": [tops]}
    choice = {"index": 0, "text": "".join(rest[:limit]), "finish_reason": reason, "logprobs": logprobs}
    return {"object": "text_completion", "choices": [choice], "usage": _usage(len(ended))}
