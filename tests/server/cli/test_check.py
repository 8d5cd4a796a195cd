"""`urbankg check`: a report in four formats, exit codes for CI."""

import json
import subprocess
from pathlib import Path

import pytest

from ontology import OntologyError, Schema
from ontology.checks.findings import Level
from ontology.checks.reporting import ReportFormat
from server.rules.checking import Folders, check
from tests.support.prepared_processes import urbankg

ONTOLOGY = """@prefix : <http://example.org/o#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<http://example.org/o> a owl:Ontology ; owl:versionIRI <http://example.org/o/1> .
:Park a owl:Class ; rdfs:comment "Green | wide." ; owl:disjointWith :Road .
:Road a owl:Class ; rdfs:label "road"@en ; rdfs:comment "A way." .
"""


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    for name in ("ontology", "shapes"):
        (tmp_path / name).mkdir()
    (tmp_path / "ontology" / "o.ttl").write_text(ONTOLOGY)
    return Folders(tmp_path / "ontology", tmp_path / "shapes")


def test_text_names_level_rule_file_line_and_fix(folders: Folders, tmp_path: Path) -> None:
    lines = check(folders).written(ReportFormat.TEXT, root=tmp_path).splitlines()
    assert lines[0].startswith(
        "WARN  missing_label: ontology/o.ttl:5: <http://example.org/o#Park> has no label."
    )
    assert lines[-1] == "0 ERROR, 1 WARN, 2 INFO"


def test_sarif_has_rules_levels_and_places(folders: Folders, tmp_path: Path) -> None:
    run = json.loads(check(folders).written(ReportFormat.SARIF, root=tmp_path))["runs"][0]
    result = run["results"][0]
    assert result["ruleId"] == run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "missing_label"
    assert result["level"] == "warning"
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "ontology/o.ttl"}, "region": {"startLine": 5}}


def test_an_ill_formed_shape_does_not_hide_one_that_cannot_be_run(folders: Folders) -> None:
    (folders.shapes / "s.ttl").write_text(
        "@prefix sh: <http://www.w3.org/ns/shacl#> .\n@prefix s: <http://example.org/s#> .\n"
        's:A a sh:NodeShape ; sh:targetClass s:T ; sh:property [ sh:path s:p ; sh:minCount "one" ] .\n'
        's:B a sh:NodeShape ; sh:targetClass s:T ; sh:sparql [ sh:select "SELEC $this" ] .\n'
        's:C a sh:NodeShape ; sh:targetClass s:T ; sh:sparql [ sh:select "SELECT $this {" ] .\n'
    )
    found = [(one.rule.name, one.line) for one in check(folders).findings if one.level is Level.ERROR]
    assert sorted(found) == [("shape_ill_formed", 3), ("unusable", 4), ("unusable", 5)]


def test_an_unsupported_feature_is_an_error_that_blocks_no_edit(folders: Folders) -> None:
    shapes = (
        "@prefix sh: <http://www.w3.org/ns/shacl#> .\n<http://example.org/s> a sh:NodeShape ;\n"
        '  sh:target [ a sh:SPARQLTarget ; sh:select "SELECT ?this {}" ] ; sh:nodeKind sh:IRI .'
    )
    (folders.shapes / "s.ttl").write_text(shapes)
    report = check(folders)
    assert [one.rule.name for one in report.findings if one.level is Level.ERROR] == ["shape_unsupported"]
    assert report.fails(Level.ERROR)
    assert not report.blocks
    (folders.shapes / "s.ttl").write_text(shapes.replace("sh:nodeKind sh:IRI", 'sh:nodeKind "iri"'))
    assert check(folders).blocks


def test_markdown_is_a_table(folders: Folders, tmp_path: Path) -> None:
    text = check(folders).written(ReportFormat.MARKDOWN, root=tmp_path)
    assert "| WARN | `missing_label` | ontology/o.ttl:5 |" in text


def test_json_has_the_profiles_too(folders: Folders) -> None:
    found = json.loads(check(folders).written(ReportFormat.JSON))
    assert found["warnings"] == 1
    assert found["profiles"]["dl"]["holds"] is True


