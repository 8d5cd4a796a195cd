"""The graph store without HTTP: addresses, bodies, conditions, and what each write changes."""

import io
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from sparql.model.change import Change, Statement
from sparql.model.errors import (
    GraphUnknown,
    MalformedRequest,
    PayloadProblem,
    PreconditionFailed,
    ProtectedGraph,
    UnsupportedMediaType,
)
from sparql.model.vocabulary import DEFAULT, DERIVED, ONTOLOGY, Namespace
from sparql.protocol.formats import BY_NAME
from sparql.protocol.requests import Conditions, TagList, graph_tag
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.graph_store import GraphStore, payload_format, read_address, read_payload
from sparql.writing.writer import Writer

EX = Namespace("http://example.org/")
A, B, C = (Triple(EX.s, EX.p, Literal(number)) for number in range(3))


@pytest.fixture
def store() -> EmbeddedStore:
    return EmbeddedStore()


@pytest.fixture
def graphs(store: EmbeddedStore) -> GraphStore:
    return GraphStore(store, Writer(store))


def content(store: EmbeddedStore, graph: NamedNode | None) -> set[Triple]:
    return {quad.triple for quad in store.match_quads(None, None, None, graph or DEFAULT)}


class TestAddresses:
    def test_the_graph_is_named_by_parameter_or_by_the_address(self):
        assert read_address("graph=http%3A%2F%2Fe%2Fg", None).graph == NamedNode("http://e/g")
        assert read_address("", "http://e/store/x").graph == NamedNode("http://e/store/x")
        default = read_address("default", None)
        assert (default.graph, default.names_graph) == (None, True)
        assert not read_address("", None).names_graph

    def test_a_plus_is_a_plus_and_an_escape_is_decoded_once(self):
        assert read_address("graph=http://e/a+b", None).graph == NamedNode("http://e/a+b")
        assert read_address("graph=http://e/%2531", None).graph == NamedNode("http://e/%31")

    @settings(deadline=None)
    @given(st.text(max_size=40))
    def test_any_query_string_is_read_or_refused(self, text: str):
        with suppress(MalformedRequest):
            read_address(text, None)


class TestBodies:
    def test_relative_iris_take_the_base(self):
        (triple,) = read_payload(io.BytesIO(b"<x> <p> <> ."), BY_NAME["turtle"], "http://e/d/g")
        assert triple == Triple(*map(NamedNode, ("http://e/d/x", "http://e/d/p", "http://e/d/g")))

    def test_blank_nodes_are_new_each_time(self):
        bodies = [
            read_payload(io.BytesIO(b"_:a <http://e/p> 1 ."), BY_NAME["turtle"], "http://e/") for _ in "12"
        ]
        assert len(bodies[0] | bodies[1]) == 2

    def test_the_place_of_a_mistake_is_reported(self):
        with pytest.raises(PayloadProblem, match="line 2, column") as caught:
            read_payload(io.BytesIO(b"<http://e/s> <http://e/p>\n oops ."), BY_NAME["turtle"], "http://e/")
        assert caught.value.line == 2

    def test_the_place_of_a_mistake_in_xml_is_reported(self):
        with pytest.raises(PayloadProblem) as caught:
            read_payload(io.BytesIO(b"<a>\n  <b></c>\n</a>"), BY_NAME["rdfxml"], "http://e/")
        assert caught.value.line == 2

    @pytest.mark.parametrize("kind", [None, "", "text/html", "turtle", "text/turtle; charset=utf-16"])
    def test_other_types_are_refused(self, kind: str | None):
        with pytest.raises(UnsupportedMediaType):
            payload_format(kind)

    def test_aliases_and_charsets_are_read(self):
        assert payload_format('Text/Turtle; charset="UTF-8"').name == "turtle"
        assert payload_format("text/plain").name == "ntriples"

    @settings(deadline=None)
    @given(
        st.binary(max_size=60), st.sampled_from(["turtle", "ntriples", "nquads", "trig", "rdfxml", "jsonld"])
    )
    def test_any_bytes_are_read_or_refused(self, body: bytes, name: str):
        with suppress(PayloadProblem):
            read_payload(io.BytesIO(body), BY_NAME[name], "http://e/")


