"""Which of the relations that the same words are taken for stays, and which wait for a person."""

from extractors.checks.plausibility import Claim, overruled
from ontology.schema import Schema


def claim(schema: Schema, label: str, score: float, quote: str, *, mentions: int = 1) -> Claim[str]:
    term = schema.find_property(label)
    assert term is not None
    return Claim(label, "ends", term, quote, mentions, score)


def left_out(schema: Schema, *claims: Claim[str]) -> dict[str, str]:
    return {str(key): rather.label for key, rather in overruled(claims, schema).items()}


def test_the_relation_whose_words_stand_there_wins_over_a_surer_one(schema: Schema):
    quote = "The hall closed on 3 May 1971"
    assert left_out(schema, claim(schema, "closed", 0.7, quote), claim(schema, "opened", 0.9, quote)) == {
        "opened": "closed"
    }


def test_where_the_words_name_neither_the_surer_one_stays(schema: Schema):
    quote = "The tower rises 63 metres"
    claims = claim(schema, "height", 0.8, quote), claim(schema, "elevation", 0.7, quote)
    assert left_out(schema, *claims) == {"elevation": "height"}


def test_two_relations_that_the_words_both_say_stay(schema: Schema):
    quote = "The hall was designed and built by Ada Moss"
    assert not left_out(
        schema, claim(schema, "designed by", 0.9, quote), claim(schema, "built by", 0.6, quote)
    )


def test_a_value_that_is_mentioned_twice_carries_two_relations(schema: Schema):
    quote = "sets out from Grant Park and comes back to Grant Park"
    claims = [
        claim(schema, label, score, quote, mentions=2)
        for label, score in (("starts at", 0.9), ("ends at", 0.8), ("held at", 0.7))
    ]
    assert left_out(schema, *claims) == {"held at": "starts at"}


def test_of_two_relations_that_contradict_each_other_only_one_stays(schema: Schema):
    quote = "The Moss Building replaced the Astor Hotel"
    claims = [claim(schema, "replaces", 0.6, quote, mentions=5), claim(schema, "replaced by", 0.7, quote)]
    assert left_out(schema, *claims) == {"replaced by": "replaces"}


def test_statements_about_other_ends_are_no_rivals(schema: Schema):
    term = schema.find_property("opened")
    assert term is not None
    assert not overruled([Claim(n, ("hall", n), term, "The hall opened", 1, 0.5) for n in (1, 2)], schema)


def test_of_a_statement_and_its_inverse_the_one_that_the_words_say_stays(schema: Schema):
    quote = "The Ash Zoo is managed by the Ash Society"
    terms = schema.find_property("operated by"), schema.find_property("operates")
    assert None not in terms
    by, of = (
        Claim(term.label, ends, term, quote, 1, score)
        for term, ends, score in zip(terms, (("zoo", "club"), ("club", "zoo")), (0.6, 0.9), strict=True)
        if term is not None
    )
    assert {key: rather.label for key, rather in overruled([by, of], schema).items()} == {
        "operates": "operated by"
    }
