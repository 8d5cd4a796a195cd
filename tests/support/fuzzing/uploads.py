"""Files that were damaged on the way: cut off, flipped, grown, nested, mislabelled, packed.

Each is made from a sound file of one kind that a client may upload. What is refused must leave the graph as
it was: the number of triples is compared around each upload that no status of success answers.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import sqlite3
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyogrio
import pyoxigraph
import shapely

from tests.support.drawn_features import write_parquet
from tests.support.fuzzing.ledger import HANG_S, Answer
from tests.support.fuzzing.target import ServerGoneError, Target
from tests.support.fuzzing.wire import exchange, once, request

_CITY = Path(__file__).parents[2] / "data" / "mini_city.ttl"
_GRAPH = "/store?graph=http%3A%2F%2Fexample.org%2Fdamaged"
_COUNT = (
    "SELECT (COUNT(*) AS ?n) WHERE { { ?s ?p ?o } UNION { GRAPH <http://example.org/damaged> { ?s ?p ?o } } }"
)
_RDF = (
    ("text/turtle", pyoxigraph.RdfFormat.TURTLE),
    ("application/n-triples", pyoxigraph.RdfFormat.N_TRIPLES),
    ("application/trig", pyoxigraph.RdfFormat.TRIG),
    ("application/rdf+xml", pyoxigraph.RdfFormat.RDF_XML),
    ("application/ld+json", pyoxigraph.RdfFormat.JSON_LD),
)
_TEXTS: tuple[tuple[str, bytes], ...] = (
    (
        "application/x-ndjson",
        b'{"text": "The library is in the park.", "name": "a"}\n{"text": "Caf\\u00e9."}\n',
    ),
    ("application/json", b'[{"text": "The library is in the park.", "source": "http://example.org/"}]'),
    ("text/csv", b'name,text\na,"The library, which is in the park"\nb,The quay\n'),
    ("text/plain", "The caf\u00e9 is in the park.".encode()),
)
_SHAPES = b"""@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix e: <http://example.org/> .
e:Named a sh:NodeShape ; sh:targetClass e:Thing ;
  sh:property [ sh:path e:name ; sh:minCount 1 ; sh:maxLength 99 ; sh:pattern "^[A-Z][a-z]*$" ] ;
  sh:sparql [ sh:message "no" ;
    sh:select "SELECT $this WHERE { $this <http://example.org/p> ?v FILTER(?v > 3) }" ] .
"""
_ONTOLOGY = b"""@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix e: <http://example.org/> .
<http://example.org/o> a owl:Ontology .
e:Thing a owl:Class ; rdfs:label "thing"@en ; rdfs:subClassOf [ a owl:Restriction ; owl:onProperty e:p ;
  owl:maxCardinality 1 ] .
e:p a owl:ObjectProperty ; rdfs:domain e:Thing ; rdfs:range e:Thing .
"""
_MAPPING = b"""base = "http://example.org/"
crs = "EPSG:4326"

[prefixes]
ex = "http://example.org/"
urban = "https://w3id.org/urbankg/urban#"

[[layers]]
layer = "sound*"
iri = "place/{gid}"
class = "urban:Park"
label = "name"
aliases = ["name"]
language = "en"

[[layers.classes]]
column = "name"
values = ["Quay"]
class = "urban:Museum"

[[layers.properties]]
column = "gid"
property = "ex:number"
datatype = "http://www.w3.org/2001/XMLSchema#integer"

