"""Judging by people and models: tables, majority, agreement, the page."""

import csv
import json
import math
from pathlib import Path

import pytest

from extractors.errors import EvaluationError, ModelReplyError
from extractors.models.chat import Reply, Token
from research.judging.judges import JudgeModel
from research.judging.tables import (
    Item,
    Judgment,
    agreement,
    items_of,
    majority,
    read_judgments,
    spearman,
    summary,
    write_page,
    write_table,
)
from tests.support.scripted import ScriptedModel, words

TEXT = 'The "Old Mill", a theatre,\nopened in 1921.'


def item(group: str, thing: str = "1921") -> Item:
    return Item(group, TEXT, "Old Mill", "opened", thing, quote="opened in 1921")


def judged(judge: str, *verdicts: bool) -> list[Judgment]:
    return [Judgment(item(f"text-{n // 2}", str(n)), verdict, judge) for n, verdict in enumerate(verdicts)]


def vote(verdict: str, probability: float | None = None) -> Reply:
    before, after = '{"quote": "in 1921", "reason": "Not false.", "verdict": "', '"}'
    if probability is None:
        return words(before + verdict + after)
    tokens = (Token(before, -3.0), Token(verdict, math.log(probability)), Token(after, -0.1))
    return words(before + verdict + after, tokens=tokens)


def test_a_table_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    items = [item("a"), item("b"), item("c")]
    table = tmp_path / "judge.csv"
    held = [Judgment(items[0], True, "Ada", 0.9), Judgment(items[2], False, "Ada")]
    write_table(table, items, held)
    assert items_of(table) == items
    assert read_judgments(table) == held


def test_a_table_that_a_spreadsheet_saved_with_semicolons_is_read(tmp_path: Path) -> None:
    table = tmp_path / "Ben.csv"
    head = "id;group;context;subject;relation;object;quote;judgement;confidence;judge"
    table.write_text(f"{head}\nx;a;text;s;r;o;q;Yes;0,5;\nx;a;text;s;r;p;q;?;;\n", encoding="utf-8-sig")
    (found,) = read_judgments(table)
    assert (found.verdict, found.confidence, found.judge) == (True, 0.5, "Ben")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("x,a,t,s,r,o,q,maybe,,", "line 2: 'maybe' is neither true nor false"),
        ("x,a,t,s,r,o,q,true,2,", "line 2: '2' is no confidence"),
    ],
)
def test_a_judgment_that_is_none_is_reported_with_its_line(tmp_path: Path, row: str, message: str) -> None:
    table = tmp_path / "judge.csv"
    table.write_text(f"id,group,context,subject,relation,object,quote,judgement,confidence,judge\n{row}\n")
    with pytest.raises(EvaluationError) as raised:
        read_judgments(table)
    assert message in str(raised.value)
    table.write_text("id,group\n")
    with pytest.raises(EvaluationError, match="has no column 'context'"):
        read_judgments(table)


def test_most_judges_decide_and_a_tie_is_no_judgment() -> None:
    three = [*judged("a", True, True), *judged("b", True, False), *judged("c", False, True)]
    assert [(one.verdict, one.confidence) for one in majority(three)] == [(True, 2 / 3)] * 2
    assert majority([*judged("a", True), *judged("b", False)]) == []


def test_true_and_false_are_counted_by_text() -> None:
    reported = summary("a", judged("a", True, True, False, True)).json()
    assert (reported["true_per_text"], reported["false_per_text"], reported["precision"]["value"]) == (
        1.5,
        0.5,
        0.75,
    )


def test_agreement_is_measured_on_what_both_judged() -> None:
    one = judged("a", True, True, True, False, False, False)
    found = agreement(one, judged("b", True, True, False, False, False, False, True))
    assert (found.items, found.groups) == (6, 3)
    assert found.same == pytest.approx(5 / 6)
    assert found.kappa == pytest.approx(2 / 3)
    assert found.rank == pytest.approx(0.866, abs=1e-3)


def test_rank_correlation_gives_ties_their_mean_rank() -> None:
    assert spearman([1, 2, 3, 4], [10, 20, 30, 40]) == pytest.approx(1)
    assert spearman([1, 2, 2, 3], [3, 2, 2, 1]) == pytest.approx(-1)
    assert spearman([1, 1, 1], [1, 2, 3]) is None
    assert spearman([1, 2], [2, 1]) is None


async def test_a_model_judges_several_times_and_most_count() -> None:
    model = ScriptedModel(vote("true", 0.9), vote("false", 0.6), vote("true", 0.7), ModelReplyError("?", "?"))
    done = await JudgeModel(model, repeats=3).judge([item("a"), item("b")])
    (found,) = done.judgments
    assert (found.verdict, found.judge) == (True, "scripted")
    assert found.confidence == pytest.approx((0.9 + 0.7) / 3)
    assert done.failed == 1
    assert done.cost.turns == 3
    assert {asked[2] for asked in model.asked} == {0.7}
    with pytest.raises(EvaluationError, match="odd number"):
        JudgeModel(model, repeats=2)


@pytest.mark.parametrize(("reply", "confidence"), [(vote("false", 0.8), 0.8), (vote("false"), None)])
async def test_the_confidence_of_a_judge_is_the_probability_of_its_verdict_or_unknown(
    reply: Reply, confidence: float | None
) -> None:
    model = ScriptedModel(reply)
    (found,) = (await JudgeModel(model).judge([item("a")])).judgments
    assert (found.verdict, found.confidence) == (False, pytest.approx(confidence))
    (_, schema, _) = model.asked[0]
    assert schema is not None
    assert list(schema["properties"]) == ["quote", "reason", "verdict"]


def test_the_page_is_whole_and_no_text_can_break_out_of_it(tmp_path: Path) -> None:
    page = tmp_path / "judge.html"
    bad = Item("a", "</script><img src=x onerror=alert(1)> $items", "<b>", "is a", "&")
    write_page(page, [bad], "1 <statement>")
    written = page.read_text(encoding="utf-8")
    assert written.count("</script>") == 2
    assert "1 &lt;statement&gt;" in written
    data = written.partition('id="items">')[2].partition("</script>")[0]
    assert json.loads(data)[0]["context"] == bad.context


@pytest.mark.parametrize(
    "text",
    [
        "=HYPERLINK(1)",
        "+1",
        "-1",
        "@SUM(1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "'=1",
        "''=1",
        "\uff1d1",
        "'tis",
        "",
        "a=1",
        "'",
    ],
)
def test_no_cell_is_a_formula_and_each_is_read_back_as_it_was(tmp_path: Path, text: str):
    table = tmp_path / "judge.csv"
    item = Item(text, text, text, text, text, text)
    write_table(table, [item], [Judgment(item, True, text or "somebody")])
    with table.open(encoding="utf-8-sig", newline="") as stream:
        (_, row) = csv.reader(stream)
    assert not [cell for cell in row if cell[:1] in tuple("=+-@\t\r\n\uff1d")]
    assert items_of(table) == [item]
    (found,) = read_judgments(table)
    assert found.judge == (text or "somebody").strip()
