"""The recorded model behind HTTP, as a text-generation-inference server answers.

    python -m tests.support.recorded.server --delay 0.05 [--replies FILE]

Prints its address, says in /info how many requests it takes at a time, and answers each after the delay: with
the reply that a file of JSON lines (`{"text", "reply"}`) holds for the text, else with what the frames say.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

import uvicorn
from fastapi import FastAPI, Request

from tests.support.recorded.frames import reply_to

MODEL = "recorded/frames"
PLAN = '{"steps": [{"op": "count"}]}'
"""What it answers where a plan of a question is wanted."""


@dataclass
class RecordedServer:
    """What it answers; `asked` counts the questions, by their text."""

    delay_s: float = 0.0
    at_once: int = 8
    asked: dict[str, int] = field(default_factory=dict)
    busy: int = 0
    busiest: int = 0
    failing: str | None = None
    """Texts with this word are answered with nonsense."""
    replies: Mapping[str, str] = field(default_factory=dict)
    """Replies by text, which come before those of the frames."""
    url: str = ""

    def application(self) -> FastAPI:
        """The ASGI application."""
        app = FastAPI()

        @app.get("/info")
        async def info() -> dict[str, Any]:
            return {
                "model_id": MODEL,
                "router": "recorded",
                "max_total_tokens": 8192,
                "max_concurrent_requests": self.at_once,
            }

        @app.get("/v1/models")
        async def models() -> dict[str, Any]:
            return {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": MODEL}]}

        @app.post("/v1/chat/completions")
        async def chat(request: Request) -> dict[str, Any]:
            self.busy += 1
            self.busiest = max(self.busiest, self.busy)
            try:
                return await self._chat(await request.json())
            finally:
                self.busy -= 1

        return app

    async def _chat(self, body: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(self.delay_s)
        text = str(body["messages"][-1]["content"]).rpartition("<text>")[2].partition("</text>")[0].strip()
        self.asked[text] = self.asked.get(text, 0) + 1
        # The schema follows the text where the server takes none.
        answer = self.replies.get(text.partition("\n")[0]) or reply_to(text)
        if self.failing is not None and self.failing in text:
            answer = "I do not know."
        if _plans(body):
            answer = PLAN
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": answer},
            "logprobs": None,
            "finish_reason": "stop",
        }
        # There is no tokenizer: English has some four characters a token.
        asked, said = (max(1, size // 4) for size in (_characters(body), len(answer)))
        usage = {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
        return {"object": "chat.completion", "id": "", "created": 0, "model": MODEL, "choices": [choice],
                "usage": usage}  # fmt: skip


def _characters(body: dict[str, Any]) -> int:
    """The length of everything that is sent."""
    return sum(len(str(message["content"])) for message in body["messages"])


def read_replies(file: Path) -> dict[str, str]:
    """The replies of a file by their text."""
    rows = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    return {row["text"]: row["reply"] for row in rows}


def _plans(body: dict[str, Any]) -> bool:
    """Whether a plan is asked for: the schema is spelled out in the prompt, as this server takes none."""
    return any('"steps"' in str(message["content"]) for message in body["messages"])


@contextmanager
def serving(model: RecordedServer) -> Iterator[RecordedServer]:
    """Serve it in a thread of this process; `url` is where."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        model.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(model.application(), log_level="error", lifespan="off", loop="asyncio")
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            while not server.started:
                sleep(0.01)
            yield model
        finally:
            server.should_exit = True
            thread.join()


def main() -> None:
    """Serve until ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds a reply takes")
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--replies", type=Path, help="JSON lines with a text and the reply to it")
    options = parser.parse_args()
    replies = read_replies(options.replies) if options.replies else {}
    model = RecordedServer(delay_s=options.delay, at_once=options.at_once, replies=replies)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), flush=True)
        config = uvicorn.Config(model.application(), log_level="error", lifespan="off", loop="uvloop")
        uvicorn.Server(config).run([listening])


if __name__ == "__main__":
    main()
