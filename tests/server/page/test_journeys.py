"""What people do on the page, in a real browser against a real server with the embedded model."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from server.http.access.keys import KeyStore, Scope
from tests.server.page.conftest import (
    HOSTILE,
    ID,
    ROOT,
    URBAN,
    Watched,
    closed_before_it_opened,
    filled,
    watch,
)
from tests.support.running_server import RunningServer

pytestmark = pytest.mark.slow

CLOSED = f"SELECT ?year WHERE {{ <{ID}clock-museum> <{URBAN}closed> ?year }}"


def selected(site: str, query: str) -> list[str]:
    answer = httpx.post(
        site + "/sparql", data={"query": query}, headers={"Accept": "text/csv"}, timeout=60
    ).text
    return answer.split()[1:]


def test_a_question_is_answered_with_a_list_and_its_place_on_the_map(watched: Watched) -> None:
    page = watched.open()
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("Which museums are in Westside?")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("Westside")
    expect(page.locator("table.list")).to_contain_text("Clock Museum")
    expect(page.locator(".map")).to_be_visible()
    expect(page.locator(".map .m-ref").first).to_be_attached()
    expect(page.locator(".steps li").first).to_be_visible()
    assert page.title().startswith("Which museums are in Westside?")
    # The address holds the question: who opens it gets the same answer.
    again = watched.open(page.url.split("/", 3)[3])
    expect(again.locator("table.list")).to_contain_text("Clock Museum")


def test_the_query_of_an_answer_can_be_changed_and_run_again(watched: Watched) -> None:
    page = watched.open(f"#/ask?q={quote('Which museums are in Westside?')}")
    page.locator("summary", has_text="Query").click()
    page.locator("#sparql").fill("SELECT ?x WHERE { VALUES ?x { 1 2 3 } }")
    page.get_by_role("button", name="Run again").click()
    expect(page.locator("tbody tr")).to_have_count(3)


def test_a_miss_says_what_is_missing(watched: Watched) -> None:
    page = watched.open(f"#/ask?q={quote('Who is the mayor of Atlantis?')}")
    expect(page.locator("h1")).to_have_text("I cannot answer this from the graph.")
    expect(page.locator(".note.warn")).to_contain_text("Atlantis")


def test_a_refusal_is_read_corrected_undone_and_rejected_by_keyboard_alone(
    watched: Watched, site: str
) -> None:
    page = watched.open("#/review")
    expect(page.locator("article h1")).to_have_text("It cannot have closed before it opened.")
    expect(page.locator("article .quote")).to_contain_text("It closed in 1925 for want of visitors.")
    expect(page.get_by_role("button", name="Accept")).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("c")
    expect(page.locator("#property")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("1995")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Corrected and accepted.")).to_be_visible()
    assert selected(site, CLOSED) == ["1995"]
    page.keyboard.press("u")
    expect(page.locator("article h1")).to_have_text("It cannot have closed before it opened.")
    assert selected(site, CLOSED) == []
    page.keyboard.press("r")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.type("a misprint")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Rejected.")).to_be_visible()
    page = watched.open("#/review?status=rejected")
    expect(page.locator("article")).to_contain_text("Rejected")
    expect(page.get_by_text("a misprint")).to_be_visible()


def test_what_a_shape_refuses_of_a_correction_is_said(watched: Watched, site: str) -> None:
    text = "The Clock Museum closed in 1926."
    httpx.post(
        site + "/candidates", json=closed_before_it_opened(text, "1926"), timeout=60
    ).raise_for_status()
    page = watched.open("#/review")
    page.keyboard.press("c")
    page.locator("#object").fill("1927")
    page.keyboard.press("Enter")
    expect(page.locator(".state")).to_contain_text("It cannot have closed before it opened.")


def test_a_text_is_read_first_and_committed_then(watched: Watched, site: str) -> None:
    page = watched.open("#/text")
    page.locator("#text").fill("The Lantern Museum is a museum in Westside. It opened on May 14, 1931.")
    page.locator("#source").fill("a brochure")
    page.get_by_role("button", name="Read it").click()
    expect(page.locator("h1")).to_contain_text("accepted")
    expect(page.get_by_text("Dry run: nothing is in the graph yet.")).to_be_visible()
    expect(page.locator(".quote mark").first).to_be_visible()
    count = "SELECT ?d WHERE { ?d <http://purl.org/dc/terms/source> 'a brochure' }"
    count = count.replace("WHERE", "FROM <https://w3id.org/urbankg/graph/provenance> WHERE")
    assert selected(site, count) == []
    page.locator(".items button").first.focus()
    expect(page.locator(".quote .link")).to_be_visible()
    page.get_by_role("button", name="Commit").click()
    expect(page.get_by_text("Committed:")).to_be_visible()
    assert len(selected(site, count)) >= 1


def test_an_entity_is_found_by_name_and_shows_its_facts(watched: Watched) -> None:
    page = watched.open()
    page.keyboard.press("Tab")
    page.locator("h1").click()
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("clock mus")
    page.get_by_role("link", name="Clock Museum").click()
    expect(page.locator("h1")).to_have_text("Clock Museum")
    expect(page.locator(".facts").first).to_contain_text("May 14, 1931")
    expect(page.get_by_text("On the ground")).to_be_visible()
    expect(page.locator(".map .m-pin")).to_have_count(1)


def test_a_query_runs_and_its_rows_are_on_the_map(watched: Watched) -> None:
    page = watched.open("#/query")
    page.locator("#example").select_option(label="Places with their geometry")
    expect(page.locator("table.list")).to_contain_text("Mill Park")
    page.get_by_role("button", name="Map", exact=True).click()
    expect(page.locator(".map .m-pin").first).to_be_visible()
    write(page, "SELECT * WHERE { ?s ?p }")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".state")).to_contain_text("line")


def test_a_query_is_written_with_completions_and_kept(watched: Watched) -> None:
    page = watched.open("#/query")
    shipped = page.locator("#example option", has_text="How many things are there of each class?")
    expect(shipped).to_have_count(1)
    write(page, f"PREFIX urban: <{URBAN}> SELECT ?x WHERE {{ ?x a Museum")
    page.keyboard.press("Control+Space")
    expect(page.locator(".CodeMirror-hint").first).to_contain_text("museum · class")
    page.keyboard.press("Enter")
    page.keyboard.type(" }")
    page.keyboard.press("Control+Enter")
    expect(page.locator("table.list")).to_contain_text("Clock Museum")
    assert "urban%3AMuseum" in page.url
    page.get_by_role("button", name="Keep", exact=True).click()
    page.locator("#naming").fill("<b>all</b> museums")
    page.locator("#naming").press("Enter")
    expect(page.locator("#example optgroup option")).to_have_text("<b>all</b> museums")
    # The keyboard gets out of the editor.
    page.locator(".CodeMirror").click()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Run", exact=False).first).to_be_focused()


def test_explain_says_in_words_what_is_done_to_a_query(watched: Watched) -> None:
    page = watched.open("#/query")
    write(
        page,
        f"""PREFIX geo: <http://www.opengis.net/ont/geosparql#>
        PREFIX geof: <http://www.opengis.net/def/function/geosparql/>
        SELECT ?x {{ ?x a <{URBAN}Museum> ; geo:hasDefaultGeometry/geo:asWKT ?w .
          <{ID}mill-park> geo:hasDefaultGeometry/geo:asWKT ?v FILTER(geof:sfIntersects(?w, ?v)) }}""",
    )
    page.get_by_role("button", name="Explain").click()
    plan = page.locator(".explained")
    expect(plan).to_contain_text("rewritten first")
    expect(plan.locator("li").first).to_contain_text("spatial filter")
    expect(plan.locator("pre")).to_contain_text("VALUES")


def test_a_count_shows_its_place_on_the_map(watched: Watched) -> None:
    page = watched.open(f"#/ask?q={quote('How many museums are in Westside?')}")
    expect(page.locator("h1")).to_contain_text("Westside")
    expect(page.locator(".map .m-ref").first).to_be_attached()


def write(page: Page, query: str) -> None:
    """Replace the text of the query editor."""
    page.locator(".CodeMirror").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(query)


def test_the_status_counts_the_graph(watched: Watched) -> None:
    page = watched.open("#/status")
    expect(page.locator("h1")).to_contain_text("triples")
    rules = page.get_by_role("region", name="Rules and what became")
    expect(rules).to_contain_text("opened before closed")
    expect(page.get_by_text("urban.ttl").first).to_be_visible()


def test_script_in_names_stays_text_on_every_screen(watched: Watched) -> None:
    folly = quote(ID + "folly", safe="")
    query = f"""PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
        PREFIX geo: <http://www.opengis.net/ont/geosparql#>
        SELECT ?x ?label ?wkt {{ ?x a <{URBAN}Museum> ; rdfs:label ?label ;
            geo:hasDefaultGeometry/geo:asWKT ?wkt }}"""
    places = (
        f"#/explore?iri={folly}",
        "#/explore?q=folly",
        f"#/query?query={quote(query)}",
        f"#/ask?q={quote('Which museums are in Eastside?')}",
        f"#/ask?q={quote(HOSTILE)}",
    )
    for place in places:
        page = watched.open(place)
        page.wait_for_timeout(300)
        assert page.title() != "taken", place
        assert page.locator("main img, main script").count() == 0, place
    page = watched.open(places[2])
    page.get_by_role("button", name="Map", exact=True).click()
    page.locator(".map .m-pin").nth(1).click()
    expect(page.locator(".leaflet-popup-content b")).to_be_visible()
    page = watched.open(places[0])
    expect(page.locator("h1")).to_have_text(HOSTILE)
    assert page.locator("a[href^='javascript:']").count() == 0


def test_script_in_quotes_values_and_names_of_files_stays_text(watched: Watched, site: str) -> None:
    text = f"The Clock Museum closed in {HOSTILE} for good."
    posted = httpx.post(site + "/candidates", json=closed_before_it_opened(text, HOSTILE), timeout=60)
    assert len(posted.json()["rejected"]) == 1
    page = watched.open(f"#/review?text={quote('<script>')}")
    expect(page.locator("article .quote")).to_contain_text(HOSTILE)
    page.get_by_role("link", name="whole text").click()
    expect(page.locator(".quote.whole")).to_contain_text(HOSTILE)
    assert page.locator("main img, main script").count() == 0
    file: FilePayload = {
        "name": HOSTILE,
        "mimeType": "text/plain",
        "buffer": b"The Clock Museum opened in 1931.",
    }
    page = watched.open("#/text")
    page.locator("input[type=file]").set_input_files([file])
    expect(page.locator("#source")).to_have_value(HOSTILE)
    page.wait_for_timeout(300)
    assert page.locator("main img, main script").count() == 0
    assert page.title() != "taken"


def test_the_iri_of_an_entity_leads_to_its_page(watched: Watched) -> None:
    page = watched.open("urbankg/id/clock-museum")
    expect(page.locator("h1")).to_have_text("Clock Museum")


def test_a_reader_sees_no_buttons_that_write_and_a_key_brings_them(browser: Browser, tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data") as server:
        site = filled(server)
        reader, editor = (
            create_key(server, name, scope) for name, scope in (("reader", "read"), ("editor", "review"))
        )
        context = browser.new_context()
        watched = watch(context, site)
        page = watched.open("#/review")
        expect(page.locator("article h1")).to_be_visible()
        expect(page.locator(".bar")).to_have_count(0)
        expect(page.get_by_text("sign in with a key of the scope “review”")).to_be_visible()
        for token, bars in (("ukg_0_wrong", 0), (reader, 0), (editor, 1)):
            page.locator(".tools button", has_text="Sign").last.click()
            if not page.locator("dialog[open]").is_visible():
                page.locator(".tools button", has_text="Sign in").click()
            page.locator("#key").fill(token)
            page.locator("#key").press("Enter")
            if token == "ukg_0_wrong":
                expect(page.locator("dialog [role=alert]")).to_contain_text("not known")
                page.get_by_role("button", name="Cancel").click()
                continue
            expect(page.get_by_role("button", name="Sign out")).to_be_visible()
            expect(page.locator("article h1")).to_be_visible()
            expect(page.locator(".bar")).to_have_count(bars)
        page.goto(site + "/#/text")
        expect(page.get_by_text("sign in with a key of the scope “extract”")).to_be_visible()
        # Another tab knows nothing of the key.
        other = watch(context, site).open("#/review")
        expect(other.get_by_role("button", name="Sign in").first).to_be_visible()
        context.close()
        assert watched.wrong == []


def test_a_rule_is_tested_on_the_graph_and_put_in_force(browser: Browser, tmp_path: Path) -> None:
    shutil.copytree(
        ROOT / "shapes", tmp_path / "shapes", ignore=shutil.ignore_patterns("*.py", "__pycache__")
    )
    with RunningServer(tmp_path / "data", "--shapes", str(tmp_path / "shapes")) as server:
        context = browser.new_context()
        watched = watch(context, filled(server))
        page = watched.open("#/model?file=shapes/urban.ttl")
        expect(page.get_by_role("button", name="Put in force")).to_be_disabled()
        page.locator("#turtle").press("Control+End")
        page.keyboard.type("\nshape:Oops a sh:NodeShape ; sh:maxcount 1 .")
        page.get_by_role("button", name="Test", exact=True).click()
        expect(page.locator("h1").last).to_contain_text("error")
        expect(page.get_by_text("which SHACL does not define")).to_be_visible()
        page.keyboard.press("Control+z")
        page.locator("#turtle").fill(
            (tmp_path / "shapes/urban.ttl").read_text(encoding="utf-8")
            + "\nshape:MuseumOpened a sh:NodeShape ; sh:targetClass urban:Museum ; sh:property [ "
            'sh:path urban:opened ; sh:minCount 1 ; sh:message "A museum needs the day it opened."@en ] .\n'
        )
        page.get_by_role("button", name="Test", exact=True).click()
        expect(page.locator("h1").last).to_contain_text("would fail")
        expect(page.get_by_text("A museum needs the day it opened.").first).to_be_visible()
        page.get_by_role("button", name="Put in force").click()
        expect(page.get_by_text("In force now")).to_be_visible()
        assert "MuseumOpened" in httpx.get(server.url + "/shapes/urban.ttl").text
        context.close()
        assert watched.wrong == []


def create_key(server: RunningServer, name: str, scope: str) -> str:
    keys = KeyStore(server.data)
    scopes = {Scope.READ, Scope(scope)}
    _, token = keys.create(name, scopes)
    keys.close()
    return token
