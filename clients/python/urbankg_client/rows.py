"""The rows of a SELECT: as Python values, as terms, as a table of pandas, as a GeoDataFrame."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from urbankg_client.models import SparqlResults, Term
from urbankg_client.terms import WKT, Value, as_python

if TYPE_CHECKING:
    import geopandas
    import pandas

_CRS = re.compile(r"\s*<([^>]*)>\s*")
_CRS84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"


class Rows(Sequence[dict[str, Value]]):
    """Solutions in their order; a variable without a value is not in its row. `columns` names all."""

    def __init__(self, results: SparqlResults) -> None:
        self.columns = list(results.head.vars or ())
        self.terms: list[dict[str, Term]] = results.results.bindings if results.results else []

    def __len__(self) -> int:
        return len(self.terms)

    def __iter__(self) -> Iterator[dict[str, Value]]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        return {name: as_python(term) for name, term in self.terms[number].items()}

    def column(self, name: str) -> list[Value | None]:
        """The values of a variable, None where it has none. Raises KeyError for one that is not selected."""
        if name not in self.columns:
            raise KeyError(name)
        return [as_python(row[name]) if name in row else None for row in self.terms]

    def pandas(self) -> pandas.DataFrame:
        """A table with a column for each variable; needs pandas."""
        import pandas

        return pandas.DataFrame({name: self.column(name) for name in self.columns}, columns=self.columns)

    def geopandas(self, geometry: str | None = None) -> geopandas.GeoDataFrame:
        """The table with a geometry column: the one named, or the first whose values are WKT literals.

        Raises ValueError where there is none, or where its values have several reference systems.
        """
        import geopandas
        import pandas

        name = geometry or self._geometry_column()
        literals = pandas.Series(self.column(name), dtype="object")
        frame = self.pandas().drop(columns=[name])
        systems = {_system(str(one)) for one in literals if one is not None} or {_CRS84}
        if len(systems) > 1:
            raise ValueError(f"the geometries have several reference systems: {', '.join(sorted(systems))}")
        bare = literals.map(lambda one: None if one is None else _CRS.sub("", str(one), count=1))
        shapes = geopandas.GeoSeries.from_wkt(bare, crs=_crs_name(systems.pop()))
        if shapes.crs.axis_info[0].direction == "north":
            # WKT has the system's own order, a GeoSeries always east before north.
            shapes = shapes.transform(lambda points: points[:, ::-1])
        return geopandas.GeoDataFrame(frame.assign(**{name: shapes}), geometry=name)

    def _geometry_column(self) -> str:
        for name in self.columns:
            if any(name in row and row[name].datatype == WKT for row in self.terms):
                return name
        raise ValueError("no column has WKT literals; name one: geopandas(geometry=...)")


def _system(wkt: str) -> str:
    """The IRI of a literal's reference system (GeoSPARQL 1.1, 8.5.1)."""
    found = _CRS.match(wkt)
    return found[1] if found else _CRS84


def _crs_name(system: str) -> str:
    """The name by which PROJ knows a system: the authority and code at the end of its IRI."""
    authority, _, code = system.removeprefix("http://www.opengis.net/def/crs/").partition("/")
    return f"{authority}:{code.rpartition('/')[2]}"
