"""What the demo's graph says of its texts is what the texts say.

`tests/data/demo_replies.json` holds what the embedded model answered to the twelve texts, of which README has
the first, and `tests/data/demo_facts.jsonl` what a person judged: whether the text says a relation.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyoxigraph import NamedNode, Triple

from extractors.candidates import RDFS_LABEL
from ontology.labels import local_name
from research.empty_graph import empty_graph
from server.data.sample.city import sample_texts
from server.intake.outcome import Outcome
from server.services import Services
from server.settings import Settings
from tests.support.recorded.forms import RecordedForms

DATA = Path(__file__).parents[3] / "data"
Fact = tuple[str, str, str, str]


@pytest.fixture(scope="module")
def judged() -> dict[Fact, bool]:
    rows = map(json.loads, (DATA / "demo_facts.jsonl").read_text(encoding="utf-8").splitlines())
    return {(row["text"], row["subject"], row["relation"], row["object"]): row["right"] for row in rows}


async def _read() -> tuple[set[Fact], set[Fact]]:
    """The relations that the gate accepted, and those that it refused, of every text in order."""
    accepted: set[Fact] = set()
    refused: set[Fact] = set()
    model = RecordedForms(DATA / "demo_replies.json")
    async with empty_graph(Settings(), model, sample=True) as services:
        for name, text in sample_texts():
            outcome = await services.intake.extract(text, source=name)
            accepted |= _facts(services, name, outcome, [one.triple for one in outcome.verdict.accepted])
            refused |= _facts(
                services, name, outcome, [one.statement.triple for one in outcome.verdict.rejected]
            )
    return accepted, refused


def _facts(services: Services, text: str, outcome: Outcome, triples: list[Triple]) -> set[Fact]:
    assert outcome.extraction is not None
    labels = {entity.iri: entity.label for entity in outcome.extraction.entities}

    def words(term: object) -> str:
        if not isinstance(term, NamedNode):
            return str(getattr(term, "value", term))
        known = services.schema.classes.get(term) or services.schema.properties.get(term)
        entries = services.labels.entries_of(term)
        main = [entry.label for entry in entries if entry.main]
        return labels.get(term) or (known.label if known else (main or [local_name(term.value)])[0])

    return {
        (text, words(triple.subject), words(triple.predicate), words(triple.object))
        for triple in triples
        if triple.predicate != RDFS_LABEL
    }


async def test_no_false_relation_of_the_demo_is_accepted_and_most_right_ones_are(
    judged: dict[Fact, bool],
) -> None:
    accepted, refused = await _read()
    assert accepted - judged.keys() == set(), "judge these by hand and add them to demo_facts.jsonl"
    assert {fact for fact in accepted if not judged[fact]} == set()
    right = {fact for fact, is_right in judged.items() if is_right}
    relations = {fact for fact in judged if fact[2] != "type"}
    assert len(relations) >= 60
    # Six opening dates wait: the sample city has their years, and a date is one fact.
    assert len(accepted & right) >= 0.8 * len(right)
    assert ("01-columbia", "New York City", "former name", "Manhattan") in refused
    assert ("07-yankee-stadium", "Yankee Stadium", "replaced by", "New York Yankees") in refused
    assert ("05-high-line", "High Line", "starts at", "34th Street") in refused
    assert ("05-high-line", "Gansevoort Street", "type", "street") in accepted
