"""Jobs over HTTP, in one process: what is accepted, what becomes of it, what clients do to a job."""

import asyncio
from dataclasses import replace

import httpx
import pytest

from extractors.errors import ModelReplyError, ModelRequestRefused, ModelTimeout, ModelUnavailable
from server.services import Services
from tests.server.conftest import select
from tests.server.jobs.conftest import LINES, PATIENCE_S, documents, lines, post, until
from tests.support.answering import AnsweringModel
from tests.support.retained import retained
from tests.support.waiting import eventually

MUSEUM = "Ardenfield Museum is a museum in Larnford."
PARK = "Brinwick Park is a park in Larnford."
TOWN = "Larnford is a city."
shared = pytest.mark.asyncio(loop_scope="module")
"""On the server that tests share; its worker runs on the module's loop."""
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


async def names(client: httpx.AsyncClient) -> set[str]:
    rows = await select(
        client,
        f"SELECT ?n WHERE {{ ?s <{LABEL}> ?n FILTER(STRSTARTS(STR(?s), 'https://w3id.org/urbankg/id/')) }}",
    )
    return {row["n"] for row in rows}


async def test_the_documents_of_a_job_come_into_the_graph_as_texts_do(jobs_api: httpx.AsyncClient):
    job = await post(jobs_api, MUSEUM, PARK, TOWN, name="leaflets", source="box 3")
    done = await until(jobs_api, job, "done")
    assert done["documents"]["committed"] == done["total"] == done["finished"] == 3
    assert (done["name"], done["problem"]) == ("leaflets", None)
    assert await names(jobs_api) == {"Ardenfield Museum", "Brinwick Park", "Larnford"}
    reported = await documents(jobs_api, job)
    assert [one["position"] for one in reported] == [1, 2, 3]
    assert [one["revision"] for one in reported] == sorted(one["revision"] for one in reported)
    document = (await jobs_api.get(f"/documents/{reported[0]['document']}")).json()
    assert (document["text"], document["source"]) == (MUSEUM, "box 3")
    assert [run["iri"] for run in document["runs"]] == [reported[0]["run"]]


@shared
async def test_a_job_reads_its_texts_by_the_method_that_it_names(
    shared_jobs: httpx.AsyncClient, shared_frames: AnsweringModel
):
    before = shared_frames.asked.total()
    job = await post(shared_jobs, "Corley Mill is a building.", method="zero_shot")
    assert (await until(shared_jobs, job, "done"))["method"] == "zero_shot"
    (document,) = await documents(shared_jobs, job)
    run = document["run"].rpartition("/")[2]
    trace = (await shared_jobs.get(f"/extractions/{run}/trace")).json()
    assert trace["trace"]["method"] == "zero_shot"
    # What was asked ahead is what is used: the commit asks for nothing more.
    assert shared_frames.asked.total() - before == len(trace["trace"]["windows"])


@shared
async def test_a_method_that_there_is_not_or_that_the_model_cannot_is_refused_at_once(
    shared_jobs: httpx.AsyncClient, shared_frames: AnsweringModel, monkeypatch: pytest.MonkeyPatch
):
    answer = await shared_jobs.post("/jobs", content=lines(MUSEUM), headers=LINES, params={"method": "guess"})
    assert answer.status_code == 422
    before = (await shared_jobs.get("/jobs")).json()["total"]
    monkeypatch.setattr(shared_frames, "prompt_profile", "compact")
    answer = await shared_jobs.post("/jobs", content=lines(MUSEUM), headers=LINES, params={"method": "open"})
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert "model_url" in answer.json()["detail"]
    assert (await shared_jobs.get("/jobs")).json()["total"] == before


async def test_documents_are_committed_in_their_order_however_long_each_takes(
    jobs_api: httpx.AsyncClient, frames: AnsweringModel
):
    # Without its kind a name waits in review; what said it before makes the difference.
    frames.failures["is a museum"] = [ModelTimeout("too slow")]
    job = await post(jobs_api, MUSEUM, "Ardenfield Museum was established in 1902.")
    assert (await until(jobs_api, job, "done"))["documents"]["committed"] == 2
    first, second = await documents(jobs_api, job)
    assert first["attempts"] == 1
    assert first["revision"] < second["revision"]
    assert second["refused"] == 0


