"""The shapes as the SHACL engine reads them: the same few triples, for every shape, run and result."""

from collections.abc import Iterator
from typing import Any, Final

import rdflib
from rdflib.paths import Path

from shapes.engine.prefixed import PrefixedNames

_KEPT: Final = 20_000
"""So many answers are kept; then it begins anew, since the engine asks about nodes of the data, too."""


class KeptGraph(rdflib.Graph):
    """A graph that remembers what it was asked. Nobody may change it once it was read."""

    def __init__(self, graph: rdflib.Graph) -> None:
        super().__init__(store=graph.store, identifier=graph.identifier, bind_namespaces="none")
        self.namespace_manager = PrefixedNames(self)
        self._answers: dict[Any, tuple[Any, ...]] = {}

    def add(self, triple: Any) -> "KeptGraph":
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