class TestConditions:
    def test_a_tag_counts_whatever_the_format_and_the_compression(self):
        tag = graph_tag(7, EX.g, BY_NAME["turtle"])
        for header in (f'"{tag}"', f'"x", "{tag}-gzip"'):
            Conditions.read(header, None).check_write(7, EX.g, exists=True)
        for revision, graph in ((8, EX.g), (7, EX.h), (7, None)):
            with pytest.raises(PreconditionFailed):
                Conditions.read(f'"{tag}"', None).check_write(revision, graph, exists=True)

    def test_revision_1_is_not_revision_10(self):
        tag = graph_tag(10, None)
        with pytest.raises(PreconditionFailed):
            Conditions.read(f'"{tag}"', None).check_write(1, None, exists=True)

    @settings(deadline=None)
    @given(st.text(max_size=40))
    def test_any_header_is_read(self, header: str):
        assert TagList.read(header) is not None


class TestWrites:
    def test_replacing_changes_only_the_difference(self, store: EmbeddedStore, graphs: GraphStore):
        assert graphs.replace(EX.g, frozenset((A, B))).created
        outcome = graphs.replace(EX.g, frozenset((B, C)))
        assert not outcome.created
        assert content(store, EX.g) == {B, C}
        assert content(store, None) == set()

    def test_replacing_by_the_same_writes_nothing(self, store: EmbeddedStore, graphs: GraphStore):
        graphs.replace(None, frozenset((A,)))
        revision = store.revision()
        assert graphs.replace(None, frozenset((A,))).verdict.revision is None
        assert store.revision() == revision

    def test_stored_blank_nodes_are_replaced_too(self, store: EmbeddedStore, graphs: GraphStore):
        for graph in (EX.g, None):
            graphs.replace(graph, frozenset((Triple(BlankNode("b"), EX.p, BlankNode("c")),)))
            graphs.replace(graph, frozenset((A,)))
            assert content(store, graph) == {A}

    def test_empty_graphs_come_and_go(self, graphs: GraphStore):
        assert graphs.replace(EX.g, frozenset()).created
        assert graphs.exists(EX.g)
        graphs.delete(EX.g)
        assert not graphs.exists(EX.g)
        with pytest.raises(GraphUnknown):
            graphs.delete(EX.g)

    def test_merging_adds(self, store: EmbeddedStore, graphs: GraphStore):
        assert graphs.merge(EX.g, frozenset((A,))).created
        assert not graphs.merge(EX.g, frozenset((B,))).created
        assert content(store, EX.g) == {A, B}

    def test_the_systems_part_of_the_default_graph_stays(self, store: EmbeddedStore, graphs: GraphStore):
        for triple, graph in ((B, DERIVED), (C, ONTOLOGY)):
            store.commit([Quad(*triple_parts(triple)), Quad(*triple_parts(triple), graph)])
        graphs.merge(None, frozenset((A,)))
        graphs.replace(None, frozenset())
        assert content(store, None) == {B, C}
        graphs.replace(None, frozenset((A, B, C)))
        graphs.delete(None)
        assert content(store, None) == {B, C}

    def test_system_graphs_are_refused(self, graphs: GraphStore):
        for write in (graphs.replace, graphs.merge):
            with pytest.raises(ProtectedGraph):
                write(ONTOLOGY, frozenset((A,)))
        with pytest.raises(ProtectedGraph):
            graphs.delete(DERIVED)

    def test_a_write_that_does_not_conform_makes_no_graph(self, store: EmbeddedStore):
        wrong = Triple(
            EX.s, EX.p, Literal("soon", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#date"))
        )
        change = Change(additions=(Statement(wrong),), graphs_created=frozenset((EX.g,)))
        assert not Writer(store).commit(change).conforms
        assert not store.graph.contains_named_graph(EX.g)

    def test_what_is_replaced_is_read_under_the_lock(self, store: EmbeddedStore, graphs: GraphStore):
        tag = f'"{graph_tag(store.revision(), None)}"'
        graphs.merge(None, frozenset((A,)))
        with pytest.raises(PreconditionFailed):
            graphs.replace(None, frozenset((B,)), Conditions.read(tag, None))
        assert content(store, None) == {A}


def triple_parts(triple: Triple) -> tuple[object, NamedNode, object]:
    return triple.subject, triple.predicate, triple.object
