"""The shapes graph with cached lookups: the SHACL engine reads the same few triples for every result."""

from collections.abc import Iterator
from typing import Any, Final

import rdflib
from rdflib.paths import Path

from shapes.engine.reference.prefixed import PrefixedNames

_KEPT: Final = 20_000
"""Answers cached before the cache is cleared; the engine also looks up nodes of the data."""


class ShapesGraphCache(rdflib.Graph):
    """A graph that caches its answers. It must not change once it was read, except by `add`."""

    def __init__(self, graph: rdflib.Graph) -> None:
        super().__init__(store=graph.store, identifier=graph.identifier, bind_namespaces="none")
        self.namespace_manager = PrefixedNames(self)
        self._answers: dict[Any, tuple[Any, ...]] = {}

    def add(self, triple: Any) -> "ShapesGraphCache":
        """Add a triple, as the engine does before it reads."""
        self._answers.clear()
        super().add(triple)
        return self

    def triples(self, triple: Any) -> Iterator[Any]:  # type: ignore[override]
        """What fits a pattern."""
        if isinstance(triple[1], Path):
            return iter(super().triples(triple))
        answer = self._answers.get(triple)
        if answer is None:
            if len(self._answers) >= _KEPT:
                self._answers.clear()
            answer = self._answers[triple] = tuple(super().triples(triple))
        return iter(answer)
