"""The graph store over HTTP, clause by clause of the SPARQL 1.1 Graph Store HTTP Protocol."""

import asyncio
import gzip
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
import rdflib
from pyoxigraph import RdfFormat, parse, serialize
from rdflib.compare import isomorphic

from ontology import Schema
from server.app import create_app
from server.runtime.wiring import build
from server.services import Services
from server.settings import Settings
from shapes.gate.gate import ShapesGate
from tests.server.conftest import RecordedModel, own_gate, select

BASE = "http://127.0.0.1:8000"
FOAF = "@prefix foaf: <http://xmlns.com/foaf/0.1/> .\n"
JOHN = FOAF + '<http://e/1> a foaf:Person ; foaf:knows [ foaf:name "John" ] .'
JANE = FOAF + '<http://e/1> a foaf:Person ; foaf:knows [ foaf:name "Jane" ] .'
NAME = FOAF + '<http://e/1> foaf:familyName "Doe" .'
TURTLE = {"content-type": "text/turtle; charset=utf-8"}
GRAPH = "/store?graph=http%3A%2F%2Fe%2Fg"
DIRECT = "/store/person/1.ttl"
URBAN = "https://w3id.org/urbankg/urban#"
SYSTEM = "https://w3id.org/urbankg/graph/"
RDFS = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
XSD = "http://www.w3.org/2001/XMLSchema#"
WRONG = f'<http://e/x> <http://e/p> "fine" ; <http://e/when> "soon"^^<{XSD}date> .'

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def services(
    tmp_path_factory: pytest.TempPathFactory, schema: Schema, gate: ShapesGate
) -> AsyncIterator[Services]:
    """One server for all tests here; each starts with none of their graphs."""
    settings = Settings(data=tmp_path_factory.mktemp("store") / "data", readers=1)
    async with build(settings, model=RecordedModel(), schema=schema, gate=own_gate(gate)) as services:
        yield services


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_client(services: Services) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def client(shared_client: httpx.AsyncClient) -> httpx.AsyncClient:
    for address in (GRAPH, DIRECT, "/store?default"):
        assert (await shared_client.delete(address)).status_code in (204, 404)
    return shared_client


async def put(client: httpx.AsyncClient, address: str, body: str = JOHN, **headers: str) -> httpx.Response:
    return await client.put(address, content=body, headers={**TURTLE, **headers})


async def post(client: httpx.AsyncClient, address: str, body: str, **headers: str) -> httpx.Response:
    return await client.post(address, content=body, headers={**TURTLE, **headers})


async def holds(client: httpx.AsyncClient, address: str, *bodies: str) -> bool:
    """Whether a graph is the one that these bodies together give."""
    response = await client.get(address, headers={"accept": "text/turtle"})
    assert response.status_code == 200, response.text
    expected = rdflib.Graph()
    for body in bodies:
        expected.parse(data=body, format="turtle", publicID=address)
    return isomorphic(rdflib.Graph().parse(data=response.text, format="turtle"), expected)


