"""The whole way from a text to candidates, with a model that answers from a script."""

import asyncio
import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from outlines_core.fsm.outlines_core_rs import build_regex_from_schema
from pyoxigraph import Literal

from extractors.candidates import RDF_TYPE, RDFS_LABEL, UNKNOWN_TERM, Candidate
from extractors.errors import ModelReplyError, ModelRequestRefused, ModelTimeout, ModelUnavailable
from extractors.grounding.linking import Linker
from extractors.models.chat import Reply
from extractors.pipeline import Pipeline
from extractors.prompting.prompt import extraction_schema
from extractors.text.cleaning import TextError
from ontology.schema import Schema
from tests.support.scripted import (
    COLUMBIA,
    COLUMBIA_TRIPLES,
    ScriptedModel,
    by_predicate,
    city_labels,
    english,
    extract,
    known,
    pipeline,
    reply,
    rules,
    urban,
    words,
    xsd,
)

SAMPLE_GOLD = Path(__file__).parents[2] / "server" / "data" / "sample" / "texts" / "gold.jsonl"


TWO_WINDOWS = "The Bowery Hall is in Manhattan.\n\n" + "It is old. " * 2 + "\n\nAstor House is in Brooklyn."


async def test_asking_sends_what_extraction_sends_and_links_nothing(schema: Schema) -> None:
    def no_linker(*_: object) -> Linker:
        raise AssertionError("a linker is made")

    asked, extracted = (ScriptedModel(reply([])) for _ in range(2))
    labels = city_labels()
    await Pipeline(schema=schema, labels=labels, model=asked, linker=no_linker).ask(TWO_WINDOWS)
    await Pipeline(schema=schema, labels=labels, model=extracted).extract(TWO_WINDOWS)
    assert asked.asked
    assert asked.asked == extracted.asked
    with pytest.raises(ModelUnavailable):
        await pipeline(schema, ScriptedModel(ModelUnavailable("gone"))).ask(TWO_WINDOWS)


async def test_the_columbia_sentence_gives_its_statements_with_exact_spans(schema: Schema) -> None:
    extraction = await pipeline(schema, ScriptedModel(reply(COLUMBIA_TRIPLES))).extract(COLUMBIA)
    columbia, church = (c.subject for c in extraction.candidates if c.predicate == RDFS_LABEL)
    stated = [
        (c.subject, c.predicate, c.object, c.evidence and (c.evidence.start, c.evidence.end))
        for c in extraction.candidates
    ]
    assert stated == [
        (columbia, RDFS_LABEL, english("Columbia University"), (0, 19)),
        (columbia, RDF_TYPE, urban("University"), (0, 63)),
        (columbia, urban("locatedIn"), known("new-york-city"), (0, 80)),
        (columbia, urban("established"), xsd("1754", "gYear"), (97, 101)),
        (columbia, urban("formerName"), Literal("King's College"), (105, 119)),
        (church, RDFS_LABEL, english("Trinity Church"), (138, 152)),
        (church, urban("locatedIn"), known("manhattan"), (138, 165)),
        (church, RDF_TYPE, urban("Church"), (138, 152)),
    ]
    assert not any(c.problems for c in extraction.candidates)
    assert columbia.value.startswith("https://w3id.org/urbankg/id/columbia-university-")
    assert (extraction.model, extraction.adapter) == ("scripted", "test-adapter")
    assert extraction.prompt_version.startswith("fast@")


async def test_entities_are_separated_into_known_and_new(schema: Schema) -> None:
    extraction = await extract(schema, COLUMBIA, *COLUMBIA_TRIPLES)
    assert [(e.label, e.new, e.classes) for e in extraction.entities] == [
        ("Columbia University", True, (urban("University"),)),
        ("New York City", False, (urban("City"),)),
        ("Trinity Church", True, (urban("Church"),)),
        ("Manhattan", False, (urban("Borough"),)),
    ]
    assert [m.quote for e in extraction.entities for m in e.mentions] == [
        e.label for e in extraction.entities
    ]


async def test_a_model_that_says_nothing_yields_nothing(schema: Schema) -> None:
    extraction = await extract(schema, COLUMBIA)
    assert (extraction.candidates, extraction.entities) == ((), ())
    assert [trace.error for trace in extraction.windows] == [None]


async def test_the_model_is_held_to_the_relations_that_it_is_shown(schema: Schema) -> None:
    model = ScriptedModel(reply([]))
    await pipeline(schema, model).extract(COLUMBIA)
    (messages, served, temperature) = model.asked[0]
    assert COLUMBIA in messages[-1].content
    assert served is not None
    offered = served["properties"]["triples"]["items"]["properties"]["relation"]["enum"]
    assert {"is a", "located in", "established"} <= set(offered)
    assert all(f"- {relation}" in messages[0].content for relation in offered)
    assert temperature == 0.0


