"""From what the model says to candidates: terms, names, values, and the problems that keep one back."""

import math
from pathlib import Path

import pytest
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
)
from extractors.models.chat import Token
from extractors.pipeline import Pipeline
from ontology.schema import Schema
from tests.support.scripted import (
    COLUMBIA,
    COLUMBIA_TRIPLES,
    ScriptedModel,
    by_predicate,
    city_labels,
    extract,
    known,
    pipeline,
    reply,
    rules,
    urban,
    words,
    xsd,
)


async def test_the_model_may_choose_a_class_for_a_new_name_whose_kind_the_text_does_not_say(
    schema: Schema,
) -> None:
    text = "The Elm Hall was designed by Ada Stone."
    found = await extract(
        schema, text, ("Elm Hall", "designed by", "Ada Stone"), ("Ada Stone", "is a", "person")
    )
    (kind,) = (one for one in found.candidates if one.predicate == RDF_TYPE and one.reply)
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
    located = by_predicate(extraction, urban("locatedIn"))
    assert rules(located) == [AMBIGUOUS_NAME, AMBIGUOUS_NAME]
    candidates = {known("springfield-gardens"), known("springfield-town")}
    assert {problem.value for problem in located.problems} == candidates
    assert located.object not in candidates


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


async def test_a_unit_that_only_a_label_states_is_converted_to(tmp_path: Path) -> None:
    (tmp_path / "o.ttl").write_text(
        "@prefix : <http://example.org/o#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
        ':height a owl:DatatypeProperty ; rdfs:label "height (m)"@en ; rdfs:range xsd:decimal .'
    )
    text = "The Bowery Hall has a height of 1,454 feet."
    extraction = await extract(Schema.load(tmp_path), text, ("Bowery Hall", "height (m)", "1,454 feet"))
    height = by_predicate(extraction, NamedNode("http://example.org/o#height"))
    assert height.object == xsd("443.18", "decimal")


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


async def test_statements_said_twice_are_merged_with_the_greater_confidence(schema: Schema) -> None:
    text = reply([COLUMBIA_TRIPLES[1], COLUMBIA_TRIPLES[1]]).text
    second = text.index(", {")
    tokens = tuple(Token(c, math.log(0.5) if i < second else math.log(0.8)) for i, c in enumerate(text))
    extraction = await pipeline(schema, ScriptedModel(words(text, tokens=tokens))).extract(COLUMBIA)
    assert [c.predicate for c in extraction.candidates] == [RDFS_LABEL, urban("locatedIn"), RDF_TYPE]
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
