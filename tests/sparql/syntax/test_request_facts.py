import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparql.model.errors import RemoteAccessRefused
from sparql.syntax.request_facts import Kind, QueryForm, facts_of
from sparql.syntax.tokens import Token, TokenKind, read_prologue, read_tokens


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("SELECT * { ?s ?p ?o }", QueryForm.SELECT),
        ("# INSERT DATA {}\nPREFIX insert: <http://e/> ask {}", QueryForm.ASK),
        ("BASE <http://e/> CONSTRUCT WHERE { ?s ?p ?o }", QueryForm.CONSTRUCT),
        ('VERSION "1.2" DESCRIBE <http://e/a>', QueryForm.DESCRIBE),
        ("SELECTDISTINCT?s{?s?p?o}", QueryForm.SELECT),
    ],
)
def test_a_query_is_known_by_its_form(text: str, form: QueryForm) -> None:
    assert (facts_of(text).kind, facts_of(text).form) == (Kind.QUERY, form)


@pytest.mark.parametrize(
    "text",
    [
        "INSERT DATA { <http://e/a> <http://e/b> 'SELECT * {}' }",
        "PREFIX select: <http://e/> DELETE WHERE { ?s ?p ?o }",
        "WITH <http://e/g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
        "clear all",
        "LOAD <http://e/>",
        "CREATE GRAPH <http://e/g>; SELECT * {}",
    ],
)
def test_an_update_is_known_by_its_first_operation(text: str) -> None:
    assert facts_of(text).kind is Kind.UPDATE


@pytest.mark.parametrize("text", ["", "   # only a comment", "hello", "FROM <http://e/>", "{}"])
def test_what_is_neither_is_left_to_the_engine(text: str) -> None:
    assert facts_of(text).kind is None


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { SERVICE <http://e/> { ?s ?p ?o } }",
        "SELECT * { service silent ?x { ?s ?p ?o } }",
        "SELECT*{SERVICE<http://e/>{?s?p?o}}",
        "SELECT * { { SELECT * { OPTIONAL { SERVICE <http://e/> {} } } } }",
        # The engine needs no space around keywords.
        "SELECT * { ?s ?p trueSERVICE <http://e/> { ?a ?b ?c } }",
        "SELECT * { ?s ?p 1SERVICE <http://e/> { ?a ?b ?c } }",
        "SELECT * { SERVICESILENT <http://e/> { ?a ?b ?c } }",
        "PREFIX ex: <http://e/> SELECT * { SERVICEex:foo { ?a ?b ?c } }",
        # A comparison that could be taken for an IRI with an open string after it.
        "SELECT * { ?s ?p ?a FILTER(?a<?b&&?a!='x>') SERVICE <http://e/> { ?a ?b 'y' } }",
        "SELECT * { BIND(?a<?b#> AS ?x\n AS ?x) SERVICE <http://e/> { ?a ?b ?c } }",
        "INSERT { ?s ?p ?o } WHERE { SERVICE <http://e/> { ?s ?p ?o } }",
    ],
)
def test_a_service_is_found_however_it_is_written(text: str) -> None:
    assert facts_of(text).services
    with pytest.raises(RemoteAccessRefused, match="SERVICE"):
        facts_of(text).refuse_remote_access()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?s ?p 'SERVICE <http://e/> {}' }",
        'SELECT * { ?s ?p """\nSERVICE <http://e/> { "" } """ }',
        "SELECT * { ?s <http://e/SERVICE> ?o } # SERVICE <http://e/> {}",
        "PREFIX service: <http://e/> SELECT * { ?s service:x ?o . GRAPH service:g { ?s ?p ?o } }",
        "SELECT ?service { ?service a <http://e/LOAD> ; <http://e/load> 'LOAD <http://e/>' }",
        "SELECT * { ?s <http://e/p> (?o <http://e/#a'> 'SERVICE <http://e/> {') }",
        "SELECT * { VALUES (?a ?b) { (<http://e/#a> <http://e/b'>) ('SERVICE <x> {' 2) } }",
        "SELECT (?a<?b AS ?c) (?a<?b&&'>'='SERVICE <http://e/> {' AS ?d) { }",
    ],
)
def test_a_service_in_a_string_an_iri_or_a_comment_is_none(text: str) -> None:
    facts_of(text).refuse_remote_access()


def test_load_is_found_in_each_operation() -> None:
    facts = facts_of("CLEAR ALL; LOAD SILENT <http://e/1> INTO GRAPH <http://e/g>; load <http://e/2>")
    assert facts.loads == ("<http://e/1>", "<http://e/2>")
    with pytest.raises(RemoteAccessRefused, match="LOAD <http://e/1>"):
        facts.refuse_remote_access()


def test_a_graph_variable_is_distinguished_from_a_graph_name() -> None:
    assert facts_of("SELECT * { GRAPH ?g { ?s ?p ?o } }").graph_variable
    assert facts_of("SELECT * { graph$g{ ?s ?p ?o } }").graph_variable
    assert not facts_of("SELECT * { GRAPH <http://e/g> { ?s ?p ?graph } }").graph_variable


def test_the_iris_of_a_text_are_expanded() -> None:
    facts = facts_of(
        r"BASE <http://e/base/> PREFIX : <ns/> SELECT * { GRAPH :a\-b { ?s ?p ?o } GRAPH <g\u0041> {} }"
    )
    assert {"http://e/base/ns/a-b", "http://e/base/gA"} <= facts.iris


@pytest.mark.parametrize(
    ("namespace", "expanded"),
    [
        ("http://example.org/ns#", "http://example.org/ns#a"),
        ("#", "http://e/base#a"),
        ("other#", "http://e/other#a"),
        ("http://example.org/ns/", "http://example.org/ns/a"),
        ("urn:x:", "urn:x:a"),
    ],
)
def test_a_namespace_keeps_its_closing_mark_whatever_the_base(namespace: str, expanded: str) -> None:
    prologue = read_prologue(f"BASE <http://e/base> PREFIX : <{namespace}> ASK {{}}")
    assert prologue.expand(Token(TokenKind.PREFIXED_NAME, ":a", 0, 2)) == expanded


def test_a_dataset_clause_is_seen() -> None:
    assert facts_of("SELECT * FROM <http://e/g> { ?s ?p ?o }").dataset_clause
    assert facts_of("WITH <http://e/g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }").dataset_clause
    assert not facts_of("SELECT * { ?s ?from 'FROM' }").dataset_clause


@given(st.text(alphabet="?$ab:_.-<>\"'\\{}()@^1e+|&!=# \nSELECTFILTER", max_size=40))
def test_a_text_is_read_alike_whether_it_holds_other_letters_or_not(text: str):
    plain = [(token.kind, token.text) for token in read_tokens(text)]
    other = [(token.kind, token.text) for token in read_tokens(f"{text}\n#é")]
    assert plain == other