@pytest.mark.parametrize("address", [GRAPH, DIRECT])
class TestByEitherIdentification:
    """4.1 and 4.2: the address is the graph's IRI, or carries it."""

    async def test_put_makes_a_graph_and_then_replaces_it(self, client: httpx.AsyncClient, address: str):
        made = await put(client, address)
        assert made.status_code == 201
        assert await holds(client, made.headers["location"], JOHN)
        assert (await put(client, address, JANE)).status_code == 204
        assert await holds(client, address, JANE)

    async def test_delete_removes_it(self, client: httpx.AsyncClient, address: str):
        await put(client, address)
        assert (await client.delete(address)).status_code == 204
        assert (await client.get(address)).status_code == 404
        assert (await client.delete(address)).status_code == 404

    async def test_post_adds_and_makes_what_is_not_there(self, client: httpx.AsyncClient, address: str):
        assert (await post(client, address, JOHN)).status_code == 201
        assert (await post(client, address, NAME)).status_code == 204
        assert await holds(client, address, JOHN, NAME)

    async def test_blank_nodes_of_two_bodies_stay_apart(self, client: httpx.AsyncClient, address: str):
        for _ in range(2):
            await post(client, address, "_:same <http://e/p> 1 .")
        assert await holds(client, address, "_:a <http://e/p> 1 . _:b <http://e/p> 1 .")

    async def test_a_form_of_several_documents_is_merged(self, client: httpx.AsyncClient, address: str):
        await put(client, address)
        files = {
            "a": ("last.ttl", NAME, "text/turtle; charset=utf-8"),
            "b": ("first.nt", '<http://e/1> <http://e/first> "Jane" .', "application/n-triples"),
        }
        assert (await client.post(address, files=files)).status_code == 204
        assert await holds(client, address, JOHN, NAME, '<http://e/1> <http://e/first> "Jane" .')

    async def test_head_is_get_without_the_body(self, client: httpx.AsyncClient, address: str):
        assert (await client.head(address)).status_code == 404
        await put(client, address)
        head = await client.head(address, headers={"accept": "text/turtle"})
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-type"] == "text/turtle; charset=utf-8"
        assert head.headers["etag"] == (await client.get(address)).headers["etag"]

    async def test_an_empty_body_makes_an_empty_graph(self, client: httpx.AsyncClient, address: str):
        assert (await put(client, address, "")).status_code == 201
        assert (await client.get(address)).status_code == 200
        assert (await client.put(address)).status_code == 204


class TestAddresses:
    async def test_a_direct_address_is_the_iri_of_its_graph(self, client: httpx.AsyncClient):
        await put(client, DIRECT)
        assert await holds(client, f"/store?graph={BASE}{DIRECT}", JOHN)

    async def test_post_to_the_store_makes_a_graph_and_names_it(self, client: httpx.AsyncClient):
        response = await post(client, "/store", JOHN)
        assert response.status_code == 201
        location = response.headers["location"]
        assert location.startswith(BASE + "/store/")
        assert await holds(client, location, JOHN)
        assert await holds(client, f"/store?graph={location}", JOHN)

    async def test_percent_encoding_is_decoded_once(self, client: httpx.AsyncClient):
        assert (await put(client, "/store?graph=http://e/%31")).status_code == 201
        assert (await put(client, "/store?graph=http://e/%2531", JANE)).status_code == 201
        assert await holds(client, "/store?graph=http://e/1", JOHN)
        assert await holds(client, "/store?graph=http://e/%2531", JANE)

    @pytest.mark.parametrize(
        "address",
        [
            "/store",
            "/store/",
            "/store?graph=relative",
            "/store?graph=",
            "/store?graph=http://e/a%20b",
            "/store?graph=http://e/g&default",
            "/store?default&default",
            "/store?graph=%ff",
            "/store/x?default",
            "/store?grpah=http://e/g",
            "/store?default&partial=perhaps",
            "/store?default&format=papyrus",
        ],
    )
    async def test_an_address_that_names_no_graph_is_reported(self, client: httpx.AsyncClient, address: str):
        response = await client.get(address)
        assert response.status_code == 400
        assert response.headers["content-type"] == "application/problem+json"
        if "format" not in address:
            # A POST to the store itself makes a graph; PUT does not.
            assert (await put(client, address)).status_code == 400

    async def test_relative_iris_are_relative_to_the_graph(self, client: httpx.AsyncClient):
        await put(client, "/store?graph=http://e/dir/g", "<x> <p> <> .")
        assert await holds(
            client, "/store?graph=http://e/dir/g", "<http://e/dir/x> <http://e/dir/p> <http://e/dir/g> ."
        )

    async def test_patch_is_refused_with_what_may_be_sent_instead(self, client: httpx.AsyncClient):
        for address in ("/store", DIRECT):
            response = await client.patch(address, content="DELETE DATA {}")
            assert response.status_code == 405
            assert response.headers["allow"] == "DELETE, GET, HEAD, OPTIONS, POST, PUT"
            options = await client.options(address)
            assert (options.status_code, options.headers["allow"]) == (204, response.headers["allow"])


