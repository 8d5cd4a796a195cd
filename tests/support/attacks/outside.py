"""Ways to have the server ask another host or read another file: a listener and a canary notice it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import quote

from tests.support.attacks.attack import Result, Target

GROUP = "other hosts"
_CANARY: Final = "canary-7f3a91"
_MAPPING: Final = """\
[prefixes]
ex = "http://example.org/schema#"

[[layers]]
iri = "{name}"
class = "rdfs:Resource"
label = "name"
"""
_XML: Final = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
_VRT: Final = (
    '<OGRVRTDataSource><OGRVRTLayer name="places"><SrcDataSource>{source}</SrcDataSource>'
    "<SrcLayer>canary</SrcLayer><GeometryType>wkbPoint</GeometryType>"
    '<GeometryField encoding="PointFromColumns" x="x" y="y"/></OGRVRTLayer></OGRVRTDataSource>'
)


class Listener:
    """A port of this machine that notes the first line of whatever comes, and answers nothing of use."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.heard: list[str] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(2)
                try:
                    self.heard.append(connection.recv(200).decode("latin-1").partition("\r\n")[0])
                    connection.sendall(
                        b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                    )
                except OSError:
                    self.heard.append("a connection")

    def close(self) -> None:
        """Hear nothing more."""
        self._socket.close()


@contextmanager
def listening() -> Iterator[Listener]:
    """A listener while the block runs."""
    listener = Listener()
    try:
        yield listener
    finally:
        listener.close()


def attacks(open_: Target) -> Iterator[Result]:
    """Each way once; what was heard meanwhile is that way's."""
    with listening() as listener:
        there = f"http://127.0.0.1:{listener.port}"
        for name, method, path, kind, body in (*_texts(there), *_documents(there), *_files(open_, there)):
            before = len(listener.heard)
            answer = open_.send(method, path, {"Content-Type": kind}, body)
            heard = listener.heard[before:]
            held = not heard and answer.status is not None and not 500 <= answer.status != 501
            yield Result(
                GROUP, name, held, f"status {answer.status}" + "".join(f", heard {one!r}" for one in heard)
            )
    yield _canary(open_)
    yield open_.alive(GROUP)


_Sent = tuple[str, str, str, str, bytes]


def _texts(there: str) -> Iterator[_Sent]:
    query, update = "application/sparql-query", "application/sparql-update"
    for name, text in (
        ("SERVICE", f"SELECT * {{ SERVICE <{there}/s> {{ ?s ?p ?o }} }}"),
        ("SERVICE SILENT", f"SELECT * {{ SERVICE SILENT <{there}/s> {{ ?s ?p ?o }} }}"),
        (
            "SERVICE by name",
            f"SELECT * {{ SERVICE <{there.replace('127.0.0.1', 'localhost')}/s> {{ ?s ?p ?o }} }}",
        ),
        ("SERVICE by variable", f"SELECT * {{ BIND(<{there}/s> AS ?e) SERVICE ?e {{ ?s ?p ?o }} }}"),
        ("SERVICE in EXISTS", f"ASK {{ FILTER EXISTS {{ SERVICE <{there}/s> {{ ?s ?p ?o }} }} }}"),
        ("FROM", f"SELECT * FROM <{there}/g> {{ ?s ?p ?o }}"),
        ("FROM NAMED a file", "SELECT * FROM NAMED <file:///etc/passwd> { GRAPH ?g { ?s ?p ?o } }"),
    ):
        yield name, "POST", "/sparql", query, text.encode()
    for name, text in (
        ("LOAD", f"LOAD <{there}/d.ttl>"),
        ("LOAD SILENT", f"LOAD SILENT <{there}/d.ttl> INTO GRAPH <http://e/g>"),
        ("LOAD of a file", "LOAD SILENT <file:///etc/passwd>"),
        ("LOAD of a number", f"LOAD SILENT <http://2130706433:{there.rpartition(':')[2]}/d>"),
        (
            "SERVICE in an update",
            f"INSERT {{ ?s ?p ?o }} WHERE {{ SERVICE SILENT <{there}/s> {{ ?s ?p ?o }} }}",
        ),
        ("USING", f"INSERT {{ ?s ?p 1 }} USING <{there}/g> WHERE {{ ?s ?p ?o }}"),
    ):
        yield name, "POST", "/update", update, text.encode()
    yield (
        "default-graph-uri",
        "GET",
        f"/sparql?query=ASK%7B%7D&default-graph-uri={quote(there)}",
        "text/plain",
        b"",
    )


