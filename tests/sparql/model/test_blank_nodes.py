"""Graphs that come back with other blank nodes are matched with the stored ones, and differences are new."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, CanonicalizationAlgorithm, Dataset, Literal, Quad, Triple

from sparql.model.blank_nodes import with_known_blank_nodes
from sparql.model.vocabulary import RDF, Namespace

EX = Namespace("http://example.org/")
NODES = [BlankNode(f"n{number}") for number in range(6)]
ends = st.sampled_from([*NODES, EX.a, EX.b])
triples = st.builds(Triple, ends, st.sampled_from([EX.p, EX.q]), ends)
graphs = st.frozensets(triples, max_size=14)


def renamed(graph: frozenset[Triple]) -> frozenset[Triple]:
    """The same graph as another document would give it."""

    def other(term):
        if isinstance(term, BlankNode):
            return BlankNode("x" + term.value)
        return (
            Triple(other(term.subject), term.predicate, other(term.object))
            if isinstance(term, Triple)
            else term
        )

    return frozenset(Triple(other(t.subject), t.predicate, other(t.object)) for t in graph)


def canonical(graph: frozenset[Triple]) -> set[Quad]:
    dataset = Dataset(Quad(*triple) for triple in graph)
    dataset.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return set(dataset)


@settings(deadline=None, max_examples=300)
@given(graphs)
def test_a_graph_written_back_equals_the_stored_one(graph: frozenset[Triple]):
    assert with_known_blank_nodes(renamed(graph), graph) == graph


@settings(deadline=None, max_examples=300)
@given(graphs, graphs)
def test_an_incoming_graph_keeps_its_meaning_whatever_is_stored(
    incoming: frozenset[Triple], held: frozenset[Triple]
):
    found = with_known_blank_nodes(renamed(incoming), held)
    assert canonical(found) == canonical(incoming)


def test_a_piece_that_was_edited_is_new_and_the_others_are_not():
    held = frozenset(
        triple
        for number in range(3)
        for node in [BlankNode(f"n{number}")]
        for triple in (Triple(EX.s, EX.p, node), Triple(node, EX.q, Literal(number)))
    )
    edited = (renamed(held) - {Triple(BlankNode("xn1"), EX.q, Literal(1))}) | {
        Triple(BlankNode("xn1"), EX.q, Literal(7))
    }
    found = with_known_blank_nodes(edited, held)
    assert len(found & held) == 4
    assert {t.object for t in found - held if t.predicate == EX.q} == {Literal(7)}


def test_repeated_pieces_are_matched_as_often_as_they_are_stored():
    twice = frozenset(Triple(EX.s, EX.p, BlankNode(f"n{number}")) for number in range(2))
    assert with_known_blank_nodes(renamed(twice), twice) == twice
    once = frozenset([Triple(EX.s, EX.p, BlankNode("xn0"))])
    assert len(with_known_blank_nodes(once, twice) & twice) == 1


def test_long_lists_of_equal_members_and_triple_terms_are_matched():
    cells = [BlankNode(f"n{number}") for number in range(1000)]
    held = {Triple(one, RDF.first, EX.member) for one in cells}
    held |= {Triple(one, RDF.rest, other) for one, other in zip(cells, [*cells[1:], RDF.nil], strict=True)}
    held.add(Triple(EX.s, EX.p, cells[0]))
    held.add(Triple(BlankNode("n5000"), RDF.reifies, Triple(cells[7], EX.p, EX.a)))
    assert with_known_blank_nodes(renamed(frozenset(held)), held) == held


def test_a_piece_full_of_symmetries_ends_and_keeps_its_meaning():
    nodes = [BlankNode(f"n{number}") for number in range(9)]
    held = frozenset(Triple(one, EX.p, other) for one in nodes for other in nodes if one != other)
    assert len(with_known_blank_nodes(renamed(held), held)) == len(held)