class TestContent:
    @pytest.mark.parametrize(
        ("accept", "found"),
        [
            (None, "text/turtle; charset=utf-8"),
            ("application/n-triples", "application/n-triples"),
            ("application/rdf+xml;q=0.9, text/html", "application/rdf+xml"),
            ("application/ld+json", "application/ld+json"),
            ("text/turtle;q=0.1, application/trig", "application/trig"),
        ],
    )
    async def test_a_graph_comes_as_asked_for(
        self, client: httpx.AsyncClient, accept: str | None, found: str
    ):
        await put(client, GRAPH)
        response = await client.get(GRAPH, headers={"accept": accept} if accept else {})
        assert response.headers["content-type"] == found
        assert "Accept" in response.headers["vary"]

    async def test_nothing_acceptable_is_reported(self, client: httpx.AsyncClient):
        await put(client, GRAPH)
        assert (await client.get(GRAPH, headers={"accept": "image/png"})).status_code == 406

    async def test_the_prefixes_of_the_ontology_are_used(self, client: httpx.AsyncClient):
        await put(client, GRAPH, f"<http://e/x> a <{URBAN}Museum> .")
        assert "urban:Museum" in (await client.get(GRAPH)).text

    @pytest.mark.parametrize(
        ("kind", "body"),
        [
            ("application/n-triples", "<http://e/s> <http://e/p> 'x' ."),
            ("application/n-quads", '<http://e/s> <http://e/p> "x" .'),
            ("application/ld+json", '{"@id": "http://e/s", "http://e/p": "x"}'),
            (
                "application/rdf+xml",
                "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
                "<rdf:Description rdf:about='http://e/s'><p xmlns='http://e/'>x</p></rdf:Description></rdf:RDF>",
            ),
        ],
    )
    async def test_every_graph_format_is_read(self, client: httpx.AsyncClient, kind: str, body: str):
        body = body.replace("'x'", '"x"')
        response = await client.put(GRAPH, content=body, headers={"content-type": kind})
        assert response.status_code == 201, response.text
        assert await holds(client, GRAPH, '<http://e/s> <http://e/p> "x" .')

    async def test_a_gzipped_body_is_read(self, client: httpx.AsyncClient):
        headers = {**TURTLE, "content-encoding": "gzip"}
        body = gzip.compress(JOHN.encode())
        assert (await client.put(GRAPH, content=body, headers=headers)).status_code == 201
        assert await holds(client, GRAPH, JOHN)
        assert (await client.put(GRAPH, content=body[:-9], headers=headers)).status_code == 400
        assert (await client.put(GRAPH, content=b"no gzip", headers=headers)).status_code == 400
        assert (await put(client, GRAPH, **{"content-encoding": "br"})).status_code == 415

    @pytest.mark.parametrize(
        "kind", ["text/turtle", "multipart/form-data; boundary=x", "application/rdf+xml", ""]
    )
    @pytest.mark.parametrize(
        "body",
        [b"this is not gzip", b"\x1f\x8b", gzip.compress(b"x" * 999)[:-3]],
        ids=["something else", "its first bytes", "cut off"],
    )
    async def test_what_is_not_the_gzip_that_it_claims_to_be_is_reported_and_changes_nothing(
        self, client: httpx.AsyncClient, kind: str, body: bytes
    ):
        headers = {"content-encoding": "gzip", **({"content-type": kind} if kind else {})}
        for method in ("PUT", "POST"):
            response = await client.request(method, GRAPH, content=body, headers=headers)
            assert response.status_code == 400
            assert response.headers["content-type"] == "application/problem+json"
        assert (await client.get(GRAPH)).status_code == 404

    @pytest.mark.parametrize("kind", ["text/html", "text/turtle; charset=latin-1", "", "nonsense"])
    async def test_other_content_is_refused(self, client: httpx.AsyncClient, kind: str):
        response = await client.put(GRAPH, content=JOHN, headers={"content-type": kind} if kind else {})
        assert response.status_code == 415

    @pytest.mark.parametrize(
        ("kind", "body", "place"),
        [
            ("text/turtle", "<http://e/s> <http://e/p>\n  nonsense .", (2, 3)),
            ("text/turtle", b"<http://e/s> <http://e/p> '\xff' .", (1, 28)),
            ("application/n-triples", "<http://e/s> <http://e/p> <http://e/o> .\noops", (2, 1)),
            ("application/ld+json", "{\n  oops", (2, 3)),
            ("application/rdf+xml", "<rdf:RDF\n>", (2, 1)),
            ("application/trig", "<http://e/g> { <http://e/s> <http://e/p> 1 }", None),
            ("application/ld+json", '{"@context": "http://e/context"}', None),
        ],
    )
    async def test_a_body_that_does_not_parse_changes_nothing(
        self, client: httpx.AsyncClient, kind: str, body: str | bytes, place: tuple[int, int] | None
    ):
        response = await client.put(GRAPH, content=body, headers={"content-type": kind})
        assert response.status_code == 400, response.text
        problem = response.json()
        if place is not None:
            assert problem["line"] == place[0], problem
            assert isinstance(problem["column"], int)
        assert (await client.get(GRAPH)).status_code == 404

    async def test_a_form_that_is_cut_off_changes_nothing(self, client: httpx.AsyncClient):
        kind = {"content-type": "multipart/form-data; boundary=x"}
        part = f"--x\r\nContent-Disposition: form-data; name=a\r\nContent-Type: text/turtle\r\n\r\n{NAME}"
        for body in ("", part, part[:40], part + "\r\n--xyz\r\n"):
            assert (await client.post(GRAPH, content=body, headers=kind)).status_code == 400
        assert (await client.post(GRAPH, content=part + "\r\n--x--\r\n", headers=kind)).status_code == 201
        no_boundary = {"content-type": "multipart/form-data"}
        assert (await client.post(GRAPH, content=part, headers=no_boundary)).status_code == 400


