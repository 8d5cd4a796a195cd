"""Compares what texts say about places with what geometries say.

"The museum is in Harlem" can be checked when both have a geometry: RCC8 between them (GeoSPARQL 1.1,
8.5) agrees, contradicts, or says nothing. Which properties mean "in", "contains", "beside" and "away from"
is read from the ontology (`sparql.ask.places`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from shapely.geometry.base import BaseGeometry

from geo.measure.measures import distance_m
from geo.relate.rcc8 import RCC8
from geo.relate.tolerance import relate_within
from ontology import Schema
from sparql.ask.places import StatedPlaces, Where
from sparql.model.change import Violation
from sparql.model.vocabulary import SH, UKG
from sparql.provenance.records import Support

_INSIDE: Final = frozenset({RCC8.TPP, RCC8.NTPP, RCC8.EQ})
_AROUND: Final = frozenset({RCC8.TPPi, RCC8.NTPPi, RCC8.EQ})
_AGREES: Final = {
    Where.WITHIN: _INSIDE,
    Where.CONTAINS: _AROUND,
    Where.TOUCHES: frozenset({RCC8.EC}),
    Where.APART: frozenset({RCC8.DC}),
}
_CONTRADICTS: Final = {
    Where.WITHIN: frozenset({RCC8.DC, RCC8.TPPi, RCC8.NTPPi}),
    Where.CONTAINS: frozenset({RCC8.DC, RCC8.TPP, RCC8.NTPP}),
    Where.TOUCHES: frozenset({RCC8.DC, RCC8.NTPP, RCC8.NTPPi, RCC8.EQ}),
    Where.APART: frozenset(RCC8) - {RCC8.DC, RCC8.EC},
}
_WORDS: Final = {
    Where.WITHIN: "within",
    Where.CONTAINS: "around",
    Where.TOUCHES: "beside",
    Where.APART: "away from",
}
_MEANS: Final = {
    RCC8.DC: "lies apart from",
    RCC8.EC: "touches",
    RCC8.PO: "overlaps",
    RCC8.EQ: "is the same place as",
    RCC8.TPP: "lies in",
    RCC8.NTPP: "lies in",
    RCC8.TPPi: "contains",
    RCC8.NTPPi: "contains",
}
_SEVERITIES: Final = {"refuse": SH.Violation, "warn": SH.Warning, "ignore": SH.Info}

Geometries = Callable[[NamedNode | BlankNode], Sequence[BaseGeometry]]
ToleranceOf = Callable[[NamedNode | BlankNode], float]
"""How far the borders of a feature may be off, in meters."""


def _exact(feature: NamedNode | BlankNode) -> float:
    return 0.0


@dataclass(frozen=True)
class Finding:
    """The comparison for one statement: what it says and what the geometries say.

    `distance_m` is the geodesic distance between the geometries, 0 where they meet. `agrees` is None when
    the geometries neither confirm nor contradict it.
    """

    stated: Where
    computed: RCC8
    distance_m: float
    agrees: bool | None

    def supports(self, support: Support) -> Support:
        """The support with the comparison in it; agreement halves the doubt."""
        confidence = support.confidence
        if self.agrees and confidence is not None:
            confidence = 1 - (1 - confidence) / 2
        return replace(
            support,
            confidence=confidence,
            stated=self.stated.value,
            computed=self.computed.property,
            distance_m=round(self.distance_m, 1),
        )


class PlaceConflicts:
    """Checks statements about where things are.

    `policy` is `refuse`, `warn` or `ignore`; the annotation ukg:onGeometryConflict of a property takes
    precedence: that of the shapes (`by_shapes`, by source and property), else that of the ontology. `source`
    says how the statements are written. Features up to `slack_m` meters apart do not contradict "in" and
    "beside", since geometries are imprecise.
    """

    def __init__(
        self,
        schema: Schema,
        *,
        policy: str = "refuse",
        slack_m: float = 0.0,
        source: str = "extracted",
        by_shapes: Mapping[str, Mapping[NamedNode, NamedNode]] = MappingProxyType({}),
    ) -> None:
        self._places = StatedPlaces.of(schema)
        self._policy = _SEVERITIES[policy]
        self._slack_m = slack_m
        self._severities = {**_annotated(schema, source), **by_shapes.get(source, {})}

    def look(
        self, triple: Triple, geometries: Geometries, tolerance_of: ToleranceOf = _exact
    ) -> Finding | None:
        """The comparison for a statement; None when it is not about place, or a geometry is missing.

        Of several geometries those that confirm the statement best count; of two tolerances the larger.
        """
        stated = self._places.meaning(triple.predicate)
        subject, value = triple.subject, triple.object
        if stated is None or isinstance(subject, Triple) or not isinstance(value, NamedNode | BlankNode):
            return None
        pairs = [(a, b) for a in geometries(subject) for b in geometries(value)]
        within_m = max(tolerance_of(subject), tolerance_of(value)) if pairs else 0.0
        found = [self._compare(stated, a, b, within_m) for a, b in pairs]
        return max(found, key=_by_agreement, default=None)

    def severity(self, predicate: NamedNode) -> NamedNode:
        """The severity of a contradiction for this property."""
        return self._severities.get(predicate, self._policy)

    @property
    def judged(self) -> frozenset[NamedNode]:
        """The properties whose contradictions are refused or cause a warning."""
        named = {*self._places.all, *self._severities}
        return frozenset(one for one in named if self.severity(one) != SH.Info)

    def contradiction(
        self, triple: Triple, finding: Finding, names: Callable[[object], str], *, says: str = "The text"
    ) -> Violation:
        """The violation for a contradicting finding, with both sides in its message."""
        subject, value = names(triple.subject), names(triple.object)
        far = f", {_distance(finding.distance_m)} away" if finding.distance_m else ""
        return Violation(
            focus=triple.subject,
            message=f'{says} puts "{subject}" {_WORDS[finding.stated]} "{value}". By their geometries '
            f"it {_MEANS[finding.computed]} it ({finding.computed}{far}).",
            component=UKG.ContradictsGeometry,
            path=triple.predicate.value,
            value=triple.object,
            severity=self.severity(triple.predicate),
        )

    def _compare(self, stated: Where, left: BaseGeometry, right: BaseGeometry, tolerance_m: float) -> Finding:
        computed = relate_within(left, right, tolerance_m).rcc8
        apart = distance_m(left, right) if computed is RCC8.DC else 0.0
        agrees: bool | None = None
        if computed in _AGREES[stated]:
            agrees = True
        elif computed in _CONTRADICTS[stated] and not (computed is RCC8.DC and apart <= self._slack_m):
            agrees = False
        return Finding(stated, computed, apart, agrees)


def _annotated(schema: Schema, source: str) -> dict[NamedNode, NamedNode]:
    """The ontology's annotation of each property, for statements from this source."""
    about: dict[object, dict[NamedNode, set[object]]] = {}
    for triple in schema.triples:
        if triple.predicate in (UKG.source, SH.severity):
            about.setdefault(triple.subject, {}).setdefault(triple.predicate, set()).add(triple.object)
    found: dict[NamedNode, NamedNode] = {}
    for triple in schema.triples:
        if triple.predicate != UKG.onGeometryConflict or not isinstance(triple.subject, NamedNode):
            continue
        policy = about.get(triple.object, {})
        severities: set[object] = {triple.object} if source == "extracted" else set()
        if Literal(source) in policy.get(UKG.source, ()):
            severities = policy.get(SH.severity, set())
        for severity in severities:
            if isinstance(severity, NamedNode) and severity in _SEVERITIES.values():
                found[triple.subject] = severity
    return found


def _by_agreement(finding: Finding) -> tuple[int, float]:
    return ({True: 2, None: 1, False: 0}[finding.agrees], -finding.distance_m)


def _distance(meters: float) -> str:
    return f"{meters / 1000:.1f} km" if meters >= 1000 else f"{meters:.0f} m"
