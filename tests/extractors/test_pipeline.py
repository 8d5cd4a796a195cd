"""The whole way from a text to candidates, with a model that answers from a script."""

import asyncio
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from outlines_core.fsm.outlines_core_rs import build_regex_from_schema
from pyoxigraph import Literal, NamedNode

from extractors.candidates import (
    AMBIGUOUS_NAME,
    HEDGED,
    LOW_CONFIDENCE,
    NOT_A_NAME,
    NOT_IN_TEXT,
    NOTHING_STANDS,
    RDF_TYPE,
    RDFS_LABEL,
    UNKNOWN_TERM,
    UNREADABLE_VALUE,
    VALUE_FOR_ENTITY,
    WRONG_CLASS,
    Candidate,
    Extraction,
)
from extractors.cleaning import TextError
from extractors.errors import (
    ModelReplyError,
    ModelRequestRefused,
    ModelTimeout,
    ModelUnavailable,
)
from extractors.models.chat import Reply, Token
from extractors.pipeline import Pipeline
from extractors.prompting import extraction_schema
from ontology.schema import Schema
from tests.extractors.scripted import (
    COLUMBIA,
    COLUMBIA_TRIPLES,
    ONTOLOGY,
    ScriptedModel,
    city_labels,
    english,
    known,
    pipeline,
    reply,
    urban,
    words,
    xsd,
)

SAMPLE_GOLD = Path(__file__).parents[2] / "server" / "sample" / "texts" / "gold.jsonl"
TWO_WINDOWS = "The Bowery Hall is in Manhattan.\n\n" + "It is old. " * 2 + "\n\nAstor House is in Brooklyn."


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema.load(ONTOLOGY)


async def extract(schema: Schema, text: str, *triples: tuple[str, str, str], **options: Any) -> Extraction:
    return await pipeline(schema, ScriptedModel(reply(triples)), **options).extract(text)


def by_predicate(extraction: Extraction, predicate: NamedNode) -> Candidate:
    (found,) = (c for c in extraction.candidates if c.predicate == predicate)
    return found


def rules(candidate: Candidate) -> list[NamedNode]:
    return [problem.rule for problem in candidate.problems]


async def test_the_model_may_choose_a_class_for_a_new_name_whose_kind_the_text_does_not_say(
    schema: Schema,
) -> None:
    text = "The Elm Hall was designed by Ada Stone."
    found = await extract(
        schema, text, ("Elm Hall", "designed by", "Ada Stone"), ("Ada Stone", "is a", "person")
    )
    kind = by_predicate(found, RDF_TYPE)
    assert (kind.object, kind.problems) == (urban("Person"), ())
    assert kind.evidence is not None
    assert kind.evidence.quote == "Ada Stone"


@pytest.mark.parametrize(
    ("name", "words"), [("Ada Stone", "famous architect"), ("Manhattan", "museum"), ("Bob Nowhere", "person")]
)
async def test_what_the_text_does_not_say_is_refused_but_for_the_class_of_a_new_name(
    schema: Schema, name: str, words: str
) -> None:
    text = "The Elm Hall in Manhattan was designed by Ada Stone."
    found = await extract(schema, text, (name, "is a", words))
    assert NOT_IN_TEXT in rules(by_predicate(found, RDF_TYPE))


async def test_the_columbia_sentence_gives_its_statements_with_exact_spans(schema: Schema) -> None:
    extraction = await extract(schema, COLUMBIA, *COLUMBIA_TRIPLES)
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
    ]
    assert not any(c.problems for c in extraction.candidates)
    assert columbia.value.startswith("https://w3id.org/urbankg/id/columbia-university-")
    assert (extraction.model, extraction.adapter) == ("scripted", "test-adapter")
    assert extraction.prompt_version.startswith("extract-full@")