def _documents(there: str) -> Iterator[_Sent]:
    owl = "http://www.w3.org/2002/07/owl#"
    imports = f"<http://e/o> a <{owl}Ontology> ; <{owl}imports> <{there}/o> ."
    entity = f'<!DOCTYPE a [<!ENTITY x SYSTEM "{there}/x">]>{_XML}<e:a e:b="&x;"/></rdf:RDF>'
    subset = f'<!DOCTYPE a SYSTEM "{there}/d.dtd">{_XML}</rdf:RDF>'
    parameter = f'<!DOCTYPE a [<!ENTITY % p SYSTEM "{there}/p"> %p;]>{_XML}</rdf:RDF>'
    context = json.dumps({"@context": f"{there}/c.jsonld", "@id": "http://e/a", "name": "x"})
    nested = json.dumps({"@context": [{}, {"@import": f"{there}/c.jsonld"}], "@id": "http://e/a", "n": "x"})
    shape = f"<http://e/s> <http://www.w3.org/ns/shacl#shapesGraph> <{there}/s> . " + imports
    xml, json_ld, turtle = "application/rdf+xml", "application/ld+json", "text/turtle"
    for name, kind, text in (
        ("owl:imports", turtle, imports),
        ("an XML entity", xml, entity),
        ("an XML subset", xml, subset),
        ("an XML parameter entity", xml, parameter),
        ("a JSON-LD context", json_ld, context),
        ("a JSON-LD @import", json_ld, nested),
    ):
        for path in ("/store?graph=http%3A%2F%2Fe%2Fg", "/candidates"):
            yield f"{name} in {path.partition('?')[0]}", "POST", path, kind, text.encode()
    for name, path, kind, text in (
        ("owl:imports in an ontology", "/ontologies/a.ttl", turtle, imports),
        ("owl:imports in shapes", "/shapes/a.ttl", turtle, shape),
        ("an XML entity in an ontology", "/ontologies/a.owl", xml, entity),
    ):
        yield name, "PUT", path + "?dry-run=true", kind, text.encode()
    gml = f"<!DOCTYPE a [<!ENTITY x SYSTEM '{there}/x'>]><gml:Point xmlns:gml='http://www.opengis.net/gml'><gml:pos>&x;</gml:pos></gml:Point>"
    text = (
        "ASK { FILTER(<http://www.opengis.net/def/function/geosparql/isEmpty>"
        f'("{gml}"^^<http://www.opengis.net/ont/geosparql#gmlLiteral>)) }}'
    )
    yield "an XML entity in GML", "POST", "/sparql", "application/sparql-query", text.encode()


def _files(open_: Target, there: str) -> Iterator[_Sent]:
    """Names and contents of feature files that the library of drivers takes for addresses."""
    mapping = open_.folder / "map.toml"
    mapping.write_text(_MAPPING)
    disguised = open_.folder / "remote.geojson"
    disguised.write_text(_VRT.format(source=f"/vsicurl/{there}/canary.csv"))
    names = (
        f"/vsicurl/{there}/a.geojson",
        f"/vsicurl_streaming/{there}/a.gpkg",
        f"/vsizip//vsicurl/{there}/a.zip/a.shp",
        f"/vsitar/vsicurl/{there}/a.tar/a.geojson",
        f"/vsigzip//vsicurl/{there}/a.geojson.gz",
        f"/vsicurl?url={quote(there)}/a.geojson",
        str(disguised),
    )
    for name in names:
        message = {"files": [name], "mapping": str(mapping), "bulk": True, "report": False}
        label = "a feature file that is an address" if name.startswith("/vsi") else "a disguised VRT"
        yield f"{label}: {name[:24]}", "POST", "/loads", "application/json", json.dumps(message).encode()


def _canary(open_: Target) -> Result:
    """A file that calls itself GeoJSON reads another file of the machine into the graph."""
    secret = open_.folder / "canary.csv"
    secret.write_text(f"name,x,y\n{_CANARY},-73.9,40.8\n")
    disguised = open_.folder / "local.geojson"
    disguised.write_text(_VRT.format(source=secret))
    message = {
        "files": [str(disguised)],
        "mapping": str(open_.folder / "map.toml"),
        "bulk": True,
        "report": False,
    }
    kind: dict[str, str | bytes] = {"Content-Type": "application/json"}
    status = open_.send("POST", "/loads", kind, json.dumps(message).encode()).status
    read = _CANARY.encode() in open_.send("GET", "/dump").body
    held = not read and status is not None and 400 <= status < 500
    return Result(
        "files", "a VRT named .geojson", held, f"status {status}, canary {'read' if read else 'not read'}"
    )
