"""Peers that run in this process, on one thread: geopandas, SedonaDB, DuckDB."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import shapely

from benchmarks.peers.answer import Counts, Missing, by_matrix, cpu, merged
from geo.relate.rcc8 import RCC8

# Geometries are handed over as binary columns of an Arrow table, before the clock starts.
_ALL_PAIRS = (
    "SELECT ST_Relate(a.g, b.g) AS matrix, COUNT(*) AS number FROM features a JOIN features b "
    "ON ST_Intersects(a.g, b.g) WHERE a.id < b.id GROUP BY 1"
)


class Geopandas:
    """Six joins of predicates, as `geopandas.sjoin` does them; plain shapely where geopandas is missing."""

    def __init__(self) -> None:
        self._installed = importlib.util.find_spec("geopandas") is not None
        version = importlib.metadata.version("geopandas" if self._installed else "shapely")
        self.title = (
            f"geopandas {version}" if self._installed else f"plain shapely {version}, as sjoin does it"
        )

    def relate_all(self, shapes: numpy.ndarray) -> tuple[Counts, float]:
        if self._installed:
            import geopandas
        with cpu() as seconds:
            if self._installed:
                frame: Any = geopandas.GeoDataFrame(geometry=shapes)
                return combined(lambda name: frame.sindex.query(frame.geometry, predicate=name)), seconds()
            tree: Any = shapely.STRtree(shapes)
            return combined(lambda name: tree.query(shapes, predicate=name)), seconds()


class SedonaDB:
    """One spatial join and a matrix for each pair that meets."""

    def __init__(self) -> None:
        if any(importlib.util.find_spec(name) is None for name in ("sedonadb", "geoarrow")):
            raise Missing("SedonaDB is left out: sedonadb or geoarrow-pyarrow is not installed")
        self.title = f"SedonaDB {importlib.metadata.version('sedonadb')}"

    def relate_all(self, shapes: numpy.ndarray) -> tuple[Counts, float]:
        import sedonadb

        engine = sedonadb.connect()
        engine.sql("SET datafusion.execution.target_partitions = 1").execute()
        engine.create_data_frame(_table(shapes)).to_view("binary")
        engine.sql("SELECT id, ST_GeomFromWKB(g) AS g FROM binary").to_memtable().to_view("features")
        with cpu() as seconds:
            rows = engine.sql(_ALL_PAIRS).to_arrow_table().to_pylist()
            return by_matrix((row["matrix"], row["number"]) for row in rows), seconds()


class DuckDB:
    """One spatial join; predicates for each pair that meets, since it has no matrix."""

    def __init__(self) -> None:
        if any(importlib.util.find_spec(name) is None for name in ("duckdb", "duckdb_extension_spatial")):
            raise Missing("DuckDB is left out: duckdb or duckdb-extension-spatial is not installed")
        import duckdb
        import duckdb_extension_spatial

        folder = Path(next(iter(duckdb_extension_spatial.__path__)))
        found = list(folder.glob(f"extensions/v{duckdb.__version__}/spatial.duckdb_extension"))
        if not found:
            raise Missing(
                f"DuckDB is left out: the spatial extension is not one for duckdb {duckdb.__version__}"
            )
        self._extension = found[0]
        self.title = f"DuckDB spatial {duckdb.__version__}"

    def relate_all(self, shapes: numpy.ndarray) -> tuple[Counts, float]:
        import duckdb

        engine = duckdb.connect(config={"threads": 1})
        engine.execute(f"LOAD '{self._extension}'")
        engine.register("binary", _table(shapes))
        engine.execute('CREATE TABLE features AS SELECT id, ST_GeomFromWKB(g) AS g FROM "binary"')
        with cpu() as seconds:
            rows = engine.execute(
                "SELECT touches, inside, around, strictly, COUNT(*) FROM ("
                "SELECT ST_Touches(a.g, b.g) AS touches, ST_CoveredBy(a.g, b.g) AS inside, "
                "ST_Covers(a.g, b.g) AS around, "
                "ST_ContainsProperly(a.g, b.g) OR ST_ContainsProperly(b.g, a.g) AS strictly "
                "FROM features a JOIN features b ON ST_Intersects(a.g, b.g) WHERE a.id < b.id) GROUP BY ALL"
            ).fetchall()
            counts: Counts = Counter()
            for touches, inside, around, strictly, number in rows:
                counts[_relation(touches, inside, around, strictly)] += number
            return merged(counts), seconds()


EMBEDDED = (Geopandas, SedonaDB, DuckDB)


def combined(join: Callable[[str], Any]) -> Counts:
    """RCC8 of areas out of the joins of the simple-feature predicates."""
    found = {
        predicate: {(int(a), int(b)) for a, b in zip(*join(predicate), strict=True) if a != b}
        for predicate in ("intersects", "touches", "covers", "covered_by", "contains_properly", "overlaps")
    }
    equal = found["covers"] & found["covered_by"]
    ntppi = found["contains_properly"]
    tppi = found["covers"] - equal - ntppi
    return merged(
        Counter(
            {
                RCC8.EC: sum(a < b for a, b in found["touches"]),
                RCC8.EQ: sum(a < b for a, b in equal),
                RCC8.NTPP: len(ntppi),
                RCC8.TPP: len(tppi),
                RCC8.PO: sum(a < b for a, b in found["overlaps"]),
            }
        )
    )


def _relation(touches: bool, inside: bool, around: bool, strictly: bool) -> RCC8:
    if touches:
        return RCC8.EC
    if inside and around:
        return RCC8.EQ
    if inside or around:
        return RCC8.NTPP if strictly else RCC8.TPP
    return RCC8.PO


def _table(shapes: numpy.ndarray) -> Any:
    import pyarrow

    return pyarrow.table({"id": numpy.arange(len(shapes)), "g": pyarrow.array(list(shapely.to_wkb(shapes)))})
