"""`evaluate completion | urban | judge`: one command, a table, a report beside every answer."""

import csv
import json
from pathlib import Path

import pytest

from extractors.errors import EvaluationError, MethodUnsupported, ModelTimeout
from extractors.models.accounting import Prices
from extractors.models.chat import BlankForm, FilledField, FilledForm, Token
from research.completion import followed_modes, measure_completion, print_completion
from research.judging.judges import judge_tables
from research.judging.tables import read_judgments
from research.methods import GROUPS, measure_methods
from research.urban.gold import ScoredTriple
from research.urban.measuring import (
    ALL,
    CHOOSING,
    OTHER,
    SAMPLES,
    SENTENCES,
    RelationCounts,
    counts_in,
    measure_urban,
    print_by_relation,
    print_urban,
)
from server.settings import Settings
from tests.server.conftest import RecordedModel, triples
from tests.support.tgi_stand_in import StandIn, running

PARK = "POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))"


def place(x: float, name: str = "Kiosk") -> dict[str, object]:
    return {"name": name, "geometry": {"type": "Point", "coordinates": [x, 1]}}


async def test_modes_are_compared_on_one_model_with_the_baseline_beside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    park = {"name": "Park", "type": "park", "geometry": PARK}
    rows = [{"head": place(x), "tail": park} for x in (1, 5, 9)]
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join([*map(json.dumps, rows), "{broken"]))
    out = tmp_path / "run"
    with running(StandIn(answer='{"relation": "DC", "inner": "none"}')) as model:
        settings = Settings(model_url=model.url)
        modes = ("zero-shot", "1-shot")
        prices = Prices(1, 2, "EUR")
        for _ in range(2):  # the second finds everything answered
            scores = await measure_completion(settings, [file], modes, out, limit=None, seed=0, prices=prices)
    print_completion(scores, prices)
    report = json.loads((out / "completion.json").read_text())["modes"]
    assert list(report) == ["always DC", "zero-shot", "1-shot"]
    assert report["zero-shot"]["five"]["value"] == pytest.approx(2 / 3, abs=1e-3)
    assert report["zero-shot"]["per_1000_tasks"]["cost"]["currency"] == "EUR"
    assert report["1-shot"]["answers"] == {"DC": 3}
    assert (out / "judge-1-shot.csv").read_text(encoding="utf-8-sig").count("is disconnected from (DC)") == 3
    written = capsys.readouterr()
    assert "always DC" in written.out
    assert "EUR/1000" in written.out
    assert "pairs.jsonl, line 4" in written.err


GOLD = [
    {
        "id": "one",
        "text": "Bowne Hall is a museum. It opened in 1990 and closed in 1985.",
        "triples": [
            {"subject": "Bowne Hall", "relation": "is a", "object": "museum"},
            {"subject": "Bowne Hall", "relation": "opened", "object": "1990"},
            {"subject": "Bowne Hall", "relation": "closed", "object": "1985"},
        ],
    },
    {"id": "two", "text": "Nothing is stated here about anything at all.", "triples": []},
]
REPLIES = (
    triples(
        ("Bowne Hall", "is a", "museum"),
        ("Bowne Hall", "opened", "1990"),
        ("Bowne Hall", "closed", "1985"),
        ("Yale Hall", "opened", "1990"),
    ),
    triples(),
)


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(map(json.dumps, GOLD)))
    return path


def test_modes_that_a_small_model_does_not_follow_are_refused_unless_they_are_to_be_tried(
    tmp_path: Path,
) -> None:
    embedded, served = Settings(), Settings(model_url="http://127.0.0.1:9")
    assert followed_modes(embedded, (), try_all=False) == ("zero-shot", "3-shot")
    assert followed_modes(served, (), try_all=False) == ("pipeline", "no tools")
    with pytest.raises(MethodUnsupported, match=r"pipeline: .*model_url.*--try-all"):
        followed_modes(embedded, ("zero-shot", "pipeline"), try_all=False)
    assert followed_modes(embedded, ("pipeline",), try_all=True) == ("pipeline",)
    with pytest.raises(EvaluationError, match="no mode 'best'"):
        followed_modes(served, ("best",), try_all=False)


