"""What is accepted as documents: every form, and what is wrong with one, reported with its line."""

import asyncio
import gzip
import io
import json
import tracemalloc
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.errors import ServerError
from server.jobs.body import accept, records_of_files
from server.jobs.job import JobRequest, RecordTooLong, RecordUnreadable
from server.jobs.record import Record, csv_rows, json_items, json_lines
from server.jobs.store import JobStore
from server.services import Services
from tests.server.jobs.conftest import documents, until

ROWS = [{"text": "Larnford is a city.", "id": 7}, {"text": "Zoë's\nhouse", "name": "b", "source": "box"}]
RECORDS = [Record("Larnford is a city.", "7"), Record("Zoë's\nhouse", "b", "box")]
CSV = 'id,text,source\r\n7,Larnford is a city.,\r\nb,"Zoë\'s\nhouse",box\r\n'
TEXTS = st.lists(st.text(st.characters(codec="utf-8"), max_size=50), max_size=20)


def read(reader, content: str | bytes, longest: int = 1000) -> list[Record]:
    raw = content.encode() if isinstance(content, str) else content
    return list(reader(io.BytesIO(raw), longest))


@pytest.mark.parametrize(
    ("reader", "content"),
    [
        (json_lines, "\n".join(json.dumps(row) for row in ROWS)),
        (json_lines, "\ufeff" + "\n\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS) + "\n"),
        (json_items, json.dumps(ROWS, indent=2)),
        (json_items, "\ufeff" + json.dumps(ROWS)),
        (json_items, "\n".join(json.dumps(row, indent=1) for row in ROWS)),
        (csv_rows, CSV),
        (csv_rows, "\ufeff" + CSV),
    ],
)
def test_every_form_gives_the_same_records(reader, content: str):
    assert read(reader, content) == RECORDS


@given(TEXTS)
@settings(max_examples=20, deadline=None)
def test_no_text_is_changed_by_the_way_it_is_sent(texts: list[str]):
    rows = [{"text": text} for text in texts]
    expected = [Record(text) for text in texts]
    assert read(json_items, json.dumps(rows)) == expected
    assert read(json_items, "".join(json.dumps(row, ensure_ascii=False) for row in rows)) == expected
    assert read(json_lines, "\n".join(json.dumps(row) for row in rows)) == expected


@pytest.mark.parametrize(
    ("reader", "content", "line", "word"),
    [
        (json_lines, '{"text": "a"}\n{"text": ', 2, "JSON"),
        (json_lines, '{"text": "a"}\n\n["b"]', 3, "object"),
        (json_lines, '{"text": "a"}\n{"txt": "b"}', 2, "'text'"),
        (json_lines, '{"text": 5}', 1, "'text'"),
        (json_lines, '{"text": "a", "name": []}', 1, "'name'"),
        (json_lines, b'{"text": "a"}\n{"text": "caf\xe9"}', 2, "UTF-8"),
        (json_lines, '{"text": "\\ud800"}', 1, "surrogate"),
        (json_lines, "[" * 50_000, 1, "deep"),
        (json_lines, '{"text": "a", "n": ' + "1" * 5000 + "}", 1, "digits"),
        (json_items, '[{"text": "a"},\n{"text": "b"}', 2, "cut off"),
        (json_items, '[{"text": "a"}\n{"text": "b"}]', 2, "comma"),
        (json_items, '[{"text": "a"}]\n[]', 2, "end"),
        (json_items, '[{"text": "a"},\n\n{"text": "b", }]' + " " * 100, 3, "JSON"),
        (json_items, '[\n{"text": "a"', 2, "JSON"),
        (json_items, "[[1]]", 1, "object"),
        (json_items, b'[{"text": "caf\xe9"}]', 1, "UTF-8"),
        (csv_rows, "id,txt\n1,a\n", 1, "'text'"),
        (csv_rows, "", 1, "'text'"),
        (csv_rows, 'text\na\n"b', 3, "CSV"),
        (csv_rows, "text\na\nb,c\n", 3, "more fields"),
        (csv_rows, "id,text\n1,a\n2\n", 3, "'text'"),
        (csv_rows, b"text\na\ncaf\xe9\n", 3, "UTF-8"),
    ],
)
def test_what_cannot_be_read_is_reported_with_its_line(reader, content: str | bytes, line: int, word: str):
    with pytest.raises(RecordUnreadable, match=word) as raised:
        read(reader, content)
    assert raised.value.line == line


@pytest.mark.parametrize(
    ("reader", "content", "line"),
    [
        (json_lines, '{"text": "a"}\n{"text": "' + "b" * 1001 + '"}', 2),
        (json_lines, '{"text": "a"}\n{"text": "' + "b" * 200_000, 2),
        (json_items, '[{"text": "a"},\n{"text": "' + "b" * 1001 + '"}]', 2),
        (json_items, '[{"text": "a"},\n{"text": "' + "b" * 500_000 + '"}]', 2),
        (csv_rows, "text\na\n" + "b" * 1001 + "\n", 3),
        (csv_rows, 'text\na\n"' + "b" * 300_000 + '"\n', 3),
    ],
)
def test_a_text_over_the_limit_is_reported_with_its_line(reader, content: str, line: int):
    with pytest.raises(RecordTooLong) as raised:
        read(reader, content)
    assert raised.value.line == line


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("application/jsonl", b'{"text": "Larnford is a city."}\n{"text": "Brinwick is a city."}'),
        (
            "application/json; charset=utf-8",
            b'[{"text": "Corley is a city."},{"text": "Dunmere is a city."}]',
        ),
        ("text/csv", b"text\nElstow is a city.\nFenwick is a city.\n"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n'
            b'Content-Type: application/octet-stream\r\n\r\n{"text": "Garth is a city."}\r\n'
            b'--x\r\nContent-Disposition: form-data; name="file"; filename="b.txt"\r\n'
            b"Content-Type: text/plain\r\n\r\nHolme is a city.\r\n--x--\r\n",
        ),
    ],
)
async def test_every_form_is_taken_over_http_packed_or_not(
    shared_jobs: httpx.AsyncClient, kind: str, content: bytes
):
    found = []
    for coding, body in (("identity", content), ("gzip", gzip.compress(content))):
        headers = {"content-type": kind, "content-encoding": coding}
        answer = await shared_jobs.post("/jobs", content=body, headers=headers)
        assert answer.status_code == 202, answer.text
        assert answer.json()["total"] == 2
        found.append((await until(shared_jobs, answer.json()["id"], "done"))["documents"])
    assert [one["committed"] for one in found] == [2, 0]
    assert found[1]["duplicate"] == 2


