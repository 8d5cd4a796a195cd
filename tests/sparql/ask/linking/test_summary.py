"""The summary of the data, kept up by commits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from pyoxigraph import NamedNode, Quad

from sparql.ask.linking.summary import DataSummary
from tests.sparql.ask.conftest import City
from tests.support.retained import retained

T = "https://example.org/town#"


def named(name: str) -> NamedNode:
    return NamedNode(T + name)


async def test_properties_are_counted_by_the_classes_of_both_ends(city: City) -> None:
    summary = DataSummary(city.schema)
    await summary.refresh(city.run)
    use = summary.uses[named("designedBy")]
    assert dict(use.edges) == {
        (named("ArtMuseum"), named("Architect")): 1,
        (named("Museum"), named("Architect")): 1,
    }
    assert use.complete
    assert not summary.uses[named("taughtBy")].edges
    assert named("Borough") in summary.classes


async def test_only_what_a_commit_changed_is_read_again(city: City) -> None:
    now = [0.0]
    summary = DataSummary(city.schema, lambda: now[0])
    await summary.refresh(city.run)
    city.queries.clear()
    await summary.refresh(city.run)
    assert city.queries == []
    quad = Quad(NamedNode("http://e/a"), named("taughtBy"), NamedNode("http://e/b"))
    city.store.add(quad)
    summary.apply([quad], [])
    await summary.refresh(city.run)
    assert len(city.queries) == 1
    assert sum(summary.uses[named("taughtBy")].edges.values()) == 1


async def test_a_property_that_is_known_is_read_again_after_some_seconds(city: City) -> None:
    now = [0.0]
    summary = DataSummary(city.schema, lambda: now[0])
    await summary.refresh(city.run)
    city.queries.clear()
    quad = Quad(NamedNode("http://e/a"), named("designedBy"), NamedNode("http://e/b"))
    summary.apply([quad], [])
    await summary.refresh(city.run)
    assert city.queries == []
    now[0] = 6.0
    await summary.refresh(city.run)
    assert len(city.queries) == 1


async def test_what_could_not_be_read_is_read_the_next_time(city: City) -> None:
    summary = DataSummary(city.schema)

    async def failing(query: str) -> dict[str, object]:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await summary.refresh(failing)
    assert summary.uses == {}
    await summary.refresh(city.run)
    assert summary.uses[named("designedBy")].edges


async def test_a_question_waits_for_a_summary_that_is_being_read(city: City) -> None:
    async def run(query: str) -> Mapping[str, Any]:
        await asyncio.sleep(0)
        return await city.run(query)

    summary = DataSummary(city.schema)
    reading = asyncio.create_task(summary.refresh(run))
    await asyncio.sleep(0)
    await summary.refresh(run)
    assert named("Borough") in summary.classes
    read = len(city.queries)
    await reading
    assert len(city.queries) == read


async def test_properties_that_come_and_go_are_not_kept(city: City) -> None:
    now = [0.0]
    summary = DataSummary(city.schema, lambda: now[0])
    await summary.refresh(city.run)
    known = set(summary.uses)
    for number in range(3):
        now[0] += 10
        quad = Quad(named("Ada"), named(f"passing{number}"), named("Bob"))
        city.store.add(quad)
        summary.apply([quad], [])
        await summary.refresh(city.run)
        assert summary.uses.keys() - known == {quad.predicate}
        now[0] += 10
        city.store.remove(quad)
        summary.apply([], [quad])
        await summary.refresh(city.run)
        assert summary.uses.keys() == known


async def test_changes_that_no_question_asks_for_do_not_pile_up(city: City) -> None:
    now = [0.0]
    summary = DataSummary(city.schema, lambda: now[0])
    await summary.refresh(city.run)
    for begin in range(0, 3000, 100):
        names = range(begin, begin + 100)
        summary.apply([Quad(named("Ada"), named(f"passing{n}"), named("Bob")) for n in names], [])
    assert retained(summary._changed) < 2000
    now[0] += 10
    late = Quad(named("Ada"), named("late"), named("Bob"))
    city.store.add(late)
    await summary.refresh(city.run)
    assert late.predicate in summary.uses