async def test_a_large_model_receives_the_definitions(schema: Schema) -> None:
    model = ScriptedModel(reply([]), profile="full")
    extraction = await pipeline(schema, model).extract(COLUMBIA)
    assert "- located in (" in model.asked[0][0][0].content
    assert extraction.prompt_version.startswith("fast@")


def test_the_reply_schema_is_accepted_by_the_strictest_servers_code() -> None:
    served = extraction_schema(["is a", "located in"])
    assert "triples" in build_regex_from_schema(json.dumps(served))


async def test_spans_count_code_points_after_emoji_and_combining_characters(schema: Schema) -> None:
    text = "🏙️👩‍👩‍👧 The Cafe\u0301 Sabarsky opened in Manhattan in 2001. 🎉"
    extraction = await extract(
        schema, text, ("Café Sabarsky", "located in", "Manhattan"), ("Café Sabarsky", "opened", "2001")
    )
    located = by_predicate(extraction, urban("locatedIn"))
    assert located.evidence is not None
    assert located.evidence.quote == "Cafe\u0301 Sabarsky opened in Manhattan"
    assert located.evidence.start == text.index("Cafe")
    assert by_predicate(extraction, urban("opened")).object == xsd("2001", "gYear")
    assert not any(c.problems for c in extraction.candidates)


async def test_a_perfect_reading_of_the_sample_texts_passes_nearly_whole(schema: Schema) -> None:
    candidates: list[Candidate] = []
    for line in SAMPLE_GOLD.read_text(encoding="utf-8").splitlines():
        sample = json.loads(line)
        model = ScriptedModel(
            reply([(t["subject"], t["relation"], t["object"]) for t in sample["triples"]]), reply([])
        )
        found = (await pipeline(schema, model, concurrency=1).extract(sample["text"])).candidates
        for evidence in (candidate.evidence for candidate in found):
            assert evidence is not None
            assert sample["text"][evidence.start : evidence.end] == evidence.quote
        candidates += found
    sound = [candidate for candidate in candidates if not candidate.problems]
    # The second look keeps back what the texts only paraphrase: "the home of" for "housed in".
    assert len(sound) >= 0.94 * len(candidates)


async def test_an_empty_ontology_knows_no_term(schema: Schema) -> None:
    extraction = await extract(Schema.empty(), COLUMBIA, *COLUMBIA_TRIPLES)
    assert extraction.candidates
    assert all(candidate.problems for candidate in extraction.candidates)


async def test_several_windows_are_asked_one_by_one_and_keep_their_order(schema: Schema) -> None:
    model = ScriptedModel(
        reply([("Bowery Hall", "located in", "Manhattan")]),
        reply([]),
        reply([("Astor House", "located in", "Brooklyn")]),
    )
    extraction = await pipeline(schema, model, concurrency=1).extract(TWO_WINDOWS)
    assert [e.label for e in extraction.entities] == ["Bowery Hall", "Manhattan", "Astor House", "Brooklyn"]
    assert [TWO_WINDOWS[w.start : w.end].split()[0] for w in extraction.windows] == ["The", "It", "Astor"]
    for candidate in extraction.candidates:
        assert candidate.evidence is not None
        assert TWO_WINDOWS[candidate.evidence.start : candidate.evidence.end] == candidate.evidence.quote


async def test_a_cut_off_reply_counts_as_far_as_it_goes_and_says_so(schema: Schema) -> None:
    whole = reply(COLUMBIA_TRIPLES).text
    cut = words(whole[: whole.index("1754")], finish="length")
    extraction = await pipeline(schema, ScriptedModel(cut)).extract(COLUMBIA)
    assert urban("locatedIn") in [c.predicate for c in extraction.candidates]
    # The window, and then its two halves, of which the model says the same.
    assert ["cut off" in str(window.error) for window in extraction.windows] == [True] * 3


async def test_a_cut_off_reply_that_the_adapter_refused_counts_as_well(schema: Schema) -> None:
    whole = reply(COLUMBIA_TRIPLES).text
    refused = ModelReplyError("it was cut off: allow more tokens", whole[: whole.index("1754")])
    extraction = await pipeline(schema, ScriptedModel(refused)).extract(COLUMBIA)
    assert urban("locatedIn") in [c.predicate for c in extraction.candidates]
    assert "cut off" in str(extraction.windows[0].error)


async def test_a_broken_reply_is_asked_for_once_more(schema: Schema) -> None:
    model = ScriptedModel(words("nonsense"), reply(COLUMBIA_TRIPLES))
    extraction = await pipeline(schema, model).extract(COLUMBIA)
    assert [trace.error is None for trace in extraction.windows] == [False, True]
    assert [temperature for _, _, temperature in model.asked] == [0.0, 0.3]
    assert extraction.candidates


