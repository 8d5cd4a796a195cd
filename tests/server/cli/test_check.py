"""`urbankg check`: a report in four formats, exit codes for CI."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ontology.checks.findings import Level
from ontology.checks.reporting import ReportFormat
from server.rules.checking import Folders, check

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


def test_text_names_level_rule_file_line_and_mend(folders: Folders, tmp_path: Path) -> None:
    lines = check(folders).written(ReportFormat.TEXT, root=tmp_path).splitlines()
    assert lines[0].startswith(
        "WARN  missing_label: ontology/o.ttl:5: <http://example.org/o#Park> has no label."
    )
    assert lines[-1] == "0 ERROR, 1 WARN, 0 INFO"


def test_sarif_has_rules_levels_and_places(folders: Folders, tmp_path: Path) -> None:
    run = json.loads(check(folders).written(ReportFormat.SARIF, root=tmp_path))["runs"][0]
    result = run["results"][0]
    assert result["ruleId"] == run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "missing_label"
    assert result["level"] == "warning"
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "ontology/o.ttl"}, "region": {"startLine": 5}}


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
        command = [sys.executable, "-m", "server", "check", *flags]
        command += ["--ontology", str(folders.ontology), "--shapes", str(folders.shapes)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert run().returncode == 0
    strict = run("--fail-on", "warn", "--format", "sarif", "--output", str(tmp_path / "report.sarif"))
    assert strict.returncode == 1, strict.stderr
    assert json.loads((tmp_path / "report.sarif").read_text())["version"] == "2.1.0"
