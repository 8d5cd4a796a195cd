"""The fast path of simple insertions inserts the same as the complete path, and accepts nothing else."""

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from sparql.writing.update_account import _as_turtle, inserted
from sparql.writing.updates import capture

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
def test_it_inserts_the_same_as_the_complete_path(text: str) -> None:
    found = inserted(text, BASE)
    assert found is not None
    assert found == capture(pyoxigraph.Store(), text, base=BASE)


@pytest.mark.parametrize("text", NOT_TAKEN)
def test_all_other_updates_take_the_complete_path(text: str) -> None:
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


WRITTEN = r"""
    <http://e/s> <s> <http://e/a/../b> <#c> <\u0041> :x e:y e:1-2 e:a.b e:a% a true false falsey f:x _:b
    1 -1 0 -0 007 1. .5 5. 1e3 1.5E-3 1..2 5.e1 +1 . ; , . ; , 'x' "y" "" "z"! '\n' '\u0022' 'b\\' 'c'@en
    'd'@en-GB 'e'@de--ltr 'f'^^<http://e/t> '1'^^e:t '1'^^<t> [ ] ( ) << >> # @prefix PREFIX ?v $v {| |} ~
"""


@given(
    st.sampled_from(
        ["", "PREFIX e: <http://e/> ", "prefix : <f/>\nPREFIX e: <http://e/\\u0041>", "PREFIX e: <e>"]
    ),
    st.lists(st.sampled_from(WRITTEN.split()), max_size=7),
    st.sampled_from(["", " ", "\n"]),
    st.sampled_from([BASE, None]),
)
def test_what_is_read_as_turtle_is_what_the_engine_makes_of_it(
    prefixes: str, words: list[str], between: str, base: str | None
) -> None:
    data = f"<http://e/s> <http://e/p> {between.join(words)}".replace('"!', '"' * 3)
    text = f"{prefixes}INSERT DATA {{ {data} }}"
    found = _as_turtle(prefixes, data, base)
    store = pyoxigraph.Store()
    if found is not None:
        store.update(text, base_iri=base)
        assert found == frozenset(store)


@pytest.mark.parametrize(
    "data",
    [
        "e:s e:p 1, -25, true, \"a\\tb\", 'c'@en-GB; a <t> .",
        "<s> <p> <o>",
        "<s> <p> 5. <s> <p> '.'",
    ],
)
def test_simple_syntax_is_read_as_turtle(data: str) -> None:
    prefixes = "PREFIX e: <http://e/>\n"
    store = pyoxigraph.Store()
    store.update(f"{prefixes}INSERT DATA {{ {data} }}", base_iri=BASE)
    assert _as_turtle(prefixes, data, BASE) == frozenset(store)
