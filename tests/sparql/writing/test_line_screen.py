"""Files of lines on their way to the engine: plain ones untouched, all others judged."""

from pathlib import Path

import pyoxigraph
import pytest
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat

from server.data.rdf_files import LoadError, RdfLines, rdf_file
from sparql.model.change import Change, Origin, Statement
from sparql.model.literals import literal_violations
from sparql.model.vocabulary import ASSERTED, DEFAULT, GEO, REVIEW, XSD, Namespace
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.bulk import BulkLoad, BulkOutcome, MalformedLiteral
from sparql.writing.lines import plain_lines
from sparql.writing.writer import Writer

EX = Namespace("http://example.org/")
P = "<http://example.org/p>"
TEXTS = [
    *("", " 1", "1", "-1", "+07", "1.5", "1.", "1e3", "INF", "true", "1 ", "2024-02-29", "2023-02-29"),
    *("2024-01-01T00:00:00Z", "2024-01-01T24:00:00", "1850", "0000", "300", "99999999999999999999", "12"),
    *("POINT(1 2)", "POINT(1", "POINT(200 2)", "POINT(-179.9 -89.9)", "POINT(180 90)", "POINT(1 2);"),
    *("2024-13-01", "2024-01-01+15:00", "2147483648", "a\\nb"),
]
DATATYPES = [
    *(XSD.term(name) for name in ("integer", "decimal", "double", "float", "boolean", "date", "dateTime")),
    *(XSD.term(name) for name in ("gYear", "int", "long", "nonNegativeInteger", "positiveInteger", "byte")),
    *(XSD.string, GEO.wktLiteral, GEO.geoJSONLiteral, EX.anything),
]


def load(store: EmbeddedStore, *paths: Path, partial: bool = False) -> BulkOutcome:
    files = [RdfLines(rdf_file(path), lambda read: None) for path in paths]
    return BulkLoad(store, Writer(store), partial=partial).run_lines(files)


@pytest.mark.parametrize("datatype", DATATYPES, ids=lambda one: one.value.rpartition("#")[2])
def test_a_plain_line_parses_and_has_a_literal_of_its_datatype(datatype: NamedNode) -> None:
    plain = plain_lines(graphs=False, blank_nodes=True)
    for text in TEXTS:
        line = f'<http://example.org/a> {P} "{text}"^^{datatype} .\n'.encode()
        if plain.match(line).end() == len(line):  # type: ignore[union-attr]
            (quad,) = pyoxigraph.parse(line, format=RdfFormat.N_TRIPLES)
            for invalid in ("repair", "refuse"):
                assert not literal_violations(quad.triple, invalid), line


@pytest.mark.parametrize(
    "iri",
    [
        *("http://a.org/x", "http://a.org:80/", "http://a.org/%4", "http://a.org/%41", "http://a.org/ü", "x"),
        *("urn:a:b", "http://a.org/[", "http://[::1]/", "http:///x", "a:b", "mailto:a@b.org", "http://a#b#c"),
        *("http://a.org/a b", "http://a.org/\\u00e9", "http://a.org?x=1#y", "://", "http://ü.org/"),
    ],
)
def test_a_plain_iri_is_one_for_the_parser(iri: str) -> None:
    line = f"<{iri}> {P} <http://example.org/o> .\n".encode()
    if plain_lines(graphs=False, blank_nodes=False).match(line).end():  # type: ignore[union-attr]
        assert list(pyoxigraph.parse(line, format=RdfFormat.N_TRIPLES))


def test_lines_are_loaded_as_the_parser_reads_them(tmp_path: Path) -> None:
    text = "\n".join(
        [
            *(f'<http://example.org/a> {P} "{n}"^^{XSD.integer} .' for n in range(50)),
            *("# a comment", "", f'  <http://example.org/a>\t{P} "tab\\t\\u00e9" . # more'),
            *(f'_:x {P} "é"@en .', f"_:y {P} _:x .", f"<http://example.org/é> {P} _:x ."),
            f'<http://example.org/last> {P} "no end of line"@de-Latn .',
        ]
    )
    (tmp_path / "a.nt").write_bytes(text.encode())
    store, expected = EmbeddedStore(), pyoxigraph.Store()
    outcome = load(store, tmp_path / "a.nt")
    expected.load(text.encode(), format=RdfFormat.N_TRIPLES)
    found = pyoxigraph.Dataset(store.match_quads(None, None, None, DEFAULT))
    wanted = pyoxigraph.Dataset(expected)
    for dataset in (found, wanted):
        dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    assert found == wanted
    assert outcome.quads == len(expected)


def test_a_blank_node_is_one_of_its_file(tmp_path: Path) -> None:
    for name in ("a.nt", "b.nt"):
        (tmp_path / name).write_text(f'_:x {P} "{name}" .\n_:x {P} "{name} too" .\n')
    store = EmbeddedStore()
    load(store, tmp_path / "a.nt", tmp_path / "b.nt")
    assert len({quad.subject for quad in store.match_quads(None, EX.p, None)}) == 2


def test_an_error_names_file_and_line_and_nothing_is_loaded(tmp_path: Path) -> None:
    good = "".join(f'<http://example.org/a> {P} "{n}" .\n' for n in range(40_000))
    (tmp_path / "a.nt").write_text(f"{good}<http://example.org/a> {P} nonsense .\n{good}")
    store = EmbeddedStore()
    with pytest.raises(LoadError, match="line 40001"):
        load(store, tmp_path / "a.nt", partial=True)
    assert not store.contains(Quad(EX.a, EX.p, Literal("0")))
    assert not store.bulk_pending


def test_what_is_refused_stops_the_load_or_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_text(f'<http://example.org/a> {P} "1" .\n<http://example.org/a> {P} "x"^^{XSD.integer} .\n')
    store = EmbeddedStore()
    with pytest.raises(MalformedLiteral):
        load(store, path)
    outcome = load(store, path, partial=True)
    assert (outcome.quads, outcome.left_out.count) == (1, 1)
    assert store.contains(Quad(EX.a, EX.p, Literal("1")))


def test_system_graphs_are_passed_over_and_other_graphs_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.nq"
    path.write_text(
        f"<http://example.org/a> {P} <http://example.org/b> {REVIEW} .\n"
        f"<http://example.org/a> {P} <http://example.org/b> <http://example.org/g> .\n"
    )
    store = EmbeddedStore()
    assert load(store, path).quads == 1
    assert not store.contains(Quad(EX.a, EX.p, EX.b, REVIEW))
    assert store.contains(Quad(EX.a, EX.p, EX.b, EX.g))


@pytest.mark.parametrize("name", ["a", "a-longer-name"])
def test_what_was_extracted_and_is_then_loaded_counts_as_asserted_too(tmp_path: Path, name: str) -> None:
    store = EmbeddedStore()
    quad = Quad(EX.term(name), EX.p, EX.b)
    change = Change(additions=(Statement(quad.triple),), origin=Origin.EXTRACTED)
    Writer(store).commit(change)
    path = tmp_path / "a.nt"
    path.write_text(f"<http://example.org/other> {P} <http://example.org/b> .\n{quad.triple} .\n")
    load(store, path)
    assert store.contains(Quad(quad.subject, EX.p, EX.b, ASSERTED))
    assert not store.contains(Quad(EX.other, EX.p, EX.b, ASSERTED))