[[layers.properties]]
column = "name"
property = "ex:of"
feature = "owner/{name}"
"""
_NUMBERS = (b"1e999", b"-1e999", b"NaN", b"9" * 5000, b"-" + b"9" * 400, b"0.000", b"1_000", b"0x10")
_ENCODINGS = ("utf-16", "utf-32", "latin-1", "utf-7", "cp037")


Damage = Callable[[bytes, random.Random], bytes]


@dataclass(frozen=True)
class Upload:
    """A sound file, and how it is sent: by HTTP, or as a file of the server's machine with that suffix.

    Then it has a mapping, which is damaged instead of the file where it is the one `mapped`. `damages` are
    those that the file's own structure allows, besides those of any file.
    """

    name: str
    method: str
    path: str
    kind: str
    body: bytes
    suffix: str = ""
    mapped: bool = False
    damages: tuple[Damage, ...] = ()


def sound_uploads(folder: Path) -> list[Upload]:
    """One of every kind."""
    city = pyoxigraph.parse(_CITY.read_bytes(), format=pyoxigraph.RdfFormat.TURTLE)
    quads = list(city)
    found = []
    for kind, form in _RDF:
        body = pyoxigraph.serialize(quads, format=form) or b""
        for method, path in (("PUT", _GRAPH), ("POST", "/store?default"), ("POST", "/candidates")):
            found.append(Upload(f"{kind} {method} {path[:9]}", method, path, kind, body))
    for kind, body in _TEXTS:
        found.append(Upload(f"job of {kind}", "POST", "/jobs?paused=true", kind, body))
    turtle = "text/turtle"
    for part, body in (("shapes", _SHAPES), ("ontologies", _ONTOLOGY)):
        path = f"/{part}/damaged.ttl?dry-run=true"
        found.append(Upload(part, "PUT", path, turtle, body))
    found += [
        Upload(f"features {suffix}", "POST", "/loads", "", body, suffix, damages=_WITHIN.get(suffix, ()))
        for suffix, body in _feature_files(folder)
    ]
    geojson = (folder / "sound.geojson").read_bytes()
    found.append(Upload("features mapping", "POST", "/loads", "", geojson, ".geojson", mapped=True))
    return found


def _feature_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for suffix, driver in ((".geojson", "GeoJSON"), (".gpkg", "GPKG"), (".fgb", "FlatGeobuf")):
        path = folder / f"sound{suffix}"
        _write(path, driver)
        yield suffix, path.read_bytes()
    _write(folder / "sound.shp", "ESRI Shapefile")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(folder.glob("sound.*")):
            if path.suffix in (".shp", ".shx", ".dbf", ".prj"):
                archive.write(path, path.name)
    yield ".shp", packed.getvalue()
    rows = [(shapely.Point(10.01, 50.01), {"name": "Quay", "gid": 1})]
    yield ".parquet", write_parquet(folder / "sound.parquet", rows).read_bytes()


def _write(path: Path, driver: str) -> None:
    pyogrio.raw.write(
        str(path),
        shapely.to_wkb(shapely.points([[10.01, 50.01], [10.02, 50.01]])),
        [np.array(["Quay", "Pier"]), np.array([1, 2])],
        fields=["name", "gid"],
        geometry_type="Point",
        crs="OGC:CRS84",
        driver=driver,
    )


def _flipped(body: bytes, chance: random.Random) -> bytes:
    changed = bytearray(body)
    for _ in range(chance.choice((1, 3, 30))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut(body: bytes, chance: random.Random) -> bytes:
    start = chance.choice((0, 0, chance.randrange(len(body))))
    return body[start : chance.randrange(start, len(body)) + 1]


def _numbered(body: bytes, chance: random.Random) -> bytes:
    places = [place for place, byte in enumerate(body) if 48 <= byte <= 57] or [0]
    place = chance.choice(places)
    return body[:place] + chance.choice(_NUMBERS) + body[place + 1 :]


def _nested(body: bytes, chance: random.Random) -> bytes:
    bracket = chance.choice((b"[", b"{", b"(", b"<a>", b'{"a":', b"<< ", b"[ <a:b> "))
    place = chance.randrange(len(body) + 1)
    return body[:place] + bracket * chance.choice((50, 2_000, 50_000)) + body[place:]


def _repeated(body: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(body))
    piece = body[start : start + chance.randrange(1, 400)]
    return body[:start] + piece * chance.choice((2, 200)) + body[start:]


def _recoded(body: bytes, chance: random.Random) -> bytes:
    return body.decode("utf-8", "replace").encode(chance.choice(_ENCODINGS), "replace")


def _inserted(body: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(body) + 1)
    odd = (b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b'"', b"\\", b"<", b"\xe2\x80\xae")
    return body[:place] + chance.choice(odd) * chance.choice((1, 9)) + body[place:]


def _packed_again(body: bytes, chance: random.Random) -> bytes:
    """A Shapefile, one part of which is damaged."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as archive, zipfile.ZipFile(made, "w") as again:
        names = archive.namelist()
        chosen = chance.choice(names)
        for name in names:
            content = archive.read(name)
            if name == chosen:
                content = chance.choice((_flipped, _cut, _repeated, _inserted))(content, chance)
            again.writestr(name, content)
    return made.getvalue()


def _changed_rows(body: bytes, chance: random.Random) -> bytes:
    """A GeoPackage with odd values in its tables, those that describe it included."""
    with tempfile.NamedTemporaryFile(suffix=".gpkg") as file:
        file.write(body)
        file.flush()
        with closing(sqlite3.connect(file.name, isolation_level=None)) as database:
            database.execute("PRAGMA writable_schema=ON")
            (geometry,) = database.execute("SELECT geom FROM sound LIMIT 1").fetchone()
            odd = (None, 0, -1, 2**63 - 1, 1e308, "", "\u202e\x00", "a" * 100_000, geometry, b"GP\x00\x01")
            table, column = chance.choice(_CELLS)
            value = chance.choice((*odd, _flipped(geometry, chance), _cut(geometry, chance)))
            with suppress(sqlite3.Error):
                # A trigger or a check that refuses the value leaves the file sound.
                database.execute(f"UPDATE {table} SET {column} = ?", [value])
            if chance.random() < 0.2:
                database.execute(f"DROP TABLE IF EXISTS {chance.choice(_CELLS)[0]}")
        return Path(file.name).read_bytes()


_CELLS = (
    *(("sound", column) for column in ("name", "gid", "geom", "geom", "geom")),
    *(("gpkg_geometry_columns", column) for column in ("srs_id", "geometry_type_name", "column_name", "z")),
    *(("gpkg_contents", column) for column in ("srs_id", "data_type", "table_name", "min_x")),
    *(("gpkg_spatial_ref_sys", column) for column in ("definition", "srs_id", "organization")),
    ("sqlite_master", "sql"),
)


