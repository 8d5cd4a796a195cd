"""Log lines are JSON (plain on a terminal), name their request, and never show what a client sent."""

import io
import json
import logging
import re

import httpx
import pytest

from server.monitoring.logs import JsonFormatter, PlainFormatter, begin_request, set_up_logs

SECRET = "very-secret-words"


@pytest.fixture
def lines() -> io.StringIO:
    """What is logged, at level info, in place of the test runner's own handlers."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    written = io.StringIO()
    set_up_logs("info", written)
    yield written
    root.handlers[:] = before
    root.setLevel(level)


def reported(lines: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in lines.getvalue().splitlines()]


def test_a_line_is_one_json_object_with_what_was_handed_over():
    record = logging.LogRecord("urbankg", logging.INFO, "file", 1, "took %s\nlines", ("two",), None)
    record.bytes = 7
    found = json.loads(JsonFormatter().format(record))
    assert found["message"] == "took two\nlines"
    assert (found["level"], found["logger"], found["bytes"]) == ("info", "urbankg", 7)
    assert found["time"].endswith("+00:00")


def test_a_terminal_gets_plain_lines_with_the_same_values():
    record = logging.LogRecord("urbankg", logging.WARNING, "file", 1, "took %s", ("long",), None)
    record.bytes = 7
    assert PlainFormatter().format(record)[8:] == " WARNING took long bytes=7"


def test_an_error_is_logged_by_its_class_and_places_and_not_by_its_message(lines: io.StringIO):
    try:
        raise ValueError(f"cannot parse {SECRET}")
    except ValueError:
        logging.getLogger("urbankg").exception("a request failed")
    assert SECRET not in lines.getvalue()
    (found,) = reported(lines)
    assert found["error"] == "ValueError"
    assert "test_logs.py" in found["places"][-1]


def test_libraries_that_write_addresses_are_kept_quiet(lines: io.StringIO):
    logging.getLogger("httpx").info("HTTP Request: GET http://example.org/?key=%s", SECRET)
    assert lines.getvalue() == ""


def test_the_level_decides_what_is_written(lines: io.StringIO):
    set_up_logs("error", lines)
    logging.getLogger("urbankg").warning("not logged")
    logging.getLogger("urbankg").error("logged")
    assert [line["message"] for line in reported(lines)] == ["logged"]


@pytest.mark.parametrize("given", [None, "", "with blank", "x" * 65, 'quote"', "line\nbreak"])
def test_an_identifier_that_is_not_plain_is_replaced(given: str | None):
    ours = begin_request(given)
    assert ours != given
    assert re.fullmatch(r"[0-9a-f]{16}-[0-9a-f]+", ours)
    assert begin_request("abc-1.2_3") == "abc-1.2_3"


async def test_a_request_is_one_line_without_its_query_headers_or_body(
    lines: io.StringIO, client: httpx.AsyncClient
):
    response = await client.post(
        f"/sparql?{SECRET}=1",
        content=f"SELECT * WHERE {{ ?s ?p '{SECRET}' }}",
        headers={
            "content-type": "application/sparql-query",
            "x-request-id": "mine-1",
            "user-agent": SECRET,
        },
    )
    assert response.headers["x-request-id"] == "mine-1"
    await client.get(f"/{SECRET}")
    assert SECRET not in lines.getvalue()
    answered = [line for line in reported(lines) if line["logger"] == "urbankg.requests"]
    assert [(line["method"], line["route"], line["status"]) for line in answered] == [
        ("POST", "/sparql", response.status_code),
        ("GET", "none", 404),
    ]
    assert answered[0]["request"] == "mine-1"
    assert answered[0]["ms"] > 0
