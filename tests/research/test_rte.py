"""Gold texts, and what counts as right, supported or wrong by them."""

import json
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from extractors.candidates import RDFS_LABEL, Candidate, Entity, Extraction
from ontology.schema import Schema
from research.urban.gold import Gated, measure, read_gold
from research.urban.measuring import score

ROOT = Path(__file__).parents[2]
GOLD = ROOT / "research" / "urban"
HALL, TOWN = NamedNode("urn:hall"), NamedNode("urn:town")
TERMS = {label: NamedNode(f"https://w3id.org/urbankg/urban#{label}") for label in ("locatedIn", "opened")}


def said(subject: NamedNode, predicate: NamedNode, value: NamedNode | Literal, *words: str) -> Candidate:
    reply = json.dumps(dict(zip(("subject", "relation", "object"), words, strict=True)))
    return Candidate(subject, predicate, value, reply=reply)


async def test_what_the_gold_also_allows_is_supported_and_not_asked_for(tmp_path: Path):
    fact = {"subject": "Mill Hall", "relation": "opened", "object": "1901"}
    other = {"subject": "Mill Hall", "relation": "located in", "object": "Mini City"}
    row = {"id": "a", "text": "Mill Hall, Mini City, opened in 1901.", "triples": [fact], "also": [other]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(row), encoding="utf-8")
    candidates = (
        said(HALL, TERMS["locatedIn"], TOWN, "Mill Hall", "located in", "Mini City"),
        said(HALL, TERMS["opened"], Literal("1902"), "Mill Hall", "opened", "1902"),
        Candidate(HALL, RDFS_LABEL, Literal("Mill Hall")),
    )
    entities = (
        Entity(HALL, "Mill Hall", (), new=True, mentions=()),
        Entity(TOWN, "Mini City", (), new=True, mentions=()),
    )
    extraction = Extraction(
        candidates, entities, (), model="test", adapter=None, prompt_version="1", method="fast", seconds=0.0
    )

    async def extract(text: str) -> Gated:
        return Gated(extraction, {Triple(c.subject, c.predicate, c.object) for c in candidates})

    results = await measure(read_gold(tmp_path / "gold.jsonl"), extract, Schema.load(ROOT / "ontology"))
    found = score(results).relations
    assert (found.right, found.told, found.gold, found.named) == (0, 2, 1, 1)


@pytest.mark.parametrize("name", ["urban_gold.jsonl", "cities_gold.jsonl", "long_gold.jsonl"])
def test_every_end_of_a_gold_triple_is_in_its_text(name: str):
    for gold in read_gold(GOLD / name):
        text = " ".join(gold.text.casefold().split())
        for subject, relation, value in gold.triples | gold.also:
            assert subject in text, gold.identifier
            assert value in text, f"{gold.identifier}: {relation}"


@pytest.mark.parametrize("name", ["urban_gold.jsonl", "cities_gold.jsonl", "long_gold.jsonl"])
def test_gold_uses_relations_of_the_ontology(name: str):
    labels = {term.label for term in Schema.load(ROOT / "ontology").properties.values()} | {"is a"}
    for gold in read_gold(GOLD / name):
        assert {relation for _, relation, _ in gold.triples | gold.also} <= labels, gold.identifier
