"""`urbankg ontology`: files added to the folder of the settings, with what they import."""

from pathlib import Path

from tests.support.prepared_processes import urbankg


def test_an_added_ontology_passes_the_check_and_a_missing_import_adds_nothing(tmp_path: Path) -> None:
    source = tmp_path / "city.ttl"
    source.write_text(
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "<http://example.org/city> a owl:Ontology ; owl:imports <http://example.org/roads> .\n"
    )
    folder = tmp_path / "ontology"
    refused = urbankg("ontology", "add", str(source), "--ontology", str(folder))
    assert refused.returncode != 0
    assert "<http://example.org/roads>" in refused.stderr
    assert "--empty-imports" in refused.stderr
    assert not folder.exists()
    added = urbankg("ontology", "add", str(source), "--ontology", str(folder), "--empty-imports")
    assert added.returncode == 0
    assert added.stdout.split() == [str(folder / "city.ttl")]
    assert "<http://example.org/roads> was found nowhere" in added.stderr
    assert urbankg("check", "--ontology", str(folder), "--shapes", str(tmp_path)).returncode == 0


def test_the_documentation_of_a_folder_is_a_page_for_each_ontology_and_one_that_links_them(
    tmp_path: Path,
) -> None:
    ontology, shapes, output = (tmp_path / name for name in ("ontology", "shapes", "pages"))
    ontology.mkdir()
    shapes.mkdir()
    (ontology / "city.ttl").write_text(
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "<http://example.org/city> a owl:Ontology . <http://example.org/city#Park> a owl:Class .\n"
    )
    done = urbankg(
        "ontology", "document", "--ontology", str(ontology), "--shapes", str(shapes), "--output", str(output)
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(output / "city.html"), str(output / "index.html")]
    assert 'id="Park"' in (output / "city.html").read_text()
    assert 'href="city.html"' in (output / "index.html").read_text()