def _changed_values(body: bytes, chance: random.Random) -> bytes:
    """GeoJSON that is still JSON, with one odd value."""
    document = json.loads(body)
    feature = chance.choice(document["features"])
    odd: tuple[Any, ...] = (
        None,
        True,
        -1,
        1e308,
        10**400,
        "",
        "\u202e",
        [],
        {},
        [[[]]],
        {"type": "Polygon"},
        "a" * 100_000,
    )
    place = chance.choice(("properties", "geometry", "type", "name", "gid", "coordinates", "kind"))
    if place in ("name", "gid"):
        feature["properties"][place] = chance.choice(odd)
    elif place == "coordinates":
        feature["geometry"]["coordinates"] = chance.choice((*odd, [1e308, 0], [0], [200, 100], ["a", "b"]))
    elif place == "kind":
        feature["geometry"]["type"] = chance.choice(("Polygon", "GeometryCollection", "", 1, "MultiPoint"))
    else:
        feature[place] = chance.choice(odd)
    return json.dumps(document).encode()


_WITHIN: Mapping[str, tuple[Damage, ...]] = {
    ".geojson": (_changed_values,),
    ".gpkg": (_changed_rows,),
    ".shp": (_packed_again,),
}
_DAMAGES: tuple[Damage, ...] = (
    _flipped,
    _cut,
    _numbered,
    _nested,
    _repeated,
    _recoded,
    _inserted,
)


def damaged_uploads(target: Target, count: int, seed: int, kinds: str = "") -> None:
    """Send so many damaged files, each kind as often; a refused one that changed the graph is a failure.

    `kinds` is how the names of the kinds begin.
    """
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(dir=target.folder) as made:
        sound = [one for one in sound_uploads(Path(made)) if one.name.startswith(kinds)]
        triples = _triples(target)
        for number in range(count):
            upload = sound[number % len(sound)]
            within = upload.damages and (upload.suffix == ".shp" or chance.random() < 0.7)
            damage = chance.choice(upload.damages if within else _DAMAGES)
            body = upload.body if upload.mapped else damage(upload.body, chance)
            mapping = damage(_MAPPING, chance) if upload.mapped else _MAPPING
            label = f"{number} {upload.name} {damage.__name__[1:]}"
            file = Path(made) / f"sound-{number}{upload.suffix}"
            answer = _sent(target, upload, body, mapping, chance, file)
            target.ledger.add(f"uploads, {upload.name.split()[0]}", label, answer, must_answer=True)
            now = _triples(target)
            refused = answer.status is not None and answer.status >= 400
            if refused and now != triples:
                target.ledger.fail(
                    f"{label}: refused with {answer.status}, and {triples} triples became {now}"
                )
            triples = now
    target.check("uploads")


def _sent(
    target: Target, upload: Upload, body: bytes, mapping: bytes, chance: random.Random, file: Path
) -> Answer:
    if upload.suffix:
        _put_down(body, file)
        mapped = file.with_name("mapping.toml")
        mapped.write_bytes(mapping)
        message = {"files": [str(file)], "mapping": str(mapped), "partial": chance.random() < 0.3}
        message["bulk"] = chance.random() < 0.2
        headers: dict[str, str | bytes] = {"Content-Type": "application/json", **target.headers}
        data = request("POST", upload.path, headers, json.dumps(message).encode())
        try:
            return exchange(target.url, once(upload.name, data, "POST"))[0]
        finally:
            for part in file.parent.glob(f"{file.stem}.*"):
                part.unlink()
    headers = {"Content-Type": _labelled(upload.kind, chance), **target.headers}
    if chance.random() < 0.15:
        body = gzip.compress(body)
        if chance.random() < 0.5:
            body = _flipped(body, chance)
        headers["Content-Encoding"] = "gzip"
    data = request(upload.method, upload.path, headers, body)
    return exchange(target.url, once(upload.name, data, upload.method))[0]


def _put_down(body: bytes, file: Path) -> None:
    """Write a file; a Shapefile comes as a zip of its parts, which are written beside each other."""
    if file.suffix != ".shp":
        file.write_bytes(body)
        return
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        for name in archive.namelist():
            file.with_suffix(Path(name).suffix).write_bytes(archive.read(name))


def _labelled(kind: str, chance: random.Random) -> str:
    """Mostly the type that the file has."""
    if chance.random() < 0.8:
        return kind
    others = [*(other for other, _ in _RDF), *(other for other, _ in _TEXTS), "application/octet-stream", ";"]
    return chance.choice([*others, f"{kind}; charset=utf-16"])


def _triples(target: Target) -> str:
    """How many triples the default graph and the graph of the uploads have."""
    headers: Mapping[str, str] = {"Accept": "text/csv", **target.headers}
    started = time.monotonic()
    while time.monotonic() - started < HANG_S:
        with suppress(httpx.TransportError):
            answer = httpx.get(
                target.url + "/sparql", params={"query": _COUNT}, headers=headers, timeout=60, trust_env=False
            )
            if answer.status_code == 200:
                return answer.text.split()[1]
        time.sleep(0.5)
    raise ServerGoneError("it does not count its triples")