async def test_an_equal_text_is_reported_as_a_duplicate_and_is_one_document(
    jobs_api: httpx.AsyncClient, frames: AnsweringModel
):
    job = await post(jobs_api, MUSEUM, PARK, MUSEUM)
    await until(jobs_api, job, "done")
    reported = await documents(jobs_api, job)
    assert [one["state"] for one in reported] == ["committed", "committed", "duplicate"]
    assert (reported[2]["same_as"], reported[2]["document"]) == (1, reported[0]["document"])
    later = await post(jobs_api, MUSEUM)
    assert (await until(jobs_api, later, "done"))["documents"]["duplicate"] == 1
    assert frames.asked[MUSEUM] == 1
    assert (await jobs_api.get("/documents")).json()["total"] == 2


async def test_a_text_of_two_jobs_at_a_time_is_asked_about_once(
    jobs_api: httpx.AsyncClient, frames: AnsweringModel
):
    frames.open.clear()
    jobs = [await post(jobs_api, MUSEUM), await post(jobs_api, MUSEUM)]
    frames.open.set()
    found = [await until(jobs_api, job, "done") for job in jobs]
    assert sorted(one["documents"]["duplicate"] for one in found) == [0, 1]
    assert frames.asked[MUSEUM] == 1


async def test_again_extracts_what_the_graph_has_already(jobs_api: httpx.AsyncClient, frames: AnsweringModel):
    await until(jobs_api, await post(jobs_api, MUSEUM), "done")
    job = await post(jobs_api, MUSEUM, again="true")
    assert (await until(jobs_api, job, "done"))["documents"]["committed"] == 1
    assert frames.asked[MUSEUM] == 2
    assert (await jobs_api.get("/documents")).json()["documents"][0]["times"] == 2


async def test_a_paused_job_waits_and_goes_on(jobs_api: httpx.AsyncClient, frames: AnsweringModel):
    job = await post(jobs_api, MUSEUM, PARK, paused="true")
    assert (await jobs_api.post(f"/jobs/{job}/pause")).status_code == 409
    other = await post(jobs_api, TOWN)
    await until(jobs_api, other, "done")
    assert set(frames.asked) == {TOWN}
    assert (await jobs_api.post(f"/jobs/{job}/resume")).json()["state"] == "running"
    assert (await until(jobs_api, job, "done"))["documents"]["committed"] == 2
    answer = await jobs_api.post(f"/jobs/{job}/resume")
    assert answer.status_code == 409
    assert answer.json()["state"] == "done"


async def test_pausing_keeps_what_the_model_has_answered(jobs_api: httpx.AsyncClient, frames: AnsweringModel):
    frames.open.clear()
    job = await post(jobs_api, MUSEUM)
    await _asked(frames, MUSEUM)
    await jobs_api.post(f"/jobs/{job}/pause")
    frames.open.set()
    async with asyncio.timeout(PATIENCE_S):
        while (await documents(jobs_api, job))[0]["state"] != "extracted":
            await asyncio.sleep(0.02)
    assert await names(jobs_api) == set()
    await jobs_api.post(f"/jobs/{job}/resume")
    await until(jobs_api, job, "done")
    assert frames.asked[MUSEUM] == 1


async def test_a_cancelled_job_ends_and_keeps_what_it_committed(
    jobs_api: httpx.AsyncClient, office: Services, frames: AnsweringModel
):
    first = await post(jobs_api, TOWN)
    await until(jobs_api, first, "done")
    frames.open.clear()
    job = await post(jobs_api, TOWN, MUSEUM, PARK)
    await _asked(frames, MUSEUM)
    cancelled = (await jobs_api.post(f"/jobs/{job}/cancel")).json()
    assert cancelled["state"] == "cancelled"
    assert cancelled["finished"] == cancelled["total"] == 3
    frames.open.set()
    assert (await jobs_api.post(f"/jobs/{job}/cancel")).status_code == 409
    assert (await jobs_api.post(f"/jobs/{job}/retry")).status_code == 409
    assert await names(jobs_api) == {"Larnford"}
    # A text that was not done is none that the server has.
    again = await post(jobs_api, MUSEUM)
    assert (await until(jobs_api, again, "done"))["documents"]["committed"] == 1


