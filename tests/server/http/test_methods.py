"""Methods and prompts as a user meets them: settings, the route's parameter, commands."""

import json
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from extractors.prompting.prompt import PromptError
from server.cli.app import command_line
from server.runtime.wiring import build
from server.settings import Settings
from tests.server.conftest import RecordedModel, triples
from tests.support.benchmark_files import write
from tests.support.tgi_stand_in import StandIn, running

TEXT = "Bowery Hall is in Manhattan."
LOCATED = triples(("Bowery Hall", "located in", "Manhattan"))
OWNED = triples(("Grey Quay", "owned by", "Ada Stone"))


async def test_a_request_may_name_its_method_and_the_trace_names_every_stage(
    client: httpx.AsyncClient, model: RecordedModel
) -> None:
    request = {"text": TEXT, "commit": False, "method": "thorough"}
    types = [
        json.dumps({"entity_types": ["place"], "relations": [relation]})
        for relation in ("located in", "opened", "is a")
    ]
    views = [said for one in types for said in (one, "reasons", LOCATED)]
    model.replies = [*views, '{"faithful": true, "wrong": [], "missing": []}']
    trace = (await client.post("/extractions", json=request)).json()["trace"]
    assert trace["method"] == "thorough"
    assert [(stage["stage"], stage["turns"]) for stage in trace["stages"]] == [
        ("types", 3),
        ("reasoning", 3),
        ("triples", 3),
        ("verify", 1),
    ]
    assert [window["prompt"].partition("@")[0] for window in trace["windows"]] == [
        *["view"] * 9,
        "verify",
    ]
    assert all(stage["prompt_tokens"] == stage["turns"] for stage in trace["stages"])


async def test_a_method_that_there_is_not_is_refused_with_those_there_are(client: httpx.AsyncClient) -> None:
    answer = await client.post("/extractions", json={"text": TEXT, "method": "best"})
    assert answer.status_code == 422
    assert "thorough" in answer.text


def test_a_broken_prompt_file_ends_the_server_before_it_starts(tmp_path: Path) -> None:
    (tmp_path / "verify.md").write_text("# user\n$text $triples $findngs\n")
    with pytest.raises(PromptError, match=r"verify\.md, line 2: nothing fills \$findngs"):
        build(Settings(data=tmp_path / "data", prompts=tmp_path), model=RecordedModel())


def test_the_prompts_are_listed_shown_and_copied_out(tmp_path: Path) -> None:
    runner = CliRunner()
    listed = runner.invoke(command_line(), ["prompts"])
    assert listed.exit_code == 0
    assert "question" in listed.stdout
    assert "examples.jsonl" in listed.stdout
    form = runner.invoke(command_line(), ["prompts", "form", "--text", "Ada Moss built the hall in 1901."])
    assert form.stdout.startswith("Text: Ada Moss built the hall in 1901.\nis a:\n")
    assert "built by (place" in form.stdout
    copied = runner.invoke(command_line(), ["prompts", "verify", "--export", str(tmp_path)])
    assert copied.stdout.split() == [str(tmp_path / "verify.md")]
    (tmp_path / "verify.md").write_text("# user\nIs it so? $text $triples\n")
    shown = runner.invoke(command_line(), ["prompts", "verify", "--prompts", str(tmp_path)])
    assert shown.stdout == "# user\nIs it so? $text $triples\n"
    assert isinstance(runner.invoke(command_line(), ["prompts", "nothing"]).exception, PromptError)


def evaluate(stand_in: StandIn, folder: Path, *options: str) -> str:
    done = CliRunner().invoke(
        command_line(),
        ["evaluate", "text2kgbench", "--model-url", stand_in.url, "--out", str(folder / "run"), *options],
        catch_exceptions=False,
    )
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_benchmark_is_read_in_one_mode_and_the_second_time_asks_nothing(tmp_path: Path) -> None:
    ontology, sentences, gold = write(tmp_path)
    files = ["--ontology", str(ontology), "--sentences", str(sentences), "--gold", str(gold)]
    with running(StandIn(answer=OWNED)) as stand_in:
        first = evaluate(stand_in, tmp_path, *files, "--concurrency", "1")
        asked = len(stand_in.requests)
        assert evaluate(stand_in, tmp_path, *files, "--concurrency", "1") == first
        assert len(stand_in.requests) == asked
    predictions = (tmp_path / "run" / "predictions.jsonl").read_text().splitlines()
    assert json.loads(predictions[0]) == {
        "id": "h_1_1",
        "triples": [{"sub": "Grey Quay", "rel": "owned by", "obj": "Ada Stone"}],
    }
    scores = json.loads((tmp_path / "run" / "scores.json").read_text())["scores"]
    # One of three predictions is right, of two gold triples one is found.
    assert scores["strict_precision"]["value"] == pytest.approx(1 / 3, abs=1e-4)
    assert scores["strict_recall"]["value"] == 0.5
    assert scores["official_f1"]["value"] == pytest.approx(1 / 3, abs=1e-4)


def test_the_six_groups_run_with_one_command_and_are_compared(tmp_path: Path) -> None:
    write(tmp_path)
    with running(StandIn(answer=OWNED)) as stand_in:
        reported = evaluate(stand_in, tmp_path, "--folder", str(tmp_path), "--mode", "k4", "--limit", "1")
    table = reported[reported.index("modes, each text") :]
    for mode in ("context_base", "context_ontology", "context_cot", "icl_base", "icl_ontology", "icl_cot"):
        assert mode in table
        assert (tmp_path / "run" / mode / "predictions.jsonl").is_file()
    assert {row["turns"] for row in stages(tmp_path / "run" / "icl_cot")} == {1}


def stages(run: Path) -> list[dict[str, int]]:
    return list(json.loads((run / "scores.json").read_text())["stages"].values())


async def test_a_method_that_the_embedded_model_does_not_follow_is_refused_with_what_to_do(
    client: httpx.AsyncClient, model: RecordedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "prompt_profile", "compact")
    answer = await client.post("/extractions", json={"text": TEXT, "commit": False, "method": "thorough"})
    assert answer.status_code == 422
    assert answer.json()["title"] == "Method not possible with this model"
    assert "set model_url to a larger model" in answer.json()["detail"]
