"""The short way of plain insertions inserts what the long way does, and takes nothing else."""

import pyoxigraph
import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from sparql.insert_data import inserted
from sparql.updates import capture

BASE = "http://e/sparql"
TAKEN = [
    "INSERT DATA { <http://e/s> <http://e/p> 1 }",
    "insert data{<http://e/s> <http://e/p> 'x'@en, true; a <c> .}",
    "PREFIX e: <http://e/>\nprefix : <http://f/>\nINSERT DATA { e:s e:p :o } ;",
    "INSERT DATA { <s> <p> 'a # b', '''long''' }",
    "INSERT DATA { }",
    "INSERT DATA { <http://e/s> <http://e/p> <<( <http://e/a> <http://e/b> 1 )>> }",
]
NOT_TAKEN = [
    "",
    "SELECT * { ?s ?p ?o }",
    "DELETE DATA { <http://e/s> <http://e/p> 1 }",
    "INSERT DATA { GRAPH <http://e/g> { <http://e/s> <http://e/p> 1 } }",
    "INSERT DATA { <http://e/s> <http://e/p> 1 } ; CLEAR ALL",
    "CLEAR ALL ; INSERT DATA { <http://e/s> <http://e/p> 1 }",
    "INSERT DATA { <http://e/s> <http://e/p> 1 } ; INSERT DATA { <http://e/s> <http://e/p> 2 }",
    "INSERT { <http://e/s> <http://e/p> 1 } WHERE { }",
    "INSERT DATA { ?s <http://e/p> 1 }",
    "INSERT DATA { e:s <http://e/p> 1 }",
    "INSERT DATA { <http://e/s> <http://e/p> }",
    "INSERT DATA { <http://e/s> <http://e/p> 1 # }",
    "BASE <http://other/> INSERT DATA { <s> <p> 1 }",
    "LOAD <http://e/> ; INSERT DATA { <http://e/s> <http://e/p> 1 }",
    "# INSERT DATA\nDELETE DATA { <http://e/s> <http://e/p> 1 }",
]


@pytest.mark.parametrize("text", TAKEN)
def test_it_inserts_what_the_long_way_does(text: str) -> None:
    found = inserted(text, BASE)
    assert found is not None
    assert found == capture(pyoxigraph.Store(), text, base=BASE)


@pytest.mark.parametrize("text", NOT_TAKEN)
def test_all_else_is_read_the_long_way(text: str) -> None:
    assert inserted(text, BASE) is None


def test_blank_nodes_are_new_each_time() -> None:
    text = "INSERT DATA { _:a <http://e/p> _:a, [ <http://e/q> 1 ] }"
    first, second = inserted(text), inserted(text)
    assert first is not None
    assert second is not None
    assert len(first.additions) == 3
    nodes = [
        {
            term
            for quad in one.additions
            for term in (quad.subject, quad.object)
            if isinstance(term, BlankNode)
        }
        for one in (first, second)
    ]
    assert len(nodes[0]) == len(nodes[1]) == 2
    assert nodes[0].isdisjoint(nodes[1])


def test_relative_names_are_those_of_the_base() -> None:
    found = inserted("INSERT DATA { <s> <p> 1 }", "http://e/x/")
    assert found is not None
    one = Literal("1", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#integer"))
    assert found.additions == {Quad(NamedNode("http://e/x/s"), NamedNode("http://e/x/p"), one)}
