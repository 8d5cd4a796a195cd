"""The default geocoder: features loaded beside the graph, found by their names. Offline.

Named entities of the default graph are linked and need no geocoder. This covers the features of clients'
named graphs, such as another layer or a national register, and features of the default graph whose name the
linker could not use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyoxigraph import Literal, NamedNode

from extractors.grounding.geocoder import PlaceFound
from extractors.grounding.linking import Labels
from geo.formats.literals import write_geometry
from sparql.model.source import TripleSource
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import RDF, SYSTEM_GRAPHS
from sparql.names.label_state import ALIASES, MAIN_LABELS
from sparql.spatial.relations import geometries_in

__all__ = ["LoadedFeatures"]

_FROM_LAYER = 0.9
"""The confidence of an equal name in another layer, for a place that the graph does not know."""


class LoadedFeatures:
    """Features with geometry in the default graph and in named graphs.

    `languages` are the tags of labels to look up in named graphs, besides none: such graphs are searched by
    whole literals, which the store answers from its index however large they are.
    """

    def __init__(self, store: TripleStore, labels: Labels, *, languages: Sequence[str] = ("en",)) -> None:
        self._store = store
        self._labels = labels
        self._languages = tuple(languages)

    def locate(self, name: str) -> Sequence[PlaceFound]:
        """Every feature with this name and a geometry."""
        found: dict[tuple[str, NamedNode], PlaceFound] = {}
        for entry in self._labels.exact(name):
            for place in self._places(self._store, entry.iri, entry.label, entry.classes):
                found.setdefault(("", entry.iri), place)
        for graph, feature, label in self._in_layers(name):
            source = self._store.named(graph)
            classes = frozenset(
                t.object for t in source.match(feature, RDF.type, None) if isinstance(t.object, NamedNode)
            )
            for place in self._places(source, feature, label, classes):
                found.setdefault((graph.value, feature), place)
        return tuple(found.values())

    def _in_layers(self, name: str) -> Iterator[tuple[NamedNode, NamedNode, str]]:
        spelled = " ".join(name.split())
        bare = spelled.removeprefix("the ").removeprefix("The ")
        for words in dict.fromkeys((spelled, bare, f"The {bare}")):
            literals = [Literal(words), *(Literal(words, language=tag) for tag in self._languages)]
            for literal in literals:
                for predicate in MAIN_LABELS | ALIASES:
                    for quad in self._store.match_quads(None, predicate, literal):
                        graph = quad.graph_name
                        if (
                            isinstance(graph, NamedNode)
                            and graph not in SYSTEM_GRAPHS
                            and isinstance(quad.subject, NamedNode)
                        ):
                            yield graph, quad.subject, words

    def _places(
        self, source: TripleSource, feature: NamedNode, label: str, classes: frozenset[NamedNode]
    ) -> Iterator[PlaceFound]:
        """The feature's geometry, if exactly one counts."""
        shapes = geometries_in(source, feature)
        if len(shapes) == 1:
            (shape,) = shapes
            yield PlaceFound(label, write_geometry(shape), shape, feature.value, _FROM_LAYER, classes)
