"""How severe a shape is for changes that come by one way: an annotation of the shapes file.

    ex:NameShape ukg:severityFor [ ukg:source "load" ; sh:severity sh:Warning ] .

says that what a load brings is only warned of, though the shape is a violation otherwise. The ways are
"extracted" (texts, and candidates of a client's own extraction), "update", "graph store", "load" and
"asserted" (everything else, review among it).
"""

from collections.abc import Mapping

import rdflib
from pyoxigraph import NamedNode
from rdflib.namespace import SH

from shapes.errors import ShapeMalformed
from sparql.vocabulary import UKG

SOURCES = ("extracted", "update", "graph store", "load", "asserted")
_SEVERITIES = (SH.Violation, SH.Warning, SH.Info)
_SEVERITY_FOR = rdflib.URIRef(UKG.severityFor.value)
_SOURCE = rdflib.URIRef(UKG.source.value)


def severities_by_source(graph: rdflib.Graph) -> Mapping[str, Mapping[str, NamedNode]]:
    """By way and shape, the severity of the shape's results. Raises `ShapeMalformed` for what is neither."""
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
