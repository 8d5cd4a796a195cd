"""Capturing what an update would change, checked against the engine doing it."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph
import pytest
from pyoxigraph import BlankNode, CanonicalizationAlgorithm, Dataset, DefaultGraph, Literal, NamedNode, Quad

from sparql.model.errors import (
    GraphExists,
    GraphMissing,
    MalformedRequest,
    ProtectedGraph,
    RemoteAccessRefused,
    SyntaxProblem,
)
from sparql.writing.update_account import QuadDelta
from sparql.writing.updates import capture

SYSTEM = "https://w3id.org/urbankg/graph/"
DATA = """
PREFIX ex: <http://e/>
INSERT DATA {
  ex:a ex:p 1, 2 ; ex:q ex:b . ex:b ex:p 3 .
  GRAPH ex:g1 { ex:a ex:p 10 . ex:c ex:p 11 }
  GRAPH ex:g2 { ex:a ex:p 20 }
}
"""
EX = "PREFIX ex: <http://e/> "


@pytest.fixture(params=["in memory", "on disk"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> pyoxigraph.Store:
    store = pyoxigraph.Store() if request.param == "in memory" else pyoxigraph.Store(str(tmp_path / "live"))
    store.update(DATA)
    return store


def copy_of(store: pyoxigraph.Store) -> pyoxigraph.Store:
    copied = pyoxigraph.Store()
    copied.extend(store)
    return copied


def applied(store: pyoxigraph.Store, delta: QuadDelta) -> set[Quad]:
    assert not delta.additions & delta.removals
    assert delta.removals <= set(store)
    return (set(store) - delta.removals) | delta.additions


def canonical(quads: object) -> Dataset:
    dataset = Dataset(quads)  # type: ignore[arg-type]
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return dataset


@pytest.mark.parametrize("writable", [False, True], ids=["only read", "written to and restored"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing",
        EX + "INSERT DATA { ex:new ex:p 1 ; ex:q 'x'@en, ex:a . GRAPH ex:g1 { ex:new ex:p 2.5, true } }",
        EX + "INSERT DATA { ex:a ex:p 1 }",
        EX + "DELETE DATA { ex:a ex:p 1 . GRAPH ex:g1 { ex:a ex:p 10, 99 } }",
        EX + "INSERT DATA { _:x ex:p _:y . _:y ex:q [ ex:p (1 2 ex:a) ] GRAPH ex:g1 { _:x ex:p 1 } }",
        EX + "INSERT DATA { ex:a ex:p 1 {| ex:said ex:b |} . << ex:a ex:q ex:b >> ex:said ex:c . }",
        EX + "DELETE WHERE { ?s ex:p ?o . GRAPH ?g { ?s ex:p ?other } }",
        EX + "DELETE WHERE { GRAPH ex:g1 { ?s ?p ?o } }",
        EX + "DELETE { ?s ex:p ?o } INSERT { ?s ex:p ?new } WHERE { ?s ex:p ?o BIND(?o + 1 AS ?new) }",
        EX + "DELETE { ?s ex:p ?o } INSERT { ?s ex:p ?o } WHERE { ?s ex:p ?o }",
        EX + "INSERT { ?s ex:note [ ex:of ?o ] } WHERE { ?s ex:p ?o }",
        EX + "INSERT { _:n ex:of ?o ; ex:at _:n } WHERE { ?s ex:p ?o }",
        EX + "INSERT { ?o ex:p ?s . ?s ?o ex:x . ?s ex:q ?unbound . ?s ex:ok ?o } WHERE { ?s ex:p ?o }",
        EX + "INSERT { GRAPH ?g { ?s ex:seen true } } WHERE { GRAPH ?g { ?s ?p ?o } }",
        EX + "INSERT { ex:fixed ex:p 1 } WHERE { ex:a ex:p ?o }",
        EX + "INSERT { ex:fixed ex:p 1 } WHERE { ex:nobody ex:p ?o }",
        EX + "INSERT { ex:fixed ex:p 1 } WHERE { }",
        EX + "WITH ex:g1 DELETE { ?s ex:p ?o } INSERT { ?s ex:was ?o } WHERE { ?s ex:p ?o }",
        EX + "WITH ex:g1 DELETE { ?s ex:p ?o } WHERE { GRAPH ex:g2 { ?s ex:p ?x } ?s ex:p ?o }",
        EX + "INSERT { ?s ex:copied ?o } USING ex:g1 USING ex:g2 WHERE { ?s ex:p ?o }",
        EX + "INSERT { ?s ex:copied ?o } USING NAMED ex:g1 WHERE { GRAPH ?g { ?s ex:p ?o } }",
        EX + "WITH ex:g2 DELETE { ?s ex:p ?o } INSERT { ?s ex:z ?o } USING ex:g1 WHERE { ?s ex:p ?o }",
        EX + "INSERT { ?s ex:n ?n } WHERE { { SELECT ?s (COUNT(*) AS ?n) { ?s ex:p ?o } GROUP BY ?s } }",
        EX + "DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(?o<3&&?o!='x>') }",
        "CLEAR DEFAULT",
        "CLEAR NAMED",
        "CLEAR ALL",
        EX + "CLEAR GRAPH ex:g1",
        "CLEAR SILENT GRAPH <http://e/none>",
        EX + "DROP GRAPH ex:g1",
        "DROP ALL",
        EX + "CREATE GRAPH ex:new",
        EX + "CREATE SILENT GRAPH ex:g1",
        EX + "ADD ex:g1 TO DEFAULT",
        EX + "COPY GRAPH ex:g1 TO ex:g2",
        EX + "COPY DEFAULT TO ex:g2",
        EX + "MOVE ex:g1 TO DEFAULT",
        EX + "MOVE ex:g1 TO ex:g1",
        EX + "INSERT DATA { ex:new ex:p 5 }; DELETE { ?s ex:p ?o } INSERT { ?s ex:p 6 } WHERE { ?s ex:p ?o }",
        EX + "DELETE DATA { ex:a ex:p 1 }; INSERT DATA { ex:a ex:p 1 }; INSERT DATA { ex:z ex:p 1 };",
        EX + "INSERT DATA { ex:z ex:p 1 }; DELETE DATA { ex:z ex:p 1 }",
        EX + "INSERT DATA { GRAPH ex:n { ex:z ex:p 1 } }; COPY ex:n TO ex:m; DROP GRAPH ex:n; CLEAR DEFAULT",
        EX + "CREATE GRAPH ex:n; INSERT { GRAPH ?g { ex:a ex:in ?g } } WHERE { GRAPH ?g { } }",
        EX + "DROP GRAPH ex:g1; INSERT DATA { GRAPH ex:g1 { ex:a ex:p 7 } }; MOVE ex:g1 TO ex:g3",
        "PREFIXex:<http://e/>INSERTDATA{ex:a ex:p 5};CLEARSILENTGRAPH<http://e/none>",
    ],
)
def test_the_delta_is_what_the_engine_would_have_done(
    store: pyoxigraph.Store, text: str, writable: bool
) -> None:
    before = set(store)
    reference = copy_of(store)
    reference.update(text)
    named = set(store.named_graphs())
    delta = capture(store, text, writable=writable)
    assert canonical(applied(store, delta)) == canonical(reference)
    assert set(store) == before
    assert set(store.named_graphs()) == named
    graphs = (set(store.named_graphs()) | delta.graphs_created) - delta.graphs_dropped
    graphs |= {quad.graph_name for quad in delta.additions if isinstance(quad.graph_name, NamedNode)}
    assert graphs == set(reference.named_graphs())


def test_each_operation_may_declare_prefixes_of_its_own() -> None:
    delta = capture(
        pyoxigraph.Store(),
        "PREFIX a: <http://a/> INSERT DATA { a:x a:p 1 }; PREFIX b: <http://b/> INSERT DATA { a:y b:p 2 }",
    )
    assert {quad.predicate.value for quad in delta.additions} == {"http://a/p", "http://b/p"}


def test_relative_iris_are_resolved_against_the_requests_base(store: pyoxigraph.Store) -> None:
    text = "INSERT DATA { <a> <p> 1 }; WITH <g> INSERT { ?s <q> <a#x> } USING <g1> WHERE { ?s <p> 10 }"
    delta = capture(store, text, base="http://e/sparql")
    assert delta.additions == {
        Quad(NamedNode("http://e/a"), NamedNode("http://e/p"), Literal(1)),
        Quad(
            NamedNode("http://e/a"),
            NamedNode("http://e/q"),
            NamedNode("http://e/a#x"),
            NamedNode("http://e/g"),
        ),
    }


def test_a_blank_node_belongs_to_one_operation() -> None:
    with pytest.raises(SyntaxProblem, match="_:x"):
        capture(pyoxigraph.Store(), "INSERT DATA { _:x <a:b> 1 }; INSERT DATA { _:x <a:b> 2 }")


def test_random_values_are_drawn_once(store: pyoxigraph.Store) -> None:
    text = "PREFIX ex: <http://e/> INSERT { ex:a ex:id ?i . ex:b ex:id ?i } WHERE { BIND(UUID() AS ?i) }"
    delta = capture(store, text)
    assert len({quad.object for quad in delta.additions}) == 1
    assert len(delta.additions) == 2


def test_stored_blank_nodes_keep_their_identity(store: pyoxigraph.Store) -> None:
    store.update("PREFIX ex: <http://e/> INSERT DATA { ex:a ex:node [ ex:p 1 ] }")
    delta = capture(store, "PREFIX ex: <http://e/> DELETE WHERE { ?s ex:node ?n . ?n ex:p ?o }")
    assert len(delta.removals) == 2
    assert delta.removals <= set(store)
    later = capture(
        store,
        "PREFIX ex: <http://e/> INSERT DATA { ex:z ex:p 1 }; DELETE WHERE { ?s ex:node ?n . ?n ex:p ?o }",
    )
    assert later.removals == delta.removals


def test_blank_nodes_of_a_template_are_new_for_each_solution(store: pyoxigraph.Store) -> None:
    delta = capture(store, "PREFIX ex: <http://e/> INSERT { _:n ex:of ?s } WHERE { ?s ex:p ?o }")
    nodes = {quad.subject for quad in delta.additions}
    assert len(nodes) == 3
    assert all(isinstance(node, BlankNode) for node in nodes)


def test_the_requests_dataset_is_that_of_where(store: pyoxigraph.Store) -> None:
    text = "PREFIX ex: <http://e/> INSERT { ?s ex:copied ?o } WHERE { ?s ex:p ?o }"
    delta = capture(store, text, using=(NamedNode("http://e/g2"),))
    assert [quad.object for quad in delta.additions] == [Literal(20)]
    with pytest.raises(MalformedRequest, match="USING or WITH"):
        capture(store, text.replace("WHERE", "USING ex:g1 WHERE"), using=(NamedNode("http://e/g2"),))


@pytest.mark.parametrize(
    "text",
    [
        f"INSERT DATA {{ GRAPH <{SYSTEM}derived> {{ <http://e/a> <http://e/p> 1 }} }}",
        f"PREFIX g: <{SYSTEM}> DELETE DATA {{ GRAPH g:ontology {{ <http://e/a> <http://e/p> 1 }} }}",
        f"WITH <{SYSTEM}review> DELETE {{ ?s ?p ?o }} WHERE {{ ?s ?p ?o }}",
        f"DELETE {{ GRAPH ?g {{ ?s ?p 1 }} }} WHERE {{ VALUES ?g {{ <{SYSTEM}review> }} ?s ?p 1 }}",
        f"INSERT {{ GRAPH ?g {{ ?s ?p ?o }} }} WHERE {{ ?s ?p ?o BIND(IRI(CONCAT('{SYSTEM}', 'x')) AS ?g) }}",
        f"CLEAR GRAPH <{SYSTEM}derived>",
        f"DROP SILENT GRAPH <{SYSTEM}derived>",
        f"CREATE GRAPH <{SYSTEM}mine>",
        f"COPY DEFAULT TO <{SYSTEM}derived>",
        f"MOVE <{SYSTEM}derived> TO DEFAULT",
        f"ADD <http://e/g1> TO <{SYSTEM}asserted>",
    ],
)
def test_system_graphs_cannot_be_written(store: pyoxigraph.Store, text: str) -> None:
    graph = NamedNode(f"{SYSTEM}derived")
    store.add(Quad(NamedNode("http://e/a"), NamedNode("http://e/p"), Literal(1), graph))
    store.add(
        Quad(NamedNode("http://e/a"), NamedNode("http://e/p"), Literal(1), NamedNode(f"{SYSTEM}review"))
    )
    with pytest.raises(ProtectedGraph, match=SYSTEM):
        capture(store, text)


def test_clearing_everything_leaves_what_the_system_keeps(store: pyoxigraph.Store) -> None:
    kept = Quad(NamedNode("http://e/T"), NamedNode("http://e/label"), Literal("T"))
    recorded = Quad(kept.subject, kept.predicate, kept.object, NamedNode(f"{SYSTEM}ontology"))
    store.extend([kept, recorded])
    for text in ("CLEAR ALL", "DROP ALL", "CLEAR DEFAULT; CLEAR NAMED"):
        assert applied(store, capture(store, text)) == {kept, recorded}


def test_a_graph_variable_does_not_range_over_system_graphs(store: pyoxigraph.Store) -> None:
    store.add(
        Quad(NamedNode("http://e/a"), NamedNode("http://e/p"), Literal(1), NamedNode(f"{SYSTEM}derived"))
    )
    delta = capture(store, "DELETE WHERE { GRAPH ?g { ?s ?p ?o } }")
    assert {quad.object for quad in delta.removals} == {Literal(10), Literal(11), Literal(20)}


def test_graphs_that_are_missing_or_there_are_errors_unless_silent(store: pyoxigraph.Store) -> None:
    with pytest.raises(GraphMissing, match="SILENT"):
        capture(store, "CLEAR GRAPH <http://e/none>")
    with pytest.raises(GraphMissing):
        capture(store, "MOVE <http://e/none> TO DEFAULT")
    with pytest.raises(GraphExists):
        capture(store, "CREATE GRAPH <http://e/g1>")
    for text in ("DROP SILENT GRAPH <http://e/none>", "COPY SILENT <http://e/none> TO DEFAULT"):
        assert capture(store, text) == QuadDelta()


def test_a_refused_request_changes_nothing(store: pyoxigraph.Store) -> None:
    with pytest.raises(RemoteAccessRefused):
        capture(store, "CLEAR ALL; LOAD <http://127.0.0.1/>")
    with pytest.raises(RemoteAccessRefused):
        capture(store, "INSERT { ?s ?p ?o } WHERE { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }")
    with pytest.raises(MalformedRequest, match="query"):
        capture(store, "SELECT * { ?s ?p ?o }")


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("INSERT DATA {\n <http://a> <http://b> }", 2, 24),
        ("CLEAR ALL;\nPREFIX ex: <http://e/>\n INSERT DATA { ex:a ex:b }", 3, 26),
        ("CLEAR ALL; INSERT DATA { <http://a> <http://b> }", 1, 48),
        ("nonsense", 1, None),
        ("INSERT DATA { nope:a <http://e/p> 1 }", 1, None),
        ("INSERT DATA { <http://e/a> <http://e/p> 1", 1, None),
        ("INSERT DATA { <http://e/a> <http://e/p> 1 } }", 1, None),
        ("CLEAR ALL CLEAR ALL", 1, None),
        ("INSERT DATA { ?s <http://e/p> 1 }", 1, None),
        ("; CLEAR ALL", 1, None),
    ],
)
def test_a_syntax_error_names_its_place_in_the_whole_text(
    store: pyoxigraph.Store, text: str, line: int, column: int | None
) -> None:
    with pytest.raises(SyntaxProblem) as raised:
        capture(store, text)
    assert raised.value.line == line
    if column is not None:
        assert raised.value.column == column
        assert f"line {line}, column {column}" in str(raised.value)


def test_additions_name_what_is_inserted_even_if_it_is_there_already(store: pyoxigraph.Store) -> None:
    text = "INSERT DATA { <http://e/a> <http://e/p> 1 }"
    assert capture(store, text).additions == {
        Quad(NamedNode("http://e/a"), NamedNode("http://e/p"), Literal(1), DefaultGraph())
    }


def test_scratch_clones_are_thrown_away(tmp_path: Path) -> None:
    store = pyoxigraph.Store(str(tmp_path / "live"))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    store.update(DATA)
    capture(store, "INSERT DATA { <http://e/z> <http://e/p> 1 }; DELETE WHERE { ?s ?p 1 }", scratch=scratch)
    assert list(scratch.iterdir()) == []