class TestTheDefaultGraph:
    async def test_put_replaces_the_clients_part_and_leaves_the_ontology(self, client: httpx.AsyncClient):
        classes = "SELECT ?c WHERE { ?c a <http://www.w3.org/2002/07/owl#Class> }"
        before = len(await select(client, classes))
        await put(client, "/store?default", "<http://e/a> <http://e/p> 1 .")
        assert (await put(client, "/store?default", "<http://e/b> <http://e/p> 2 .")).status_code == 204
        rows = await select(client, "SELECT ?s WHERE { ?s <http://e/p> ?o }")
        assert rows == [{"s": "http://e/b"}]
        assert len(await select(client, classes)) == before > 50

    @pytest.mark.parametrize("kind", ["application/n-triples", "text/turtle", "application/ld+json"])
    async def test_what_was_read_and_is_written_back_unchanged_is_no_change(
        self, client: httpx.AsyncClient, services: Services, kind: str
    ):
        body = "<http://e/a> <http://e/p> [ <http://e/q> 1 , [] ] , [ <http://e/q> 1 , [] ] , (1 [] 1 []) ."
        await put(client, "/store?default", body)
        await put(client, GRAPH, body)
        revision = services.store.revision()
        for address in ("/store?default", GRAPH):
            whole = await client.get(address, headers={"accept": kind})
            assert "_:" in whole.text or "[" in whole.text
            headers = {"content-type": kind}
            written = await client.put(address, content=whole.content, headers=headers)
            assert written.status_code in (200, 204), written.text
        assert services.store.revision() == revision
        asserted = await client.get(f"/store?graph={SYSTEM}asserted")
        assert "owl" not in asserted.text

    async def test_delete_takes_the_clients_part_and_its_relations(self, client: httpx.AsyncClient):
        geometry = "http://www.opengis.net/ont/geosparql#"
        square = "((-74 40.6,-73.8 40.6,-73.8 40.8,-74 40.8,-74 40.6))"
        body = (
            f"@prefix geo: <{geometry}> . @prefix sf: <http://www.opengis.net/ont/sf#> .\n"
            + RDFS
            + "".join(
                f"""<http://e/{n}> a <{URBAN}{kind}> ; rdfs:label "Place {n}"@en ;
              geo:hasDefaultGeometry <http://e/{n}/g> .
            <http://e/{n}/g> a sf:{shape} ; geo:asWKT "{shape.upper()}{place}"^^geo:wktLiteral .\n"""
                for n, kind, shape, place in (
                    ("a", "Museum", "Point", "(-73.9 40.7)"),
                    ("b", "Neighborhood", "Polygon", square),
                )
            )
        )
        made = await put(client, "/store?default", body)
        assert made.status_code in (200, 204), made.text
        relations = "SELECT ?r WHERE { <http://e/a> ?r <http://e/b> }"
        assert await select(client, relations) == [{"r": geometry + "rcc8ntpp"}]
        assert "rcc8ntpp" in (await client.get(f"/store?graph={SYSTEM}derived")).text
        assert (await client.delete("/store?default")).status_code == 204
        assert await select(client, relations) == []

    async def test_what_does_not_conform_is_refused_whole(self, client: httpx.AsyncClient):
        response = await put(client, "/store?default", WRONG)
        assert response.status_code == 422
        assert response.headers["content-type"] == "application/problem+json"
        assert response.json()["rejected"][0]["violations"][0]["path"] == "http://e/when"
        assert await select(client, "SELECT ?o WHERE { <http://e/x> ?p ?o }") == []

    @pytest.mark.parametrize(
        ("accept", "format_"), [("text/turtle", RdfFormat.TURTLE), ("application/ld+json", RdfFormat.JSON_LD)]
    )
    async def test_the_refusal_comes_as_a_shacl_report(
        self, client: httpx.AsyncClient, accept: str, format_: str
    ):
        response = await put(client, "/store?default", WRONG, accept=accept)
        assert (response.status_code, response.headers["content-type"].partition(";")[0]) == (422, accept)
        triples = parse(response.content, format=format_)
        report = rdflib.Graph().parse(data=serialize(triples, format=RdfFormat.N_QUADS), format="nt")
        sh = rdflib.SH
        (node,) = report.subjects(rdflib.RDF.type, sh.ValidationReport)
        assert report.value(node, sh.conforms) == rdflib.Literal(False)
        (result,) = report.objects(node, sh.result)
        assert report.value(result, sh.focusNode) == rdflib.URIRef("http://e/x")
        assert report.value(result, sh.resultPath) == rdflib.URIRef("http://e/when")

    async def test_partial_takes_what_conforms(self, client: httpx.AsyncClient):
        response = await put(client, "/store?default&partial=true", WRONG)
        assert response.status_code == 200
        reported = response.json()
        assert (reported["accepted"], len(reported["rejected"])) == (1, 1)
        assert await select(client, "SELECT ?o WHERE { <http://e/x> ?p ?o }") == [{"o": "fine"}]


