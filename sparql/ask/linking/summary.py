"""A summary of the data: which classes are linked by which properties, and how often.

It is read by queries over a bounded sample of each property, once, and again for the properties that a
commit changed. So a question costs the same on a graph of any size.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

from pyoxigraph import NamedNode, Quad

from ontology import PropertyKind, Schema
from sparql.model.vocabulary import RDF

RunQuery = Callable[[str], Awaitable[Mapping[str, Any]]]

_SAMPLE: Final = 4000
_TOGETHER: Final = 16
"""Properties that one query reads: each query takes its turn among those of others."""
_SCANNED: Final = 200_000
_AGAIN_S: Final = 5.0
_MOST_CHANGED: Final = 1000
"""Where more properties changed since the last question, everything is read again."""
_UNTYPED: Final = NamedNode("http://www.w3.org/2002/07/owl#Thing")


@dataclass
class PropertyUse:
    """How a property is used: statements by class of subject, and class or datatype of object.

    `complete`: all statements were read, not a sample. An entity without a class counts as owl:Thing.
    """

    edges: Counter[tuple[NamedNode, NamedNode]] = field(default_factory=Counter)
    complete: bool = True
    read_at: float = 0.0


class DataSummary:
    """Follows a graph's commits (an observer of the writer), and reads what changed when it is asked."""

    def __init__(self, schema: Schema, clock: Callable[[], float] = time.monotonic) -> None:
        self._schema = schema
        self._clock = clock
        self._lock = Lock()
        self._reading = asyncio.Lock()
        self._changed: set[NamedNode] = set()
        self._found = False
        self.version = 0
        self.uses: dict[NamedNode, PropertyUse] = {}
        self.classes: frozenset[NamedNode] = frozenset()

    def use(self, schema: Schema) -> None:
        """Read the properties of another ontology from now on."""
        with self._lock:
            self._schema = schema
            self._found = False

    def has(self, iri: NamedNode) -> bool:
        """Return whether there are statements of a property, as far as is known."""
        use = self.uses.get(iri)
        return use is None or bool(use.edges)

    @property
    def predicates(self) -> Collection[NamedNode]:
        """None: nothing is read at the start."""
        return frozenset()

    def expect_rebuild(self) -> None:
        """Nothing is kept from before."""

    def rebuild(self, quads: Iterable[Quad]) -> None:
        """Everything may be different: read it again when it is next asked for."""
        with self._lock:
            self._found = False

    def apply(self, additions: Iterable[Quad], removals: Iterable[Quad]) -> None:
        """Note which properties a commit changed."""
        changed = {quad.predicate for quads in (additions, removals) for quad in quads}
        with self._lock:
            self._changed |= changed
            if len(self._changed) > _MOST_CHANGED:
                self._changed.clear()
                self._found = False

    async def refresh(self, run_query: RunQuery) -> None:
        """Read what changed since the last time, at most every few seconds for what is read already."""
        # While it is read, by another question or after the start, what is there is not all.
        if self._found and not self._changed and not self._reading.locked():
            return
        async with self._reading:
            if self._found and not self._changed:
                return
            with self._lock:
                changed, self._changed = self._changed, set()
                found, self._found = self._found, True
            try:
                if not found:
                    changed |= await self._properties(run_query) | self.uses.keys()
                await self._read(changed, run_query)
            except BaseException:
                # What was not read is read with the next question.
                with self._lock:
                    self._changed |= changed
                    self._found = found
                raise

    async def _read(self, changed: set[NamedNode], run_query: RunQuery) -> None:
        now = self._clock()
        fresh = {
            iri
            for iri in changed
            if (use := self.uses.get(iri)) is not None and use.edges and now - use.read_at < _AGAIN_S
        }
        with self._lock:
            self._changed |= fresh
        due = sorted(changed - fresh, key=str)
        # A copy: others may iterate over what was there.
        uses = dict(self.uses)
        for start in range(0, len(due), _TOGETHER):
            uses.update(await self._uses(due[start : start + _TOGETHER], now, run_query))
        for iri in due:
            # Others than those of the ontology come and go without number.
            if not uses[iri].edges and iri not in self._schema.properties:
                del uses[iri]
        self.uses = uses
        self.classes = frozenset(c for use in uses.values() for edge in use.edges for c in edge)
        self.version += 1

    async def _properties(self, run_query: RunQuery) -> set[NamedNode]:
        rows = await run_query(
            f"SELECT DISTINCT ?p WHERE {{ {{ SELECT ?p WHERE {{ ?s ?p ?o }} LIMIT {_SCANNED} }} }}"
        )
        found = {NamedNode(row["p"]["value"]) for row in rows["results"]["bindings"]}
        declared = {
            iri
            for iri, known in self._schema.properties.items()
            if known.kind is not PropertyKind.ANNOTATION and not known.borrowed
        }
        return (found | declared) - {RDF.type}

    async def _uses(
        self, iris: Collection[NamedNode], now: float, run_query: RunQuery
    ) -> dict[NamedNode, PropertyUse]:
        samples = " UNION ".join(
            f"{{ {{ SELECT ?s ?o WHERE {{ ?s {iri} ?o }} LIMIT {_SAMPLE} }} BIND({iri} AS ?p) }}"
            for iri in iris
        )
        rows = await run_query(
            f"SELECT ?p ?a ?b ?d (COUNT(*) AS ?n) WHERE {{ {samples} "
            f"OPTIONAL {{ ?s {RDF.type} ?a }} OPTIONAL {{ ?o {RDF.type} ?b }} "
            "BIND(DATATYPE(?o) AS ?d) } GROUP BY ?p ?a ?b ?d"
        )
        edges: dict[NamedNode, Counter[tuple[NamedNode, NamedNode]]] = {iri: Counter() for iri in iris}
        for row in rows["results"]["bindings"]:
            if "p" not in row:
                continue
            subject = NamedNode(row["a"]["value"]) if row.get("a", {}).get("type") == "uri" else _UNTYPED
            value = row.get("d") or row.get("b") or {}
            found = NamedNode(value["value"]) if value.get("type") == "uri" else _UNTYPED
            edges[NamedNode(row["p"]["value"])][subject, found] += int(row["n"]["value"])
        return {iri: PropertyUse(of, sum(of.values()) < _SAMPLE, now) for iri, of in edges.items()}