async def test_a_reply_that_stays_broken_is_an_error(schema: Schema) -> None:
    model = ScriptedModel(words("nonsense"))
    with pytest.raises(ModelReplyError, match="not the requested JSON"):
        await pipeline(schema, model).extract(COLUMBIA)
    assert len(model.asked) == 2


async def test_one_broken_window_does_not_spoil_the_others(schema: Schema) -> None:
    model = ScriptedModel(
        words("{"), words("{"), reply([]), reply([("Astor House", "located in", "Brooklyn")])
    )
    extraction = await pipeline(schema, model, concurrency=1).extract(TWO_WINDOWS)
    assert [trace.error is None for trace in extraction.windows] == [False, False, True, True]
    assert [e.label for e in extraction.entities] == ["Astor House", "Brooklyn"]


@pytest.mark.parametrize(
    "failure", [ModelUnavailable("down: start it"), ModelTimeout("slow: raise the limit")]
)
async def test_a_model_that_is_down_or_slow_ends_the_extraction_at_once(
    schema: Schema, failure: Exception
) -> None:
    model = ScriptedModel(reply([]), failure, reply([]))
    with pytest.raises(type(failure)):
        await pipeline(schema, model, concurrency=1).extract(TWO_WINDOWS)
    assert len(model.asked) == 2


async def test_a_refused_request_is_not_repeated(schema: Schema) -> None:
    model = ScriptedModel(ModelRequestRefused("schema refused", 422))
    with pytest.raises(ModelRequestRefused):
        await pipeline(schema, model).extract(COLUMBIA)
    assert len(model.asked) == 1


async def test_a_text_that_cannot_be_worked_on_never_reaches_the_model(schema: Schema) -> None:
    model = ScriptedModel(reply([]))
    with pytest.raises(TextError):
        await pipeline(schema, model).extract("   ")
    assert model.asked == []


async def test_the_ontology_in_force_is_asked_for_with_each_text(schema: Schema) -> None:
    ontologies = [Schema.empty(), schema]
    model = ScriptedModel(reply([COLUMBIA_TRIPLES[1]]))
    under_test = Pipeline(schema=lambda: ontologies.pop(0), labels=city_labels(), model=model)
    assert UNKNOWN_TERM in rules((await under_test.extract(COLUMBIA)).candidates[-1])
    assert by_predicate(await under_test.extract(COLUMBIA), urban("locatedIn")).problems == ()


NAMES = st.sampled_from(
    ["Columbia University", "it", "Manhattan", "1754", "Springfield", "\ud83d", "🏙", "a" * 70, "…"]
)


ENDS = NAMES | st.text(max_size=12)


RELATIONS = st.sampled_from(
    ["is a", "located in", "established", "height", "former name", "website", "?"]
) | st.text(max_size=6)


TRIPLES = st.lists(st.tuples(ENDS, RELATIONS, ENDS), max_size=6)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(min_size=1, max_size=120), TRIPLES, st.randoms(use_true_random=False))
def test_any_text_and_any_reply_give_exact_evidence_and_no_crash(
    schema: Schema, text: str, triples: list[tuple[str, str, str]], chance: random.Random
) -> None:
    rows = [{"subject": s, "relation": r, "object": o} for s, r, o in triples]
    rows += [
        {"subject": text[a:b], "relation": "located in", "object": text[c:d]}
        for a, b, c, d in ([chance.randint(0, len(text)) for _ in range(4)] for _ in range(3))
    ]
    whole = json.dumps({"triples": rows}, ensure_ascii=chance.random() < 0.5 or "\ud83d" in str(triples))
    answer: Reply = (
        words(whole) if chance.random() < 0.7 else words(whole[: len(whole) // 2], finish="length")
    )
    try:
        extraction = asyncio.run(pipeline(schema, ScriptedModel(answer), languages=()).extract(text))
    except (TextError, ModelReplyError):
        return
    for candidate in extraction.candidates:
        str(candidate.object)
        if candidate.evidence is None:
            assert candidate.problems
        else:
            assert text[candidate.evidence.start : candidate.evidence.end] == candidate.evidence.quote
    for entity in extraction.entities:
        assert all(text[m.start : m.end] == m.quote for m in entity.mentions)


async def test_the_same_pipeline_over_another_model_asks_that_one(schema: Schema) -> None:
    first, second = ScriptedModel(reply([])), ScriptedModel(reply([]))
    extracting = pipeline(schema, first)
    await extracting.extract(COLUMBIA)
    asked = len(first.asked)
    await extracting.over(second).extract(COLUMBIA)
    assert (len(first.asked), len(second.asked)) == (asked, asked)
