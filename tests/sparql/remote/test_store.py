"""A remote store accepts what the embedded one accepts, and reports what it does not support."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from sparql.model.errors import ProtectedGraph, RemoteConflict, RemoteUnsupported
from sparql.model.vocabulary import DEFAULT, DERIVED, GEO, PROVENANCE, RDF, XSD
from sparql.remote.endpoint import RemoteAddress
from sparql.remote.store import RemoteStore
from sparql.storage.change_log import ChangeLog
from sparql.writing.updates import capture
from tests.support.remote_servers import VIRTUOSO_DEFAULT_GRAPH, direct

OpenRemote = Callable[..., RemoteStore]
A, B, P, Q, G, H = (NamedNode(f"http://e.org/{name}") for name in "abpqgh")
LATITUDE_FIRST = "<http://www.opengis.net/def/crs/EPSG/0/4326> POLYGON((0 0,0 1.10,1 1,0 0))"
LITERALS = [
    Literal("plain"),
    Literal(""),
    Literal("two\nlines\t\"quoted\" and a \\ and 'more' é 😀"),
    Literal("Straße", language="de"),
    Literal("x" * 100_000),
    Literal("y" * 20_000, datatype=NamedNode("http://e.org/own")),
    Literal("own", datatype=NamedNode("http://e.org/own")),
    Literal("7", datatype=XSD.integer),
    Literal("1.5", datatype=XSD.decimal),
    Literal("true", datatype=XSD.boolean),
    Literal("false", datatype=XSD.boolean),
    Literal("2026-11-22T01:02:03+01:00", datatype=XSD.dateTime),
    Literal("2026-11-22", datatype=XSD.date),
    Literal("1754", datatype=XSD.gYear),
    Literal("10:00:00", datatype=XSD.time),
    Literal("PT1H", datatype=XSD.duration),
    Literal("P1Y2M", datatype=XSD.yearMonthDuration),
    Literal("http://e.org/a b", datatype=XSD.anyURI),
    Literal("POINT(1 2)", datatype=GEO.wktLiteral),
    Literal(LATITUDE_FIRST, datatype=GEO.wktLiteral),
    Literal(f"LINESTRING({', '.join(f'{n} {n}.125' for n in range(3000))})", datatype=GEO.wktLiteral),
    Literal('{"type":"Point","coordinates":[1,2]}', datatype=GEO.geoJSONLiteral),
    Literal("<b>x</b>", datatype=RDF.HTML),
]


def in_default(*triples: Triple) -> list[Quad]:
    return [Quad(one.subject, one.predicate, one.object) for one in triples]


def test_what_is_committed_is_found_by_every_pattern(store: RemoteStore):
    quads = [Quad(A, P, B), Quad(A, Q, Literal(1)), Quad(A, P, B, G)]
    assert store.commit(quads) == 1
    assert set(store.match(A, None, None)) == {Triple(A, P, B), Triple(A, Q, Literal(1))}
    for pattern in ((None, P, None), (None, None, B), (A, P, None), (A, P, B), (None, P, B), (A, None, B)):
        assert list(store.match(*pattern)) == [Triple(A, P, B)]
    assert set(store.match_quads(None, None, None, G)) == {Quad(A, P, B, G)}
    assert set(store.match_quads(A, P, None)) >= {quads[0], quads[2]}
    assert store.contains(quads[0])
    assert not store.contains(Quad(B, P, A))
    assert store.has_graph(G)
    assert not store.has_graph(H)


@pytest.mark.parametrize("literal", LITERALS, ids=lambda one: f"{one.value[:12]}^^{one.datatype.value[-12:]}")
def test_a_literal_is_returned_unchanged_and_can_be_removed(store: RemoteStore, literal: Literal):
    quad, other = Quad(A, P, literal), Quad(A, P, Literal("other"))
    store.commit([quad, other])
    assert store.contains(quad)
    assert set(store.match(A, P, None)) == {quad.triple, other.triple}
    assert list(store.match(None, P, literal)) == [quad.triple]
    store.commit([], [quad])
    assert set(store.match(A, P, None)) == {other.triple}


def test_a_commit_of_thousands_of_quads_is_one_operation(store: RemoteStore):
    names = [NamedNode(f"http://e.org/{number}") for number in range(3000)]
    quads = [Quad(name, P, Literal("x"), G if number % 3 else DEFAULT) for number, name in enumerate(names)]
    store.commit(quads)
    assert sum(1 for _ in store.match_quads(None, P, None, G)) == 2000
    assert sum(1 for _ in store.match_quads(None, P, None, DEFAULT)) == 1000
    store.commit([Quad(A, Q, B)], quads)
    assert list(store.match_quads(None, None, None, G)) == []
    assert list(store.match(None, None, None)) == [Triple(A, Q, B)]
    assert not [name for name in store.graph.named_graphs() if name.value.startswith("http://e.org/")]


def test_blank_nodes_keep_their_identity(store: RemoteStore):
    node = BlankNode()
    store.commit([Quad(A, P, node), Quad(node, Q, Literal("inside"))])
    assert list(store.match(A, P, None)) == [Triple(A, P, node)]
    assert list(store.match(node, None, None)) == [Triple(node, Q, Literal("inside"))]
    store.commit([Quad(node, Q, B)], [Quad(node, Q, Literal("inside"))])
    assert list(store.match(node, None, None)) == [Triple(node, Q, B)]
    store.commit([], [Quad(A, P, node), Quad(node, Q, B)])
    assert list(store.match(None, None, None)) == []


def test_provenance_stays_local_and_triple_terms_are_refused_elsewhere(store: RemoteStore):
    statement = Triple(A, P, B)
    evidence = Quad(A, RDF.reifies, statement, PROVENANCE)
    store.commit([Quad(A, P, B), evidence])
    assert store.contains(evidence)
    assert list(store.local.match_quads(None, RDF.reifies, None, PROVENANCE)) == [evidence]
    with pytest.raises(RemoteUnsupported, match="triple terms"):
        store.commit([Quad(B, P, A), Quad(A, RDF.reifies, statement)])
    assert not store.contains(Quad(B, P, A))
    assert store.revision() == 1


def test_a_folder_and_its_store_are_opened_again_where_they_were(open_remote: OpenRemote):
    for revision in (1, 2, 3):
        store = open_remote()
        assert store.commit([Quad(A, P, Literal(revision))]) == revision
        store.close()
    store = open_remote()
    assert store.revision() == 3
    assert sum(1 for _ in store.match(A, P, None)) == 3
    store.probe()


def test_two_servers_on_one_store_do_not_overwrite_each_other(open_remote: OpenRemote):
    first, second = open_remote("first"), open_remote("second")
    first.commit([Quad(A, P, Literal("first"))])
    with pytest.raises(RemoteConflict):
        second.commit([Quad(A, P, Literal("second"))])
    with pytest.raises(RemoteConflict):
        second.probe()
    assert list(first.match(A, P, None)) == [Triple(A, P, Literal("first"))]


def test_what_others_write_is_read(address: RemoteAddress, store: RemoteStore):
    name = address.default_graph
    data = f"{A} {P} 5" if name is None else f"GRAPH {name} {{ {A} {P} 5 }}"
    direct(address, f"INSERT DATA {{ {data} }}")
    assert list(store.match(A, None, None)) == [Triple(A, P, Literal(5))]
    assert store.revision() == 0


def test_our_default_graph_is_not_written_to_by_its_name(address: RemoteAddress, store: RemoteStore):
    if address.default_graph is None:
        store.commit([Quad(A, P, B, VIRTUOSO_DEFAULT_GRAPH)])
        assert not store.contains(Quad(A, P, B))
    else:
        with pytest.raises(ProtectedGraph):
            store.commit([Quad(A, P, B, VIRTUOSO_DEFAULT_GRAPH)])


def test_the_change_log_holds_what_really_changed(store: RemoteStore, tmp_path: Path):
    store.journal = ChangeLog(tmp_path / "changes", store.revision())
    store.commit([Quad(A, P, B)], origin="asserted")
    store.commit([Quad(A, P, B), Quad(A, Q, B)], [Quad(B, P, A)], origin="asserted")
    store.commit([Quad(A, P, B, PROVENANCE)])
    lines = b"".join(store.journal.reader(0).next_lines()).decode()
    assert lines.count('"added":1') == 2
    assert '"removed":1' not in lines
    assert store.journal.newest == store.revision() == 3


def test_a_bulk_load_is_visible_completely_or_not_at_all(store: RemoteStore):
    def breaking_off():
        for number in range(1500):
            yield Quad(A, P, Literal(number))
        raise ValueError("the file is broken")

    store.begin_bulk()
    with pytest.raises(ValueError, match="broken"):
        store.bulk_add(breaking_off())
    assert list(store.match(A, None, None)) == []
    assert store.bulk_pending
    store.bulk_add(Quad(A, P, Literal(number), G) for number in range(1500))
    store.end_bulk([Quad(A, P, Literal(0), G)])
    assert not store.bulk_pending
    assert sum(1 for _ in store.match_quads(A, P, None, G)) == 1499


def test_an_update_is_captured_from_the_remote_patterns(store: RemoteStore):
    store.commit([Quad(A, P, Literal(1)), Quad(B, P, Literal(2)), Quad(A, Q, B, G), Quad(A, P, B, DERIVED)])
    graph = store.graph
    where = f"WHERE {{ ?s {P} ?n FILTER(?n > 1) }}"
    delta = capture(graph, f"DELETE {{ ?s {P} ?n }} INSERT {{ ?s {Q} ?n }} {where}")
    assert delta.removals == {Quad(B, P, Literal(2))}
    assert delta.additions == {Quad(B, Q, Literal(2))}
    delta = capture(graph, f"WITH {G} DELETE {{ ?s ?p ?o }} WHERE {{ ?s ?p ?o }}")
    assert delta.removals == {Quad(A, Q, B, G)}
    delta = capture(graph, "INSERT { ?g <http://e.org/holds> ?s } WHERE { GRAPH ?g { ?s ?p ?o } }")
    assert delta.additions == {Quad(G, NamedNode("http://e.org/holds"), A)}
    delta = capture(graph, f"INSERT {{ {H} {P} ?n }} USING {G} WHERE {{ ?n {Q} ?o }}")
    assert delta.additions == {Quad(H, P, A)}
    delta = capture(graph, f"DROP GRAPH {G}")
    assert delta.removals == {Quad(A, Q, B, G)}
    delta = capture(graph, f"COPY DEFAULT TO {H}")
    assert {quad.graph_name for quad in delta.additions} == {H}


def test_an_update_that_reads_its_own_changes_is_refused(store: RemoteStore):
    text = f"INSERT DATA {{ {A} {P} 1 }} ; DELETE {{ ?s ?p ?o }} WHERE {{ ?s ?p ?o }}"
    with pytest.raises(RemoteUnsupported, match="send it by itself"):
        capture(store.graph, text)
