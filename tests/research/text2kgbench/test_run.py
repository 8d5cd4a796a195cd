"""A run over a benchmark: predictions in its format, scores, and going on where it ended."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from extractors.errors import EvaluationError, ModelReplyError, ModelTimeout, ModelUnavailable
from extractors.models.accounting import Prices
from extractors.models.chat import Message, Reply
from extractors.prompting.reply import ReplyTriple
from extractors.readers.reading import Reading, Turn
from extractors.text.chunking import ChunkSize
from ontology.schema import Schema
from research.run_folder import RunFolder
from research.text2kgbench.ceiling import best_counts
from research.text2kgbench.reading import Fact, TestSet, read_test_set
from research.text2kgbench.run import cost_rows, read_all, result_json, score
from research.text2kgbench.scoring import same_fact
from tests.support.benchmark_files import SENTENCES, write

SETTINGS = {"mode": "by heart"}
KNOWN = {
    SENTENCES["h_1"]: [("Grey Quay", "owned by", "Ada Stone"), ("Grey Quay", "is a", "harbour")],
    SENTENCES["h_2"]: [("Mole End", "opening date", "1889"), ("Mole End", "opening date", "1889")],
}


@dataclass
class ByHeart:
    """Knows what to say of each sentence; fails at those it is set to."""

    chunk_size: ChunkSize = field(default_factory=lambda: ChunkSize(9, 999))
    prompt_version: str = "by-heart@1"
    down_at: str | None = None
    broken_at: str | None = None
    slow_at: tuple[str, ...] = ()
    seconds: float = 0.5
    asked: list[str] = field(default_factory=list)

    async def read(self, window_text: str, schema: Schema) -> Reading:
        if window_text == self.down_at:
            raise ModelUnavailable("down: start it")
        if window_text in self.slow_at:
            raise ModelTimeout("slow: allow more time")
        self.asked.append(window_text)
        reply = Reply("\ud83d", "stop", 10, 5, self.seconds, "by heart", None)
        turn = Turn("triples", "by-heart@1", (Message("user", window_text),), reply, None)
        failure = ModelReplyError("nothing usable", "") if window_text == self.broken_at else None
        said = [] if failure else KNOWN.get(window_text, [])
        return Reading(tuple(ReplyTriple(*triple, "", None) for triple in said), (turn,), failure)


@pytest.fixture
def tests(tmp_path: Path) -> list[TestSet]:
    return [read_test_set(*write(tmp_path))]


async def test_a_run_writes_the_benchmarks_format_and_its_scores(
    tests: list[TestSet], tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path / "run", SETTINGS)
    answers = await read_all(tests, ByHeart(), folder, concurrency=1)
    rows = [json.loads(line) for line in (tmp_path / "run" / "predictions.jsonl").read_text().splitlines()]
    assert rows == [
        {"id": "h_1_1", "triples": [{"sub": "Grey Quay", "rel": "owned by", "obj": "Ada Stone"}]},
        {"id": "h_2_1", "triples": [{"sub": "Mole End", "rel": "opening date", "obj": "1889"}]},
        {"id": "h_3_1", "triples": []},
    ]
    reported = result_json(score(tests, [answers], seed=1), Prices(2.0, 4.0, "EUR"))
    assert reported["scores"]["strict_f1"]["value"] == 0.5
    assert reported["scores"]["official_f1"]["value"] == pytest.approx(1 / 3, abs=1e-4)
    assert reported["relation_types"] == 2
    assert (reported["tokens_per_text"], reported["seconds_per_text"]) == (15.0, 0.5)
    assert reported["thousand_texts"] == {
        "seconds": 500.0,
        "prompt_tokens": 10_000,
        "completion_tokens": 5_000,
        "cost": 0.04,
        "currency": "EUR",
    }


async def test_a_run_read_again_reports_what_it_did_to_the_last_digit(
    tests: list[TestSet], tmp_path: Path
) -> None:
    first = await read_all(tests, ByHeart(seconds=0.00049), RunFolder(tmp_path / "run", SETTINGS))
    again = await read_all(tests, ByHeart(), RunFolder(tmp_path / "run", SETTINGS))
    assert again == first
    reported = result_json(score(tests, [again], seed=1), Prices(None, None, "EUR"))
    assert reported["thousand_texts"]["seconds"] == 0.5
    assert reported["stages"]["triples"]["seconds"] == 0.001


async def test_a_run_that_ended_goes_on_and_asks_no_sentence_again(
    tests: list[TestSet], tmp_path: Path
) -> None:
    with pytest.raises(ModelUnavailable):
        await read_all(
            tests, ByHeart(down_at=SENTENCES["h_2"]), RunFolder(tmp_path / "run", SETTINGS), concurrency=1
        )
    with (tmp_path / "run" / "predictions.jsonl").open("a") as cut_off:
        cut_off.write('{"id": "h_2_1", "tri')
    reader = ByHeart()
    heard: list[tuple[int, int]] = []
    answers = await read_all(
        tests,
        reader,
        RunFolder(tmp_path / "run", SETTINGS),
        concurrency=1,
        tell=lambda done, of: heard.append((done, of)),
    )
    assert reader.asked == [SENTENCES["h_2"], SENTENCES["h_3"]]
    assert heard == [(1, 3), (2, 3), (3, 3)]
    assert list(answers) == ["h_1_1", "h_2_1", "h_3_1"]
    result = score(tests, [answers], seed=1)
    assert list(cost_rows(result)) == [
        ("triples", "1.00", "0.50", "10", "5"),
        ("together", "1.00", "0.50", "10", "5"),
    ]


async def test_a_reply_that_cannot_be_used_counts_as_nothing_found(
    tests: list[TestSet], tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path / "run", SETTINGS)
    answers = await read_all(tests, ByHeart(broken_at=SENTENCES["h_1"]), folder)
    assert answers["h_1_1"].error == "nothing usable"
    assert score(tests, [answers], seed=1).failed == 1


async def test_a_slow_sentence_is_passed_over_and_a_model_that_stays_slow_ends_the_run(
    tests: list[TestSet], tmp_path: Path
) -> None:
    one = ByHeart(slow_at=(SENTENCES["h_2"],))
    answers = await read_all(tests, one, RunFolder(tmp_path / "run", SETTINGS), concurrency=1)
    assert [answer.error for answer in answers.values()] == [None, "slow: allow more time", None]
    folder = RunFolder(tmp_path / "other", SETTINGS)
    with pytest.raises(ModelTimeout):
        await read_all(tests, ByHeart(slow_at=tuple(SENTENCES.values())), folder, concurrency=1)


async def test_samples_have_files_of_their_own(tests: list[TestSet], tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", SETTINGS)
    samples = [await read_all(tests, ByHeart(), folder, sample=number) for number in (1, 2)]
    assert (tmp_path / "run" / "predictions.2.jsonl").is_file()
    result = score(tests, samples, seed=1)
    assert (result.texts, result.whole.sentences) == (6, 3)


async def test_a_folder_of_another_run_or_program_is_refused(tests: list[TestSet], tmp_path: Path) -> None:
    RunFolder(tmp_path / "run", SETTINGS)
    with pytest.raises(EvaluationError, match="another mode"):
        RunFolder(tmp_path / "run", {"mode": "other"})
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "predictions.jsonl").write_text("")
    with pytest.raises(EvaluationError, match="another program"):
        RunFolder(tmp_path / "foreign", SETTINGS)


async def test_sentences_given_twice_are_refused(tests: list[TestSet], tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="same id"):
        await read_all(tests * 2, ByHeart(), RunFolder(tmp_path / "run", SETTINGS))


async def test_the_best_choice_among_all_answers_keeps_what_the_gold_has(tests: list[TestSet]) -> None:
    (test,) = tests
    said = await best_counts(ByHeart(), test, test.sentences)
    assert [(one.right, one.told) for one in said] == [(one.right, one.right) for one in said]
    chosen = sum(one.right for one in said)
    everything = {Fact(*triple) for triples in KNOWN.values() for triple in triples}
    gold = {fact for facts in test.gold.values() for fact in facts}
    assert chosen == sum(any(same_fact(one, other) for other in gold) for one in everything) > 0