@pytest.mark.parametrize(
    ("rule", "name", "content", "line"),
    [
        ("unusable", "ontology/o.ttl", ONTOLOGY + ":Broken a \n", 8),
        (
            "unusable",
            "shapes/s.ttl",
            "@prefix sh: <http://www.w3.org/ns/shacl#> .\n<http://x/s> a sh:NodeShape\n;;.,",
            3,
        ),
        (
            "shape_ill_formed",
            "shapes/s.ttl",
            "@prefix sh: <http://www.w3.org/ns/shacl#> .\n\n<http://x/s> a sh:PropertyShape ;\n"
            "  sh:targetClass <http://example.org/o#Park> ; sh:path 'no path' .",
            3,
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_a_finding(
    folders: Folders, tmp_path: Path, rule: str, name: str, content: str, line: int
) -> None:
    (tmp_path / name).write_text(content)
    report = check(folders)
    worst = report.findings[0]
    assert (worst.rule.name, worst.file, worst.line) == (rule, tmp_path / name, line)
    assert report.fails(Level.ERROR)


def test_an_edit_is_checked_without_touching_the_file(folders: Folders, tmp_path: Path) -> None:
    edited = Folders(folders.ontology, folders.shapes, {"o.ttl": b"nonsense"})
    assert check(edited).fails(Level.ERROR)
    assert not check(folders).fails(Level.ERROR)


def test_the_command_ends_with_a_code_for_ci(folders: Folders, tmp_path: Path) -> None:
    def run(*flags: str) -> subprocess.CompletedProcess[str]:
        return urbankg("check", *flags, "--ontology", str(folders.ontology), "--shapes", str(folders.shapes))

    assert run().returncode == 0
    strict = run("--fail-on", "warn", "--format", "sarif", "--output", str(tmp_path / "report.sarif"))
    assert strict.returncode == 1, strict.stderr
    assert json.loads((tmp_path / "report.sarif").read_text())["version"] == "2.1.0"


def test_all_unusable_files_and_missing_imports_are_named_beside_all_other_findings(folders: Folders) -> None:
    owl = "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
    (folders.ontology / "a.ttl").write_text("nonsense")
    imports = "<http://example.org/p> a owl:Ontology ; owl:imports <http://x.org/1> , <http://x.org/2> ."
    (folders.ontology / "p.ttl").write_text(owl + imports)
    (folders.ontology / "z.ttl").write_text(owl + "<http://example.org/z> a owl:Ontology ;;")
    sh = "@prefix sh: <http://www.w3.org/ns/shacl#> .\n"
    (folders.shapes / "a.ttl").write_text("nonsense")
    (folders.shapes / "b.ttl").write_text(sh + '<http://x.org/s> sh:targetNode 1 ; sh:minLength "one" .')
    (folders.shapes / "c.ttl").write_text(sh + "<http://x.org/t> a sh:NodeShape ; sh:nodeKind")
    report = check(folders)
    unusable = [one for one in report.findings if one.rule.name == "unusable"]
    assert [one.file.name for one in unusable if one.file] == [
        "a.ttl",
        "p.ttl",
        "p.ttl",
        "z.ttl",
        "a.ttl",
        "c.ttl",
    ]
    assert [
        iri for iri in ("http://x.org/1", "http://x.org/2") if any(iri in one.message for one in unusable)
    ] == [
        "http://x.org/1",
        "http://x.org/2",
    ]
    assert {"missing_label", "shape_ill_formed"} <= {one.rule.name for one in report.findings}
    assert report.blocks


def test_a_start_names_all_missing_imports_at_once(folders: Folders) -> None:
    imports = "owl:imports <http://x.org/1> , <http://x.org/2> ."
    text = ONTOLOGY + f"<http://example.org/o> {imports}"
    (folders.ontology / "o.ttl").write_text(text)
    with pytest.raises(OntologyError) as raised:
        Schema.load(folders.ontology)
    assert all(f"<http://x.org/{number}>" in str(raised.value) for number in (1, 2))