async def test_what_cannot_be_taken_is_refused_and_leaves_nothing(
    jobs_api: httpx.AsyncClient, office: Services
):
    cases = (
        ("application/x-ndjson", b'{"text": "a"}\n{"text": ', 400, "Line 2"),
        ("application/x-ndjson", b'{"text": "%s"}' % (b"a" * 1001), 413, "Line 1"),
        ("application/x-ndjson", b"\n", 400, "no documents"),
        ("application/json", b"[]", 400, "no documents"),
        ("application/json", b"5", 400, "object"),
        ("application/pdf", b"%PDF", 415, "application/pdf"),
        ("", b'{"text": "a"}', 415, "application/json"),
        ("multipart/form-data", b"", 400, "boundary"),
    )
    for kind, body, status, word in cases:
        answer = await jobs_api.post("/jobs", content=body, headers={"content-type": kind})
        assert answer.status_code == status, (kind, body[:30], answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        assert word in answer.json()["detail"]
    assert (await jobs_api.post("/jobs", content=cases[0][1], headers={"content-type": cases[0][0]})).json()[
        "line"
    ] == 2
    packed = {"content-type": "application/x-ndjson", "content-encoding": "br"}
    assert (await jobs_api.post("/jobs", content=b"x", headers=packed)).status_code == 415
    packed["content-encoding"] = "gzip"
    assert (await jobs_api.post("/jobs", content=b"x", headers=packed)).status_code == 400
    assert (await jobs_api.get("/jobs")).json()["total"] == 0
    assert (await asyncio.to_thread(office.jobs.jobs))[0] == 0


@pytest.mark.asyncio(loop_scope="module")
async def test_names_and_sources_of_records_are_given(shared_jobs: httpx.AsyncClient):
    headers = {"content-type": "application/json"}
    answer = await shared_jobs.post(
        "/jobs", content=json.dumps(ROWS), headers=headers, params={"source": "all"}
    )
    reported = await documents(shared_jobs, answer.json()["id"])
    assert [(one["name"], one["source"]) for one in reported] == [("7", "all"), ("b", "box")]


def test_files_are_read_by_their_endings_packed_or_not(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text(json.dumps(ROWS[0]))
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    (tmp_path / "c.txt").write_text("One text.\nTwo lines.")
    paths = [tmp_path / name for name in ("a.jsonl", "b.csv.gz", "c.txt")]
    found = list(records_of_files(paths, longest=1000))
    assert found == [RECORDS[0], *RECORDS, Record("One text.\nTwo lines.", "c.txt")]
    for name, content in (
        ("d.pdf", b""),
        ("e.jsonl", b"{"),
        ("f.csv.gz", b"no gzip"),
        ("g.txt", b"a" * 5000),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ServerError, match=name):
            list(records_of_files([tmp_path / name], longest=1000))


def test_a_job_takes_its_documents_without_holding_them(tmp_path: Path):
    store = JobStore(tmp_path)
    tracemalloc.start()
    try:
        records = (Record(f"{n} " + "x" * 9_990) for n in range(1_000))
        job = accept(store, JobRequest(paused=True), records)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert job.total == 1_000
    # Ten megabytes of text went through.
    assert peak < 6_000_000
    store.close()


def test_a_job_that_breaks_off_is_not_there(tmp_path: Path):
    store = JobStore(tmp_path)

    def broken():
        for n in range(1200):
            yield Record(f"text {n}")
        raise RecordUnreadable(1201, "gone.")

    with pytest.raises(RecordUnreadable):
        accept(store, JobRequest(), broken())
    assert store.jobs() == (0, [])
    # Neither is one that was coming in when the server was killed.
    store.add(store.begin(JobRequest()), [Record("a")], 1)
    assert store.jobs() == (0, [])
    store.drop_unaccepted()
    with store.database.reading() as connection:
        assert connection.execute("SELECT COUNT(*) FROM document").fetchone()[0] == 0
    store.close()