async def test_what_the_gate_lets_in_is_scored_apart_and_waits_for_people_to_judge(
    tmp_path: Path, gold: Path, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "run"
    measured = await measure_urban(
        Settings(), gold, out, limit=None, seed=0, prices=Prices(), model=RecordedModel(*REPLIES)
    )
    print_urban(list(measured.items()), Prices())
    scores = measured["texts"]
    assert (scores.model.right, scores.model.told, scores.model.gold) == (3, 4, 3)
    assert (scores.pipeline.right, scores.pipeline.told) == (3, 3), (
        "a name that is not in the text is refused"
    )
    assert scores.gate is not None
    assert scores.gate.right == scores.gate.told == 2, "opened after it closed: the shapes refuse one"
    assert (scores.entities, scores.made_up) == (1, ())
    report = json.loads((out / "urban.json").read_text())
    reported = report["sets"]["texts"]
    assert reported["gate"]["precision"]["value"] == 1.0
    assert reported["per_1000_tasks"]["turns"] == 1000
    assert "made up" in capsys.readouterr().out
    with (out / "judge.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 2
    assert {row["group"] for row in rows} == {"one"}
    assert rows[0]["context"] == GOLD[0]["text"]
    page = (out / "judge.html").read_text()
    assert rows[0]["id"] in page
    assert "http" not in page.replace("http-equiv", "")


async def test_accepted_relations_are_counted_by_relation_and_the_promise_of_confidence_is_checked(
    tmp_path: Path, gold: Path, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "run"
    await measure_urban(
        Settings(), gold, out, limit=None, seed=0, prices=Prices(), model=RecordedModel(*REPLIES)
    )
    found = counts_in(out / "urban.json")
    assert {name: (one.accepted, one.right) for name, one in found.items()} == {"opened": (1, 1)}

    def counted(*judged: tuple[bool, float]) -> RelationCounts:
        counts = RelationCounts()
        for right, confidence in judged:
            words = ("a", "opened", "1990")
            counts = counts.plus(ScoredTriple(words, words, right, False, True, True, True, "", confidence))
        return counts

    kept, broken = counted(*[(True, 0.9)] * 3, (False, 0.8)), counted(*[(True, 0.9)] * 2, *[(False, 0.8)] * 2)
    few = counted((False, 0.9), *[(False, 0.7)] * 9)
    assert [one.keeps_promise for one in (kept, broken, few)] == [True, False, None]
    print_by_relation({"opened": kept, "closed": broken, "owns": few})
    printed = capsys.readouterr().out
    assert 0 < printed.index("closed") < printed.index("opened"), "the broken promise stands first"
    assert "owns" not in printed


async def test_kinds_that_a_name_says_are_wrong_strictly_and_right_by_the_rule_unless_it_misleads(
    tmp_path: Path,
):
    gold = tmp_path / "gold.jsonl"
    texts = ("Moss Bridge opened in 1990.", "Gate Park opened in 1990.")
    misleading = {"subject": "Gate Park", "relation": "is a", "object": "park"}
    rows = [
        {"id": str(n), "text": text, "misleading": [misleading] * n,
         "triples": [{"subject": text.partition(" opened")[0], "relation": "opened", "object": "1990"}]}
        for n, text in enumerate(texts)
    ]  # fmt: skip
    gold.write_text("\n".join(map(json.dumps, rows)))
    replies = (
        triples(("Moss Bridge", "is a", "bridge"), ("Moss Bridge", "opened", "1990")),
        triples(("Gate Park", "is a", "park"), ("Gate Park", "opened", "1990")),
    )
    measured = await measure_urban(
        Settings(), gold, tmp_path, limit=None, seed=0, prices=Prices(), model=RecordedModel(*replies)
    )
    gate, relations, kinds = measured["texts"].gate, measured["texts"].relations, measured["texts"].kinds
    assert gate is not None
    assert gate.precision is not None
    assert gate.supported is not None
    assert (gate.right, gate.told, gate.gold, gate.named) == (2, 4, 2, 1)
    assert (gate.precision.value, gate.supported.value) == (0.5, 0.75)
    assert (relations.right, relations.told, kinds.right, kinds.told, kinds.gold) == (2, 2, 0, 2, 0)


async def test_without_a_file_both_sets_are_scored_and_the_sentences_by_halves(tmp_path: Path):
    scores = await measure_urban(
        Settings(), None, tmp_path, limit=2, seed=0, prices=Prices(), model=RecordedModel(*[triples()] * 40)
    )
    assert list(scores) == [CHOOSING, OTHER, SENTENCES, SAMPLES, ALL]
    texts = {name: one.texts for name, one in scores.items()}
    assert texts[SENTENCES] == texts[SAMPLES] == texts[CHOOSING] + texts[OTHER] == 2
    assert texts[ALL] == 4


async def test_judged_tables_are_read_back_with_a_model_beside_them(
    tmp_path: Path, gold: Path, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "run"
    await measure_urban(
        Settings(), gold, out, limit=None, seed=0, prices=Prices(), model=RecordedModel(*REPLIES)
    )
    judges = []
    for name, verdicts in (("Ada", ("true", "yes")), ("Ben", ("TRUE", "0"))):
        lines = (out / "judge.csv").read_text(encoding="utf-8-sig").splitlines()
        judged = [f"{line[: line.rindex(',,')]},,{name}" for line in lines[1:]]
        judged = [
            line[: line.rindex(f",,{name}")].rstrip(",") + f",{verdict},,{name}"
            for line, verdict in zip(judged, verdicts, strict=True)
        ]
        judges.append(tmp_path / f"{name}.csv")
        judges[-1].write_text("\n".join([lines[0], *judged]), encoding="utf-8")
    model = RecordedModel('{"quote": "", "reason": "It is stated.", "verdict": "true"}')
    report = await judge_tables(judges, model=model, repeats=3, out=out, seed=0, prices=Prices())
    reported = {one["judge"]: (one["true"], one["false"]) for one in report["judges"]}
    assert reported == {"Ada": (2, 0), "Ben": (1, 1), "majority": (1, 0), "model recorded": (2, 0)}
    assert len(model.asked) == 6
    assert report["model"]["per_1000_tasks"]["turns"] == 3000
    assert "Ada / Ben" in capsys.readouterr().out
    held = read_judgments(out / "judged-by-model.csv")
    assert [one.confidence for one in held] == [1.0, 1.0], "three votes of three, of unknown probability"


async def test_a_table_in_which_nothing_is_judged_says_what_to_do(tmp_path: Path):
    table = tmp_path / "judge.csv"
    table.write_text("id,group,context,subject,relation,object,quote,judgement,confidence,judge\n")
    with pytest.raises(EvaluationError, match="fill in the column"):
        await judge_tables([table], model=None, repeats=1, out=None, seed=0, prices=Prices())


class ObligingModel(RecordedModel):
    """Answers in the form that is asked for: nothing found, no tools, apart; and praises in free words."""

    async def complete(self, messages, *, schema, max_tokens, temperature=0.0):
        properties = schema["properties"] if schema else {}
        if "relation" in properties:
            self.replies = ['{"relation": "DC", "inner": "none"}']
        elif properties:
            self.replies = [json.dumps({name: [] for name in properties})]
        else:
            self.replies = ["All is well. This is a faithful trajectory"]
        return await super().complete(messages, schema=schema, max_tokens=max_tokens, temperature=temperature)


class FormModel(ObligingModel):
    """Fills in forms, too: that Bowne Hall is a museum, where kinds are asked for."""

    prompt_profile = "compact"

    async def fill(self, form: BlankForm) -> FilledForm:
        said = (Token(" Bowne Hall | museum", -0.1),)
        fields = [
            FilledField(one.heading, 0.9, said)
            if one.heading == "is a:"
            else FilledField(one.heading, 0.1, ())
            for one in form.fields
        ]
        return FilledForm(tuple(fields), len(form.fields), 5, 0.1, "forms", None)


async def test_a_model_that_was_trained_on_forms_is_compared_by_their_parts_too(
    tmp_path: Path, gold: Path, capsys: pytest.CaptureFixture[str]
):
    await measure_methods(
        Settings(), tmp_path / "run", pairs=[], gold=gold, texts=True,
        limit=None, seed=0, prices=Prices(1, 1), model=FormModel(),
    )  # fmt: skip
    tables = json.loads((tmp_path / "run" / "extraction.json").read_text())["tables"]
    forms = tables["the form and its parts"]
    # The kind, which the model says or the labels, and "It opened in 1990", which the labels say.
    assert {name: one["gate"]["right"] for name, one in forms.items()} == {
        "form": 2, "whole ontology": 2, "no domains and ranges": 2, "no copying": 2, "no kinds": 2,
    }  # fmt: skip
    asked = {name: one["per_1000_tasks"]["prompt_tokens"] for name, one in forms.items()}
    assert asked["whole ontology"] > asked["form"] > asked["no kinds"]
    assert tables["modes and ablations (U11)"]["without pipeline"] == forms["form"]
    assert "the form and its parts" in capsys.readouterr().out
    with pytest.raises(EvaluationError, match="k4, u11, form"):
        await measure_methods(
            Settings(), tmp_path / "run", pairs=[], gold=gold, texts=True,
            limit=None, seed=0, prices=Prices(), only=["u12"], model=FormModel(),
        )  # fmt: skip


async def test_methods_that_a_small_model_does_not_follow_are_refused_in_the_one_table(
    tmp_path: Path, gold: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "pairs.jsonl"
    file.write_text(json.dumps({"head": place(1), "tail": {"name": "Park", "geometry": PARK}}))
    out = tmp_path / "run"

    async def run(try_all: bool) -> str:
        await measure_methods(
            Settings(), out, pairs=[file], gold=gold, texts=True,
            limit=None, seed=0, prices=Prices(), try_all=try_all, model=FormModel(),
        )  # fmt: skip
        return (out / "methods.md").read_text()

    whole = await run(try_all=False)
    for title in (
        "Groups of prompts (K4)",
        "Modes and ablations (U11)",
        "The form and its parts",
        "Completion",
    ):
        assert f"\n## {title}\n" in whole
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in whole.splitlines() if line[:1] == "|"}
    refused = (
        "pipeline",
        "no knowledge",
        "no multi-view",
        "no tools",
        "no refinement",
        "refinement in words",
    )
    assert [name for name, line in rows.items() if "| refused (" in line] == list(refused)
    assert "\n1. This method is a dialog of many turns." in whole
    assert "\n2. Tools, a verifier and an updater need a model that follows a dialog" in whole
    assert "no refinement is refused: Tools, a verifier" in capsys.readouterr().err
    tables = json.loads((out / "extraction.json").read_text())["tables"]
    assert "set model_url" in tables["modes and ablations (U11)"]["pipeline"]["refused"]
    assert "refused (" not in await run(try_all=True)


async def test_a_comparison_that_was_broken_off_goes_on_where_it_was(tmp_path: Path, gold: Path):
    out = tmp_path / "run"

    async def run(model: RecordedModel, limit: int | None = None) -> str:
        await measure_methods(
            Settings(), out, pairs=[], gold=gold, texts=True,
            limit=limit, seed=0, prices=Prices(), only=["form"], model=model,
        )  # fmt: skip
        return (out / "methods.md").read_text()

    class SlowModel(FormModel):
        async def fill(self, form: BlankForm) -> FilledForm:
            raise ModelTimeout("too slow")

    class NoModel(FormModel):
        async def fill(self, form: BlankForm) -> FilledForm:
            raise AssertionError("asked again")

    await run(SlowModel())
    assert json.loads((out / "extraction.json").read_text())["tables"]["the form and its parts"]["form"][
        "failed"
    ]
    whole = await run(FormModel())
    with (out / "extraction-fast.jsonl").open("a") as stream:
        stream.write('{"id": "cut o')
    assert await run(NoModel()) == whole
    assert "| form | `fast` | 2 | 1.000" in whole
    assert "1 of 2 texts" in await run(NoModel(), limit=1)
    gold.write_text(gold.read_text() + "\n")
    with pytest.raises(EvaluationError, match="another gold"):
        await run(NoModel())


async def test_a_fine_tuned_model_is_measured_with_and_without_the_pipeline_beside_the_same_model(
    tmp_path: Path, gold: Path
):
    file = tmp_path / "pairs.jsonl"
    file.write_text(json.dumps({"head": place(9), "tail": {"name": "Park", "geometry": PARK}}))
    tuned = ObligingModel()
    await measure_methods(
        Settings(), tmp_path / "run", pairs=[file], gold=gold, texts=True, limit=1, seed=0, prices=Prices(),
        only=["u11"], model=ObligingModel(), tuned="mill-lora", tuned_model=tuned,
    )  # fmt: skip
    tables = json.loads((tmp_path / "run" / "extraction.json").read_text())["tables"]
    assert list(tables) == ["modes and ablations (U11)", "fine-tuned: mill-lora (U11)"]
    rows = tables["fine-tuned: mill-lora (U11)"]
    assert {name: one["method"] for name, one in rows.items()} == {
        "without pipeline": "fast",
        "pipeline": "thorough",
    }
    assert tuned.asked
    written = (tmp_path / "run" / "methods.md").read_text()
    assert "| fine-tuned, without pipeline |" in written
    assert "| fine-tuned, pipeline |" in written


async def test_modes_and_ablations_of_both_tasks_run_by_one_call(
    tmp_path: Path, gold: Path, capsys: pytest.CaptureFixture[str]
):
    park = {"name": "Park", "geometry": PARK}
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(json.dumps({"head": place(x), "tail": park}) for x in (1, 5, 9)))
    await measure_methods(
        Settings(), tmp_path / "run", pairs=[file], gold=gold, texts=True,
        limit=None, seed=0, prices=Prices(1, 1), model=ObligingModel(),
    )  # fmt: skip
    rows = ["zero-shot", "1-shot", "3-shot", "without pipeline", "pipeline"]
    ablations = ["no knowledge", "no multi-view", "no tools", "no refinement", "refinement in words"]
    tables = json.loads((tmp_path / "run" / "extraction.json").read_text())["tables"]
    assert list(tables) == ["groups of prompts (K4)", "modes and ablations (U11)"]
    assert [one["method"] for one in tables["groups of prompts (K4)"].values()] == list(GROUPS["k4"])
    extraction = tables["modes and ablations (U11)"]
    assert list(extraction) == [*rows, *ablations]
    assert (
        extraction["pipeline"]["per_1000_tasks"]["turns"] > extraction["zero-shot"]["per_1000_tasks"]["turns"]
    )
    completion = json.loads((tmp_path / "run" / "completion" / "completion.json").read_text())["modes"]
    assert list(completion) == ["always DC", *rows, "no knowledge", "no tools", "no refinement"]
    assert completion["pipeline"]["faithful"] == 3
    printed = [json.loads(line)["rows"] for line in capsys.readouterr().out.splitlines()]
    names = [[next(iter(row.values())) for row in rows] for rows in printed]
    assert sum(any(name.startswith("no refinement") for name in one) for one in names) == 2
    assert names[-1][0] == "always DC"