async def test_what_failed_is_tried_as_often_as_set_and_then_on_request(
    jobs_api: httpx.AsyncClient, frames: AnsweringModel
):
    broken = ModelReplyError("The reply is no JSON.", "I do not know.")
    # Each attempt asks twice about a broken reply.
    frames.failures["Brinwick"] = [broken] * 6
    job = await post(jobs_api, MUSEUM, PARK)
    done = await until(jobs_api, job, "done")
    assert (done["documents"]["failed"], done["documents"]["committed"]) == (1, 1)
    (failed,) = await documents(jobs_api, job, state="failed")
    assert (failed["position"], failed["attempts"], failed["run"]) == (2, 3, None)
    assert "no JSON" in failed["error"]
    assert frames.asked[PARK] == 6
    assert (await jobs_api.post(f"/jobs/{job}/retry")).json()["state"] == "running"
    assert (await until(jobs_api, job, "done"))["documents"]["committed"] == 2
    assert (await jobs_api.post(f"/jobs/{job}/retry")).status_code == 409


@shared
async def test_a_refused_request_fails_at_once(shared_jobs: httpx.AsyncClient, shared_frames: AnsweringModel):
    shared_frames.failures["Dunmere"] = [ModelRequestRefused("Too long for the model.", 422)]
    job = await post(shared_jobs, "Dunmere Park is a park.")
    assert (await until(shared_jobs, job, "done"))["documents"]["failed"] == 1
    assert shared_frames.asked["Dunmere Park is a park."] == 1


@shared
async def test_a_text_that_cannot_be_worked_on_is_rejected_and_the_others_go_on(
    shared_jobs: httpx.AsyncClient,
):
    german = "Das Museum wurde im Jahre 1902 gegründet und ist seitdem das größte der ganzen Gegend."
    job = await post(shared_jobs, " \n", german, "Elstow is a city.")
    done = await until(shared_jobs, job, "done")
    assert (done["documents"]["rejected"], done["documents"]["committed"]) == (2, 1)
    reported = await documents(shared_jobs, job, state="rejected")
    assert ["empty" in reported[0]["error"], "'de'" in reported[1]["error"]] == [True, True]


async def test_a_document_that_failed_is_not_remembered(
    office: Services, jobs_api: httpx.AsyncClient, frames: AnsweringModel
):
    frames.failures["Dunmere"] = [ModelUnavailable("It is down."), ModelRequestRefused("Too long.", 422)]
    job = await post(jobs_api, "Dunmere Park is a park.")
    assert (await until(jobs_api, job, "done"))["documents"]["failed"] == 1
    assert retained(office.job_worker._struck) == 0


@pytest.mark.parametrize(
    "missing", [ModelUnavailable("The model server is down."), ModelRequestRefused("Set the API key.", 401)]
)
async def test_a_model_that_is_down_costs_no_document_an_attempt(
    jobs_api: httpx.AsyncClient, frames: AnsweringModel, missing: Exception
):
    frames.failures["museum"] = [missing]
    job = await post(jobs_api, MUSEUM)
    async with asyncio.timeout(PATIENCE_S):
        while (reported := (await jobs_api.get(f"/jobs/{job}")).json())["problem"] is None:
            await asyncio.sleep(0.01)
    assert reported["problem"] == str(missing)
    assert (await until(jobs_api, job, "done"))["documents"]["committed"] == 1
    (document,) = await documents(jobs_api, job)
    assert (document["attempts"], document["error"]) == (0, None)


async def test_no_more_is_asked_at_a_time_than_the_model_takes(
    jobs_api: httpx.AsyncClient, frames: AnsweringModel
):
    frames.limit = 2
    job = await post(jobs_api, *(f"Town{'abcdefgh'[n]} is a city." for n in range(8)))
    assert (await until(jobs_api, job, "done"))["documents"]["committed"] == 8
    assert frames.busiest <= 2


