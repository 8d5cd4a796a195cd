"""The older graph store tests: one request and its response each, written as text, one after another.

They build on each other's effects, so they run in their order on one store. Two slips are corrected:
Turtle without its last dot, and a graph to be deleted that no test has made.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from urllib.parse import urlsplit

from benchmarks.w3c.manifest import RDFS, Test
from benchmarks.w3c.protocol import Request, graph_difference
from benchmarks.w3c.server_process import Answered, Server

_PARTS = re.compile(r"#### Request\n(?P<request>.*)#### Response\n(?P<response>.*)", re.DOTALL)
_DOTLESS = re.compile(r'"\n(?=\n|\Z)')


class GraphStoreText:
    """Runs these tests; remembers the address of the graph that one of them has made."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._new_path = ""
        server.update("DROP ALL")

    def run(self, test: Test) -> str | None:
        """Why a test fails; None if it passes."""
        if test.name.endswith("#delete__existing_graph"):
            turtle = {"Content-Type": "text/turtle"}
            self._server.send("PUT", "/store/person/2.ttl", turtle, b"<http://e/s> <http://e/p> 1 .")
        comment = next(one.text for one in test.entry.all(RDFS + "comment") if "#### Request" in one.text)
        parts = _PARTS.search(comment)
        assert parts is not None, f"{test.name} has no request and response"
        request = self._request(parts["request"])
        answer = self._server.send(request.method, request.target, request.headers, request.body)
        problem = self._problem(_dedented(self._filled(parts["response"])), answer)
        return problem and f"{request.method} {request.target}: {problem}"

    def _request(self, text: str) -> Request:
        head, body = _split(_dedented(self._filled(text)))
        method, target, _ = head[0].split()
        headers = _headers(head[1:])
        headers.pop("host", None)
        body = _DOTLESS.sub('" .\n', body)
        target = target if target.startswith("/") else "/" + target
        if "multipart" in headers.get("content-type", ""):
            body = body.replace("\n", "\r\n")
        return Request(method, target, headers, body.encode() if body else None)

    def _filled(self, text: str) -> str:
        variables = {"$HOST$": self._server.authority, "$GRAPHSTORE$": "store", "$NEWPATH$": self._new_path}
        # A text that says /$GRAPHSTORE$ in an IRI and $GRAPHSTORE$ in a request line means the same path.
        for name, value in variables.items():
            text = text.replace(name, value) if value else text
        return text

    def _problem(self, expected: str, answer: Answered) -> str | None:
        head, body = _split(expected)
        status = int(head[0].split()[0])
        # The protocol leaves it open whether success comes with words (5.3 to 5.5).
        allowed = {200, 204} if status in (200, 204) and not body else {status}
        if answer.status not in allowed:
            return f"expected {status}, got {answer.status}: {answer.body.decode()[:200]}"
        headers = _headers(head[1:])
        if headers.get("location") == "$NEWPATH$":
            if "location" not in answer.headers:
                return "there is no Location header"
            self._new_path = urlsplit(answer.headers["location"]).path
        media_type = headers.get("content-type", "").partition(";")[0]
        if media_type and answer.media_type != media_type and (body or status == 200):
            return f"expected {media_type}, got {answer.media_type}"
        return graph_difference(body.encode(), media_type, answer) if body else None


def _dedented(text: str) -> str:
    return textwrap.dedent(text).strip() + "\n"


def _split(text: str) -> tuple[list[str], str]:
    head, _, body = text.partition("\n\n")
    return head.strip().splitlines(), body.strip() and body.strip() + "\n"


def _headers(lines: list[str]) -> dict[str, str]:
    found: Mapping[str, str] = dict(line.split(": ", 1) for line in lines if ": " in line)
    return {name.lower(): value for name, value in found.items() if name != "Content-Length"}
