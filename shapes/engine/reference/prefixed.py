"""Prefixed names, as the SHACL engine writes them in messages, cached."""

from typing import Any, Final

import rdflib
from rdflib.namespace import NamespaceManager

_KEPT: Final = 10_000


class PrefixedNames(NamespaceManager):
    """The prefixes of a graph. The engine binds the same ones and writes the same names for every result."""

    def __init__(self, graph: rdflib.Graph) -> None:
        self._bound: set[tuple[object, str]] = set()
        self._written: dict[str, str] = {}
        super().__init__(graph, bind_namespaces="none")

    def bind(self, prefix: str | None, namespace: Any, override: bool = True, replace: bool = False) -> None:
        """Bind a prefix, unless it is bound to that namespace already."""
        if (prefix, str(namespace)) not in self._bound:
            super().bind(prefix, namespace, override, replace)
            self._bound.add((prefix, str(namespace)))
            self._written.clear()

    def normalizeUri(self, rdfTerm: str) -> str:
        """A prefixed name, or the full IRI where no prefix fits."""
        written = self._written.get(rdfTerm)
        if written is None:
            written = super().normalizeUri(rdfTerm)
            if len(self._written) >= _KEPT:
                self._written.clear()
            self._written[rdfTerm] = written
        return written
