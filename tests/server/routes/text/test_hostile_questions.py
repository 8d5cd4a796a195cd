"""Questions that are made to cost much end in time, and nobody else waits for them: over a real server."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from sparql.ask.budget import COMPUTING_S, QUERYING_S
from tests.server.routes.text.test_ask import CITY
from tests.support.running_server import RunningServer
from tests.support.waiting import wait_until

MARGIN_S = 0.5
NEAR = "museums near museums in boroughs "
QUESTIONS = {
    "a name six times": " ".join(["Northtown"] * 6),
    "a name 39 times": " ".join(["Northtown"] * 39),
    "two names in turn": " ".join(["Northtown", "Clock Museum"] * 13),
    "one class 39 times": " ".join(["museum"] * 39),
    "unknown names": " ".join(["Xyzzy", "Plugh"] * 19),
    "names with typos": " ".join(["Nortown", "Clok", "Musem"] * 13),
    "a thousand characters": ("museum near " * 100)[:1000],
    "letters": " ".join("abcdefghij" * 50),
    "of the of the": "of the " * 19 + "museum",
    "things of things": "museums of the museum " * 9,
    "only stop words": "the of in and by " * 7,
    "only marks": ",;:.!?" * 100,
    "emoji": "\N{SPARKLES}\N{CLASSICAL BUILDING} " * 100,
    "right to left": "\u202e\u0645\u062a\u062d\u0641 museum \u05de\u05d5\u05d6\u05d9\u05d0\u05d5\u05df " * 12,
    "NULs": "museums\x00in\x00Northtown\x00" * 9,
    "control characters": "".join(map(chr, range(32))) * 20 + "museums",
    "a long number": "museums opened after " + "9" * 900,
    "many numbers": "museums within 1 km and 2 km and 3 km of Northtown " * 3,
    "quotes": "\"'`\u2019\\" * 150 + "museums",
    "SPARQL": 'SELECT * WHERE { ?s ?p "x" } ; DROP ALL # museums',
    "JSON": json.dumps([[["museums"] * 10] * 5] * 2),
    "and or not": "museums or not museums and " * 9 + "museums",
    "comparisons": "larger than museums newer than " * 9 + "Northtown",
    "near in a circle": "museums near museums in boroughs near museums in boroughs",
    "a chain of near": NEAR * 6,
    "one near after another": "museums near " * 19 + "museums",
    "each in each": "how many museums in each borough " + "in each borough " * 9,
}
LOOKUP = {"query": "SELECT ?o { <https://w3id.org/urbankg/id/a> ?p ?o }"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with RunningServer(tmp_path_factory.mktemp("hostile") / "data") as server:
        turtle = {"content-type": "text/turtle"}
        answer = httpx.post(server.url + "/candidates", content=CITY, headers=turtle, timeout=60)
        assert answer.json()["rejected"] == []
        warm = {"question": "Which museums are in Northtown?"}
        assert httpx.post(server.url + "/ask", json=warm, timeout=60).json()["answer"]
        yield server


class Lookups:
    """Another client that looks something up all the time; `slow_s` is its 99th percentile."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._over = threading.Event()
        self._seconds: list[float] = []
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Lookups":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        with httpx.Client(timeout=60) as client:
            while not self._over.is_set():
                started = time.perf_counter()
                assert client.post(self._url + "/query", data=LOOKUP).status_code == 200
                self._seconds.append(time.perf_counter() - started)
                time.sleep(0.005)

    @property
    def slow_s(self) -> float:
        assert len(self._seconds) > 100
        return sorted(self._seconds)[int(len(self._seconds) * 0.99)]


def test_hostile_questions_end_in_time_with_words_while_others_are_answered(server: RunningServer):
    late: dict[str, float] = {}
    with Lookups(server.url) as alone:
        time.sleep(3)
    with Lookups(server.url) as others, httpx.Client(timeout=60) as client:
        for name, question in QUESTIONS.items():
            started = time.perf_counter()
            answer = client.post(server.url + "/ask", json={"question": question[:1000]})
            seconds = time.perf_counter() - started
            found = answer.json()
            if answer.status_code == 200:
                assert found["answer"] or found["gaps"], name
            else:
                assert answer.status_code == 422, (name, answer.text)
                assert found["detail"].endswith((".", "?")), name
            if seconds > COMPUTING_S + MARGIN_S and not ("near" in name and seconds < QUERYING_S + 2):
                late[name] = seconds
    assert late == {}
    # A machine that is busy with other things is slow without any question.
    assert others.slow_s < max(0.2, 3 * alone.slow_s)


def test_what_cannot_be_planned_in_time_is_refused_as_too_involved(server: RunningServer):
    answer = httpx.post(server.url + "/ask", json={"question": "word " * 150}, timeout=60)
    assert answer.status_code == 422
    assert answer.json()["title"] == "Question too involved"
    assert "150 words" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"question": "museums " * 2000}, "question"),
        ({"question": "Which museums?", "context": "x" * 16_000}, "context"),
        ({"question": "And in Queens?", "history": ["x" * 16_000]}, "history.0"),
        ({"question": "And in Queens?", "history": ["Which museums?"] * 100}, "history"),
    ],
)
def test_what_is_too_long_to_be_read_is_refused_with_the_limit(
    server: RunningServer, body: dict[str, object], place: str
):
    answer = httpx.post(server.url + "/ask", json=body, timeout=60)
    assert answer.status_code == 422
    (problem,) = answer.json()["errors"]
    assert problem["place"] == place
    assert "at most" in problem["message"]


def test_a_question_ends_when_its_client_leaves(server: RunningServer):
    body = json.dumps({"question": " ".join(["Northtown", "Clock Museum", "Rope Museum"] * 7)}).encode()
    head = f"POST /ask HTTP/1.1\r\nHost: {httpx.URL(server.url).netloc.decode()}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    address = httpx.URL(server.url)
    for _ in range(10):
        with socket.create_connection((address.host, address.port or 80)) as client:
            client.sendall(head.encode() + body)
            time.sleep(0.06)
    started = time.perf_counter()
    answer = httpx.post(server.url + "/ask", json={"question": "Which museums are in Northtown?"}, timeout=60)
    assert answer.json()["answer"]
    # Ten questions of a second each would have been before it.
    assert time.perf_counter() - started < 3


def test_sixty_questions_without_a_key_leave_next_to_nothing_on_the_disk(server: RunningServer):
    with httpx.Client(timeout=60) as client:
        for number in range(60):
            body = {
                "question": f"Who designed the Mirror Palace {number}?",
                "context": " " * 900,
                "history": ["x " * 490] * 20,
            }
            client.post(server.url + "/ask", json=body)
        listed = client.get(server.url + "/gaps", params={"limit": 1000})
    assert listed.json()["total"] >= 1
    assert len(listed.content) < 500_000
    files = Path(server.data).glob("gaps.sqlite*")
    assert sum(one.stat().st_size for one in files) < 8_000_000


def test_a_server_is_alive_after_all_of_that(server: RunningServer):
    wait_until(lambda: httpx.get(server.url + "/healthz", timeout=10).status_code == 200, seconds=10)