class TestSystemGraphs:
    async def test_they_are_read_by_their_iri(self, client: httpx.AsyncClient):
        response = await client.get(f"/store?graph={SYSTEM}ontology")
        assert f"<{URBAN}Museum>" in response.text or "urban:Museum" in response.text
        assert (await client.get(f"/store?graph={SYSTEM}review")).status_code == 200

    @pytest.mark.parametrize("name", ["ontology", "derived", "state", "anything"])
    async def test_nobody_writes_them(self, client: httpx.AsyncClient, name: str):
        address = f"/store?graph={SYSTEM}{name}"
        assert (await put(client, address)).status_code == 403
        assert (await post(client, address, JOHN)).status_code == 403
        assert (await client.delete(address)).status_code == 403

    async def test_a_web_page_of_another_origin_cannot_write(self, client: httpx.AsyncClient):
        response = await put(client, GRAPH, origin="https://elsewhere.example")
        assert response.status_code == 403
        assert "access-control-allow-origin" not in response.headers


class TestConditions:
    """RFC 9110, 13: the tag is by revision, graph and format."""

    async def test_what_is_known_is_not_sent_again(self, client: httpx.AsyncClient):
        await put(client, GRAPH)
        tag = (await client.get(GRAPH)).headers["etag"]
        assert not tag.startswith("W/")
        known = await client.get(GRAPH, headers={"if-none-match": f'"other", {tag}'})
        assert (known.status_code, known.content, known.headers["etag"]) == (304, b"", tag)
        other_format = {"if-none-match": tag, "accept": "application/n-triples"}
        assert (await client.get(GRAPH, headers=other_format)).status_code == 200
        await put(client, GRAPH, JANE)
        assert (await client.get(GRAPH, headers={"if-none-match": tag})).status_code == 200

    async def test_a_graph_that_was_written_since_is_not_overwritten(self, client: httpx.AsyncClient):
        await put(client, GRAPH)
        tag = (await client.get(GRAPH)).headers["etag"]
        assert (await put(client, GRAPH, JANE, **{"if-match": tag})).status_code == 204
        assert (await put(client, GRAPH, NAME, **{"if-match": tag})).status_code == 412
        stale = await client.delete(GRAPH, headers={"if-match": tag})
        assert stale.status_code == 412
        assert await holds(client, GRAPH, JANE)

    async def test_the_tag_of_another_graph_or_a_weak_one_does_not_count(self, client: httpx.AsyncClient):
        await put(client, GRAPH)
        await put(client, DIRECT)
        tag, other = [(await client.get(one)).headers["etag"] for one in (GRAPH, DIRECT)]
        assert (await put(client, GRAPH, JANE, **{"if-match": other})).status_code == 412
        assert (await put(client, GRAPH, JANE, **{"if-match": "W/" + tag})).status_code == 412
        assert (await put(client, GRAPH, JANE, **{"if-match": f"{other}, {tag}"})).status_code == 204

    async def test_a_star_asks_whether_the_graph_is_there(self, client: httpx.AsyncClient):
        assert (await put(client, GRAPH, **{"if-match": "*"})).status_code == 412
        assert (await put(client, GRAPH, **{"if-none-match": "*"})).status_code == 201
        assert (await put(client, GRAPH, **{"if-none-match": "*"})).status_code == 412
        assert (await put(client, GRAPH, JANE, **{"if-match": "*"})).status_code == 204
        assert (await client.get(GRAPH, headers={"if-none-match": "*"})).status_code == 304

    async def test_of_concurrent_writers_on_one_revision_one_wins(self, client: httpx.AsyncClient):
        await put(client, GRAPH)
        tag = (await client.get(GRAPH)).headers["etag"]
        bodies = [f"<http://e/s> <http://e/p> {n} ." for n in range(6)]
        answers = await asyncio.gather(*(put(client, GRAPH, body, **{"if-match": tag}) for body in bodies))
        assert sorted(one.status_code for one in answers) == [204, 412, 412, 412, 412, 412]

    async def test_a_compressed_body_has_a_tag_of_its_own_that_still_counts(self, client: httpx.AsyncClient):
        await put(client, GRAPH, "\n".join(f"<http://e/s> <http://e/p> {n} ." for n in range(500)))
        plain = await client.get(GRAPH, headers={"accept-encoding": "identity"})
        packed = await client.get(GRAPH, headers={"accept-encoding": "gzip"})
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.text == plain.text
        assert packed.headers["etag"] != plain.headers["etag"]
        for tag in (packed.headers["etag"], plain.headers["etag"]):
            assert (await client.get(GRAPH, headers={"if-none-match": tag})).status_code == 304
        kept = await put(client, GRAPH, JOHN, **{"if-match": packed.headers["etag"]})
        assert kept.status_code == 204
