"""Rules with their examples, files that are added, compared and returned to, in a real browser."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Browser, FilePayload, expect

from tests.server.page.conftest import ROOT, URBAN, Watched, watch
from tests.support.running_server import RunningServer

pytestmark = pytest.mark.slow


def test_a_rule_shows_what_it_lets_pass_and_what_it_refuses(watched: Watched) -> None:
    page = watched.open(f"#/model?class={quote(URBAN + 'Museum', safe='')}")
    rule = page.locator("li", has_text="Every feature has a name").first
    rule.locator("summary").click()
    expect(rule.get_by_text("Is refused")).to_be_visible()
    expect(rule.locator("pre").last).to_contain_text("rdfs:label")


def test_a_kind_leads_to_its_section_in_the_documentation_of_its_ontology(watched: Watched) -> None:
    page = watched.open(f"#/model?class={quote(URBAN + 'Museum', safe='')}")
    link = page.get_by_role("link", name="Documentation", exact=True)
    place = link.get_attribute("href")
    assert place == "urbankg/urban#Museum"
    answer = httpx.get(f"{watched.site}/{place}", headers={"Accept": "text/html"})
    assert answer.headers["Content-Type"].startswith("text/html")
    assert 'id="Museum"' in answer.text


def test_on_a_phone_a_chosen_kind_takes_the_place_of_the_tree(watched: Watched) -> None:
    watched.page.set_viewport_size({"width": 390, "height": 844})
    page = watched.open(f"#/model?class={quote(URBAN + 'Museum', safe='')}")
    expect(page.locator("h1.upper")).to_be_in_viewport()
    expect(page.locator(".tree")).to_be_hidden()
    page.get_by_role("link", name="All kinds").click()
    expect(page.locator(".tree")).to_be_visible()


def test_a_change_of_the_ontology_is_tried_and_put_in_force(browser: Browser, tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("*.py", "__pycache__", "checks")
    shutil.copytree(ROOT / "ontology", tmp_path / "ontology", ignore=ignored)
    with RunningServer(tmp_path / "data", "--ontology", str(tmp_path / "ontology")) as server:
        context = browser.new_context()
        watched = watch(context, server.url)
        page = watched.open("#/model?file=ontologies/urban.ttl")
        expect(page.locator("#turtle")).to_have_value(re.compile("owl:Ontology"))
        gasworks = 'urban:Gasworks a owl:Class ; rdfs:label "gasworks"@en ; rdfs:subClassOf urban:Place .'
        page.locator("#turtle").press("Control+End")
        page.keyboard.insert_text(f"\n{gasworks}\n")
        page.get_by_role("button", name="Test", exact=True).click()
        expect(page.get_by_text("Dry run: nothing is changed.")).to_be_visible()
        page.get_by_role("button", name="Put in force").click()
        expect(page.get_by_text("In force now")).to_be_visible()
        page = watched.open("#/model")
        expect(page.locator(".tree")).to_contain_text("gasworks")
        context.close()
        assert watched.wrong == []


def test_the_files_are_checked_on_demand(watched: Watched) -> None:
    page = watched.open("#/model")
    page.get_by_role("button", name="Check now").click()
    expect(page.get_by_text("Not checked since the start.")).to_have_count(0)


def test_a_file_is_added_changed_compared_and_returned_to(browser: Browser, tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("*.py", "__pycache__", "examples")
    shutil.copytree(ROOT / "shapes", tmp_path / "shapes", ignore=ignored)
    first = (
        f"@prefix sh: <http://www.w3.org/ns/shacl#> .\n<{URBAN}Hill> a sh:NodeShape ;\n"
        f'    sh:targetClass <{URBAN}Park> ;\n    sh:message "<script>document.title=1</script>"@en .\n'
    )
    with RunningServer(tmp_path / "data", "--shapes", str(tmp_path / "shapes")) as server:
        context = browser.new_context()
        watched = watch(context, server.url)
        page = watched.open("#/model")
        file: FilePayload = {"name": "hill.ttl", "mimeType": "text/turtle", "buffer": first.encode()}
        page.locator("label", has_text="Add shapes").locator("input").set_input_files([file])
        expect(page.locator("#turtle")).to_have_value(first)
        expect(page.get_by_text("new, not in force")).to_be_visible()
        for content in (first, first + "# changed\n"):
            page.locator("#turtle").fill(content)
            page.get_by_role("button", name="Test", exact=True).click()
            expect(page.get_by_text("Dry run: nothing is changed.")).to_be_visible()
            page.get_by_role("button", name="Put in force").click()
            expect(page.get_by_text("In force now")).to_be_visible()
        assert httpx.get(server.url + "/shapes/hill.ttl").text.endswith("# changed\n")
        page.get_by_role("button", name="Compare").last.click()
        expect(page.locator(".diff .added")).to_have_text("+ # changed")
        page.get_by_role("button", name="Return to this version").click()
        expect(page.get_by_text("Dry run: nothing is changed.")).to_be_visible()
        page.get_by_role("button", name="Put in force").click()
        expect(page.get_by_text("In force now")).to_be_visible()
        assert httpx.get(server.url + "/shapes/hill.ttl").text == first
        context.close()
        assert watched.wrong == []
