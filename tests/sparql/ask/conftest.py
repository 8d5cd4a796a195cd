"""A little city with an ontology of its own, a real store, and a model that gives prepared replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import DefaultGraph, Quad, QueryResultsFormat, QueryTriples, Store

from extractors.grounding.linking import Linker
from extractors.models.chat import Message, PromptProfile, Reply
from geo.functions import FUNCTIONS
from ontology import Schema
from sparql.ask.service import Asker
from sparql.names.labels import LabelIndex

DATA = Path(__file__).parent / "data"


@dataclass
class RecordedModel:
    """A model whose replies were written down beforehand; it keeps what it was asked."""

    replies: list[str]
    prompt_profile: PromptProfile = "compact"
    name: str = "recorded"
    asked: list[Sequence[Message]] = field(default_factory=list)
    schemas: list[Mapping[str, Any] | None] = field(default_factory=list)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        self.asked.append(tuple(messages))
        self.schemas.append(schema)
        return Reply(self.replies.pop(0), "stop", 1, 1, 0.0, self.name, None)

    async def close(self) -> None:
        return None


@dataclass
class City:
    """The store, the ontology and the label index over it."""

    schema: Schema
    store: Store
    labels: LabelIndex
    queries: list[str] = field(default_factory=list)

    async def run(self, query: str) -> dict[str, Any]:
        self.queries.append(query)
        results = self.store.query(query, custom_functions=dict(FUNCTIONS))
        assert not isinstance(results, QueryTriples)
        found: dict[str, Any] = json.loads(results.serialize(format=QueryResultsFormat.JSON) or b"")
        return found

    def asker(self, *plans: object, profile: PromptProfile = "compact") -> tuple[Asker, RecordedModel]:
        replies = [plan if isinstance(plan, str) else json.dumps({"steps": plan}) for plan in plans]
        model = RecordedModel(replies, profile)
        linker = Linker(self.labels, self.schema)
        asker = Asker(schema=self.schema, labels=self.labels, linker=linker, model=model, run_query=self.run)
        return asker, model


def quads_of(store: Store) -> list[Quad]:
    return list(store.quads_for_pattern(None, None, None, DefaultGraph()))


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
    return City(schema, store, labels)


@pytest.fixture
def city_with(schema: Schema) -> Callable[[str], City]:
    return lambda extra: build_city(schema, extra)
