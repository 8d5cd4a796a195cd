"""A little city with an ontology of its own, a real store, and a model that gives prepared replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import DefaultGraph, NamedNode, Quad, QueryResultsFormat, QueryTriples, Store

from extractors.models.chat import Message, PromptProfile, Reply
from geo.functions import FUNCTIONS
from ontology import Schema
from sparql.ask.grammar.items import Context
from sparql.ask.grammar.quantities import Quantities
from sparql.ask.linking.linker import LinkedQuestion, QuestionLinker
from sparql.ask.linking.summary import DataSummary
from sparql.ask.model import AskedModel
from sparql.ask.places import NearDistances
from sparql.ask.plan.typing import Typing
from sparql.ask.service import Asker
from sparql.names.labels import LabelIndex
from tests.support.schema_dialect import check_schema

DATA = Path(__file__).parent / "data"


@dataclass
class RecordedModel:
    """A model whose replies were written down beforehand; it keeps what it was asked."""

    replies: list[str]
    prompt_profile: PromptProfile = "compact"
    name: str = "recorded"
    asked: list[Sequence[Message]] = field(default_factory=list)
    temperatures: list[float] = field(default_factory=list)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        if schema is not None:
            check_schema(schema)
        self.asked.append(tuple(messages))
        self.temperatures.append(temperature)
        return Reply(self.replies.pop(0), "stop", 1, 1, 0.0, self.name, None)

    async def close(self) -> None:
        return None


@dataclass
class City:
    """The store, the ontology, the label index and the summary over it."""

    schema: Schema
    store: Store
    labels: LabelIndex
    summary: DataSummary
    queries: list[str] = field(default_factory=list)

    async def run(self, query: str) -> dict[str, Any]:
        self.queries.append(query)
        results = self.store.query(query, custom_functions=dict(FUNCTIONS))
        assert not isinstance(results, QueryTriples)
        found: dict[str, Any] = json.loads(results.serialize(format=QueryResultsFormat.JSON) or b"")
        return found

    def asker(
        self,
        model: RecordedModel | None = None,
        prompts: Path | None = None,
        samples: int = 1,
        queries: bool = False,
    ) -> Asker:
        return Asker(
            schema=self.schema,
            labels=self.labels,
            summary=self.summary,
            model=AskedModel(model, samples, queries) if model is not None else None,
            run_query=self.run,
            prompts=prompts,
        )

    async def link(self, question: str) -> tuple[LinkedQuestion, Context]:
        """Link a question; with what planning needs to know of the data."""
        await self.summary.refresh(self.run)
        linker = QuestionLinker(self.schema, self.labels, self.summary)

        def classes_of(iri: NamedNode) -> frozenset[NamedNode]:
            return frozenset(c for entry in self.labels.entries_of(iri) for c in entry.classes)

        typing = Typing(self.schema, self.summary, classes_of)
        context = Context(typing, Quantities(typing, linker.terms), NearDistances(self.schema).of)
        return await linker.link(question, self.run), context


@pytest.fixture(scope="session")
def schema() -> Schema:
    return Schema.load(DATA / "ontology")


@pytest.fixture
def city(schema: Schema) -> City:
    return build_city(schema)


def build_city(schema: Schema, extra: str = "") -> City:
    store = Store()
    for path in sorted(DATA.rglob("*.ttl")):
        store.load(path=str(path))
    if extra:
        prefixes = "".join(f"PREFIX {p}: <{n}>\n" for p, n in schema.prefixes.items() if p)
        store.update(f"{prefixes} PREFIX c: <https://example.org/city/> INSERT DATA {{ {extra} }}")
    labels = LabelIndex()
    labels.rebuild(quads_of(store))
    return City(schema, store, labels, DataSummary(schema))


def quads_of(store: Store) -> list[Quad]:
    return list(store.quads_for_pattern(None, None, None, DefaultGraph()))


@pytest.fixture
def city_with(schema: Schema) -> Callable[[str], City]:
    return lambda extra: build_city(schema, extra)