async def test_entities_are_told_apart_into_known_and_new(schema: Schema) -> None:
    extraction = await extract(schema, COLUMBIA, *COLUMBIA_TRIPLES)
    assert [(e.label, e.new, e.classes) for e in extraction.entities] == [
        ("Columbia University", True, (urban("University"),)),
        ("New York City", False, (urban("City"),)),
        ("Trinity Church", True, ()),
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
    ((_, user), served, temperature) = model.asked[0]
    assert user.content.rstrip().endswith(COLUMBIA)
    assert served is not None
    offered = served["properties"]["triples"]["items"]["properties"]["relation"]["enum"]
    assert {"is a", "located in", "established"} <= set(offered)
    assert all(f"- {relation}" in user.content for relation in offered)
    assert temperature == 0.0


async def test_a_large_model_is_told_the_definitions(schema: Schema) -> None:
    model = ScriptedModel(reply([]), profile="full")
    extraction = await pipeline(schema, model).extract(COLUMBIA)
    assert "- located in (" in model.asked[0][0][1].content
    assert extraction.prompt_version.startswith("extract-full@")


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


async def test_invented_names_and_values_are_not_in_the_text(schema: Schema) -> None:
    extraction = await extract(
        schema, COLUMBIA, ("Zorro Hall", "located in", "Manhattan"), ("Trinity Church", "established", "1697")
    )
    label, located, church, established = extraction.candidates
    assert NOT_IN_TEXT in rules(label)
    assert rules(located) == [NOT_IN_TEXT]
    assert rules(established) == [NOT_IN_TEXT]
    assert rules(church) == [NOTHING_STANDS]


async def test_pronouns_and_common_nouns_are_no_names(schema: Schema) -> None:
    for subject in ("it", "the oldest institution"):
        extraction = await extract(schema, COLUMBIA, (subject, "located in", "New York"))
        assert all(NOT_A_NAME in rules(c) for c in extraction.candidates)


async def test_denied_statements_are_hedged(schema: Schema) -> None:
    text = "The Gateway Tower was planned for Manhattan but never built there."
    extraction = await extract(schema, text, ("Gateway Tower", "located in", "Manhattan"))
    assert rules(by_predicate(extraction, urban("locatedIn"))) == [HEDGED]


async def test_an_unknown_relation_is_kept_as_a_proposal(schema: Schema) -> None:
    extraction = await extract(schema, COLUMBIA, ("Columbia University", "sings to", "Manhattan"))
    proposal = extraction.candidates[-1]
    assert proposal.predicate.value == "https://w3id.org/urbankg/id/term/sings-to"
    assert (proposal.object, rules(proposal)) == (Literal("Manhattan"), [UNKNOWN_TERM])


async def test_an_unknown_class_keeps_the_words(schema: Schema) -> None:
    text = "Columbia University is a grand glimmerfax."
    extraction = await extract(schema, text, ("Columbia University", "is a", "grand glimmerfax"))
    kind = by_predicate(extraction, RDF_TYPE)
    assert (kind.object, rules(kind)) == (Literal("grand glimmerfax"), [UNKNOWN_TERM])


@pytest.mark.parametrize(
    ("phrase", "name"),
    [
        ("a large park on the river", "Park"),
        ("museum in the oldest house", "Museum"),
        ("place of worship", "PlaceOfWorship"),
    ],
)
async def test_the_head_of_a_noun_phrase_decides_the_class(schema: Schema, phrase: str, name: str) -> None:
    extraction = await extract(schema, f"The Bowery Hall is {phrase}.", ("Bowery Hall", "is a", phrase))
    assert by_predicate(extraction, RDF_TYPE).object == urban(name)


async def test_a_value_where_an_entity_belongs_is_a_problem(schema: Schema) -> None:
    extraction = await extract(schema, COLUMBIA, ("Columbia University", "located in", "1754"))
    assert rules(extraction.candidates[-1]) == [VALUE_FOR_ENTITY]
    assert extraction.candidates[-1].object == Literal("1754")


async def test_an_entity_whose_name_is_a_number_is_still_linked(schema: Schema) -> None:
    text = "Court Square Station is served by the 7 in Queens."
    extraction = await extract(schema, text, ("Court Square Station", "served by", "7"))
    assert by_predicate(extraction, urban("servedBy")).object == known("seven")


async def test_swapped_ends_of_a_date_are_a_problem(schema: Schema) -> None:
    extraction = await extract(schema, COLUMBIA, ("1754", "established", "Columbia University"))
    assert all(candidate.problems for candidate in extraction.candidates)


async def test_an_entity_of_an_impossible_class_is_a_problem(schema: Schema) -> None:
    text = "Brooklyn is held at Manhattan."
    extraction = await extract(schema, text, ("Brooklyn", "held at", "Manhattan"))
    held = by_predicate(extraction, urban("heldAt"))
    assert (held.subject, held.object, rules(held)) == (known("brooklyn"), known("manhattan"), [WRONG_CLASS])


async def test_a_name_that_two_entities_bear_is_ambiguous(schema: Schema) -> None:
    text = "The Bowery Hall is in Springfield."
    extraction = await extract(schema, text, ("Bowery Hall", "located in", "Springfield"))
    assert rules(by_predicate(extraction, urban("locatedIn"))) == [AMBIGUOUS_NAME]


async def test_values_are_read_in_the_propertys_datatype_and_unit(schema: Schema) -> None:
    text = "The Bowery Hall is 1,454 feet tall, has 102 floors and opened on 1 May 1931 or in the 1930s."
    extraction = await extract(
        schema,
        text,
        ("Bowery Hall", "height", "1,454 feet"),
        ("Bowery Hall", "floor count", "102"),
        ("Bowery Hall", "opened", "1 May 1931"),
        ("Bowery Hall", "renovated", "the 1930s"),
    )
    assert by_predicate(extraction, urban("height")).object == xsd("443.18", "decimal")
    assert by_predicate(extraction, urban("floorCount")).object == xsd("102", "nonNegativeInteger")
    assert by_predicate(extraction, urban("opened")).object == xsd("1931-05-01", "date")
    unreadable = by_predicate(extraction, urban("renovated"))
    assert (unreadable.object, rules(unreadable)) == (Literal("the 1930s"), [UNREADABLE_VALUE])


async def test_one_name_is_one_entity_throughout_a_text(schema: Schema) -> None:
    extraction = await extract(
        schema,
        COLUMBIA,
        ("Columbia University", "located in", "Manhattan"),
        ("columbia  university", "established", "1754"),
    )
    assert len({c.subject for c in extraction.candidates}) == 1


async def test_a_surname_after_the_full_name_is_the_same_person(schema: Schema) -> None:
    text = "Jane Jacobs was born in Brooklyn. Jacobs died in Manhattan."
    extraction = await extract(
        schema, text, ("Jane Jacobs", "born in", "Brooklyn"), ("Jacobs", "died in", "Manhattan")
    )
    assert [e.label for e in extraction.entities] == ["Jane Jacobs", "Brooklyn", "Manhattan"]


async def test_a_part_of_another_places_name_is_a_place_of_its_own(schema: Schema) -> None:
    text = "The Bowery Hall is in East Harlem. Astor House is in Harlem."
    extraction = await extract(
        schema, text, ("Bowery Hall", "located in", "East Harlem"), ("Astor House", "located in", "Harlem")
    )
    assert [e.label for e in extraction.entities] == ["Bowery Hall", "East Harlem", "Astor House", "Harlem"]


async def test_a_name_given_as_another_label_is_no_second_entity(tmp_path: Path) -> None:
    (tmp_path / "small.ttl").write_text(
        """
        @prefix : <https://example.org/small#> .
        @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        <https://example.org/small> a owl:Ontology .
        :calledBefore a owl:DatatypeProperty ; rdfs:subPropertyOf <https://schema.org/alternateName> ;
            rdfs:label "called before"@en .
        :inside a owl:ObjectProperty ; rdfs:label "inside"@en .
        """
    )
    text = "Astor House was called before City Hotel. City Hotel is inside Manhattan."
    triples = [("Astor House", "called before", "City Hotel"), ("City Hotel", "inside", "Manhattan")]
    extraction = await extract(Schema.load(tmp_path), text, *triples)
    assert [e.label for e in extraction.entities] == ["Astor House", "Manhattan"]
    assert len({c.subject for c in extraction.candidates}) == 1


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
    assert len(sound) >= 0.95 * len(candidates)


async def test_statements_said_twice_are_merged_with_the_greater_confidence(schema: Schema) -> None:
    text = reply([COLUMBIA_TRIPLES[1], COLUMBIA_TRIPLES[1]]).text
    second = text.index(", {")
    tokens = tuple(Token(c, math.log(0.5) if i < second else math.log(0.8)) for i, c in enumerate(text))
    extraction = await pipeline(schema, ScriptedModel(words(text, tokens=tokens))).extract(COLUMBIA)
    assert [c.predicate for c in extraction.candidates] == [RDFS_LABEL, urban("locatedIn")]
    assert extraction.candidates[1].confidence == pytest.approx(0.8)


async def test_a_confidence_below_the_setting_is_a_problem(schema: Schema) -> None:
    text = reply([COLUMBIA_TRIPLES[1]]).text
    model = ScriptedModel(words(text, tokens=tuple(Token(c, math.log(0.3)) for c in text)))
    extraction = await pipeline(schema, model, minimum_confidence=0.5).extract(COLUMBIA)
    assert rules(by_predicate(extraction, urban("locatedIn"))) == [LOW_CONFIDENCE]


async def test_an_iri_in_use_is_not_minted(schema: Schema) -> None:
    first = await extract(schema, COLUMBIA, COLUMBIA_TRIPLES[2])
    taken = first.candidates[0].subject
    again = Pipeline(
        schema=lambda: schema,
        labels=city_labels(),
        model=ScriptedModel(reply([COLUMBIA_TRIPLES[2]])),
        exists=lambda iri: iri == taken,
    )
    assert (await again.extract(COLUMBIA)).candidates[0].subject != taken


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
    assert len(extraction.windows) == 1
    assert "cut off" in str(extraction.windows[0].error)


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
    with pytest.raises(ModelReplyError, match="not the JSON"):
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
    assert (await under_test.extract(COLUMBIA)).candidates[-1].predicate == urban("locatedIn")


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
