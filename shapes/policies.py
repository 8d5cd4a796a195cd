"""The severity of a shape depending on the source of a change: annotations in the shapes files.

    ex:NameShape ukg:severityFor [ ukg:source "load" ; sh:severity sh:Warning ] .

says that a load only causes a warning, though the shape is a violation otherwise. The sources are
"extracted" (texts, and candidates of a client's own extraction), "update", "graph store", "load" and
"asserted" (everything else, including review).

    ex:locatedIn ukg:onGeometryConflict sh:Warning , [ ukg:source "update" ; sh:severity sh:Violation ] .

says what happens to a statement with a property that geometries contradict: one from a text gets a warning,
one from an update is refused. It is written in the ontology or in the shapes; the shapes take precedence.
"""

from collections.abc import Mapping

import rdflib
from pyoxigraph import NamedNode
from rdflib.namespace import SH

from shapes.errors import ShapeMalformed
from sparql.model.vocabulary import UKG

SOURCES = ("extracted", "update", "graph store", "load", "asserted")
_SEVERITIES = (SH.Violation, SH.Warning, SH.Info)
_SEVERITY_FOR = rdflib.URIRef(UKG.severityFor.value)
_SOURCE = rdflib.URIRef(UKG.source.value)
_CONFLICT = rdflib.URIRef(UKG.onGeometryConflict.value)
_TEXTS = "extracted"


def severities_by_source(graph: rdflib.Graph) -> Mapping[str, Mapping[str, NamedNode]]:
    """By source and shape, the severity of the shape's results. Raises `ShapeMalformed`."""
    found: dict[str, dict[str, NamedNode]] = {}
    for shape, policy in sorted(graph.subject_objects(_SEVERITY_FOR), key=str):
        severity = graph.value(policy, SH.severity)
        sources = [str(source) for source in graph.objects(policy, _SOURCE)]
        unknown = [source for source in sources if source not in SOURCES]
        if severity not in _SEVERITIES or not sources or unknown:
            raise ShapeMalformed(
                str(shape),
                "its ukg:severityFor needs a sh:severity (sh:Violation, sh:Warning or sh:Info) and a "
                f"ukg:source, one of {', '.join(SOURCES)}",
            )
        for source in sources:
            found.setdefault(source, {})[str(shape)] = NamedNode(str(severity))
    return found


def conflicts_by_source(graph: rdflib.Graph) -> Mapping[str, Mapping[NamedNode, NamedNode]]:
    """By source and property, the severity of a contradiction by geometry; without a source, for texts.

    Raises `ShapeMalformed`.
    """
    found: dict[str, dict[NamedNode, NamedNode]] = {}
    for property_, policy in sorted(graph.subject_objects(_CONFLICT), key=str):
        alone = policy in _SEVERITIES
        severity = policy if alone else graph.value(policy, SH.severity)
        sources = [_TEXTS] if alone else [str(source) for source in graph.objects(policy, _SOURCE)]
        if severity not in _SEVERITIES or not sources or not set(sources) <= set(SOURCES):
            raise ShapeMalformed(
                str(property_),
                "its ukg:onGeometryConflict is sh:Violation, sh:Warning or sh:Info, or has one of them as "
                f"sh:severity and a ukg:source, one of {', '.join(SOURCES)}",
            )
        for source in sources:
            found.setdefault(source, {})[NamedNode(str(property_))] = NamedNode(str(severity))
    return found