async def test_a_finished_job_is_forgotten_and_its_documents_stay(
    jobs_api: httpx.AsyncClient, frames: AnsweringModel
):
    frames.open.clear()
    job = await post(jobs_api, MUSEUM)
    assert (await jobs_api.delete(f"/jobs/{job}")).status_code == 409
    frames.open.set()
    await until(jobs_api, job, "done")
    assert (await jobs_api.delete(f"/jobs/{job}")).status_code == 204
    answer = await jobs_api.get(f"/jobs/{job}")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert (await jobs_api.get("/jobs")).json()["total"] == 0
    assert (await jobs_api.get("/documents")).json()["total"] == 1


async def test_jobs_are_listed_in_pages_newest_first(jobs_api: httpx.AsyncClient):
    made = [await post(jobs_api, TOWN, name=str(n)) for n in range(3)]
    page = (await jobs_api.get("/jobs", params={"limit": 2})).json()
    assert page["total"] == 3
    assert [one["id"] for one in page["jobs"]] == [made[2], made[1]]
    rest = (await jobs_api.get("/jobs", params={"limit": 2, "offset": 2})).json()["jobs"]
    assert [one["id"] for one in rest] == [made[0]]


async def test_metrics_count_what_became_of_documents(jobs_api: httpx.AsyncClient):
    await until(jobs_api, await post(jobs_api, MUSEUM, TOWN, " "), "done")
    reported = (await jobs_api.get("/metrics")).text
    assert 'urbankg_job_documents_total{state="committed"} 2.0' in reported
    assert 'urbankg_job_documents_total{state="rejected"} 1.0' in reported
    assert "urbankg_jobs_running 0.0" in reported


@shared
async def test_a_web_page_of_another_origin_cannot_post_a_job(shared_jobs: httpx.AsyncClient):
    headers = {**LINES, "origin": "https://evil.example"}
    assert (await shared_jobs.post("/jobs", content=lines(TOWN), headers=headers)).status_code == 403


@shared
async def test_a_job_that_does_not_exist_is_reported(shared_jobs: httpx.AsyncClient):
    for method, path in (
        ("GET", ""), ("GET", "/documents"), ("GET", "/events"), ("HEAD", "/events"), ("POST", "/pause"),
        ("POST", "/resume"), ("POST", "/cancel"), ("POST", "/retry"), ("DELETE", ""),
    ):  # fmt: skip
        answer = await shared_jobs.request(method, f"/jobs/none{path}")
        assert answer.status_code == 404, (method, path)


async def _asked(frames: AnsweringModel, text: str) -> None:
    """Return when the model has been asked about a text."""
    await eventually(lambda: frames.asked[text], seconds=PATIENCE_S)


async def test_a_text_that_gave_nothing_or_waits_is_not_called_committed(jobs_api: httpx.AsyncClient):
    said = "Ardenfield Museum is a museum in Larnford."
    nothing = "Nobody has ever written anything that can be read from these lines."
    waits = "Ardenfield Museum is a city."  # A namesake of the museum, or a mistake.
    job = await post(jobs_api, said, nothing, waits)
    done = await until(jobs_api, job, "done")
    counts = {state: number for state, number in done["documents"].items() if number}
    assert counts == {"committed": 1, "nothing found": 1, "waits for review": 1}
    reported = await documents(jobs_api, job)
    assert [one["state"] for one in reported] == ["committed", "nothing found", "waits for review"]
    assert [bool(one["refused"]) for one in reported] == [False, False, True]
    assert [one["incomplete"] for one in reported] == [None, None, None]
    waiting = await documents(jobs_api, job, state="waits for review")
    assert [one["position"] for one in waiting] == [3]


async def test_a_text_that_takes_too_long_is_reported_as_incomplete(
    jobs_api: httpx.AsyncClient, office: Services
):
    text = " ".join(f"Town{letter} is a city." for letter in "abcdefghijklmnop")
    office.intake.pipeline.settings = replace(office.intake.pipeline.settings, time_limit_s=1e-6)
    job = await post(jobs_api, text)
    await until(jobs_api, job, "done")
    (one,) = await documents(jobs_api, job)
    assert one["state"] == "nothing found"
    assert one["incomplete"]["at"] == 0
    assert "extraction_timeout" in one["incomplete"]["reason"]
