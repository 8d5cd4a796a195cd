"""The data of the compliance run: the benchmark, the engine's own cases, the register of functions."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyoxigraph
from lxml import etree
from pyoxigraph import NamedNode, RdfFormat

GEOF = "http://www.opengis.net/def/function/geosparql/"
# Names of the register's own collections, which are no functions.
_COLLECTIONS = {"", "common", "eh", "nonTopo", "rcc", "sa", "sf"}
# The engine reads CRS84 only and expects nothing from a literal in EPSG/0/4326. Latitude first, its point
# lies elsewhere than the other: false is the right answer.
_UNREAD = "wkt_default_spatial_reference_system"
_UNREAD_ROW = re.compile(rb"(EPSG/0/4326&gt; Point\(-83.38 33.95\)</literal>\s*</binding>)")
_FALSE = (
    b'\\1<binding name="result"><literal datatype="http://www.w3.org/2001/XMLSchema#boolean">false</literal>'
    b"</binding>"
)
_SCORED = re.compile(r"query-r(\d+)(?:-\d+)*")


class DataMissing(Exception):
    """The data is not where it was looked for."""


@dataclass(frozen=True)
class Case:
    """One query and the answers of which one must come back, as SPARQL XML results."""

    name: str
    query: str
    answers: tuple[bytes, ...]

    @property
    def requirement(self) -> int:
        """The number of the GeoSPARQL requirement; 0 for cases that name none."""
        match = _SCORED.fullmatch(self.name)
        return int(match[1]) if match else 0


@contextmanager
def unpacked(folder: Path) -> Iterator[Path]:
    """A folder with `benchmark`, `oxigraph` and `ogc`, unpacked for the time being. Raises DataMissing."""
    with TemporaryDirectory(prefix="geosparql-") as name:
        for archive in ("benchmark/gsb.tar.xz", "oxigraph/tests.tar.xz", "ogc/ogc_ttl.tar.xz"):
            if not (folder / archive).is_file():
                raise DataMissing(
                    f"{folder / archive} is missing. Give the folder that holds benchmark/gsb.tar.xz "
                    "(OpenLinkSoftware/GeoSPARQLBenchmark, packed), oxigraph/tests.tar.xz and "
                    "ogc/ogc_ttl.tar.xz as --data."
                )
            with tarfile.open(folder / archive) as packed:
                packed.extractall(Path(name) / Path(archive).parent, filter="data")
        yield Path(name)


def benchmark_cases(root: Path) -> list[Case]:
    """The scored queries of the benchmark, by requirement."""
    found = []
    for path in (root / "benchmark/gsb_queries").glob("query-r*.rq"):
        answers = [root / f"benchmark/gsb_answers/{path.stem}.srx"]
        answers += sorted((root / "benchmark/gsb_answers").glob(f"{path.stem}-alternative-*.srx"))
        found.append(Case(path.stem, path.read_text("utf-8"), tuple(map(_read_answer, answers))))
    return sorted(found, key=lambda case: [int(number) for number in re.findall(r"\d+", case.name)])


def engine_cases(root: Path) -> list[Case]:
    """The 44 cases of the engine, most of them pairs of a hit and a miss."""
    found = []
    for path in sorted((root / "oxigraph").glob("*.rq")):
        answer = _read_answer(path.with_suffix(".srx"))
        if path.stem == _UNREAD:
            answer = _UNREAD_ROW.sub(_FALSE, answer)
        found.append(Case(path.stem, path.read_text("utf-8"), (answer,)))
    return found


def registered(root: Path) -> set[str]:
    """The local names of the functions and aggregates of the OGC register, all but those of DGGS."""
    found = set()
    for name in ("funcsrules.ttl", "sa_functions.ttl"):
        path = root / "ogc/1.1" / name
        for quad in pyoxigraph.parse(path=path, format=RdfFormat.TURTLE, base_iri=GEOF):
            for term in (quad.subject, quad.object):
                if isinstance(term, NamedNode) and term.value.startswith(GEOF):
                    found.add(term.value.removeprefix(GEOF))
    return found - _COLLECTIONS - {"asDGGS"}


def _read_answer(path: Path) -> bytes:
    """An answer without CDATA sections, which the parser of results does not know."""
    return etree.tostring(etree.fromstring(path.read_bytes()))
