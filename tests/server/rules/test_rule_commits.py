"""An edit of ontology or shapes is in force with its file, or neither is: also when the store fails."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from pyoxigraph import NamedNode

from server.rules.edits import Kind
from server.runtime.wiring import build
from server.services import Services
from sparql.model.errors import StoreUnwritable
from sparql.storage.embedded_store import EmbeddedStore
from tests.server.conftest import RecordedModel
from tests.support.prepared_processes import urbankg
from tests.support.running_server import RunningServer
from tests.support.waiting import wait_until
from tests.support.workshop import CITY, RULES, SHORT, folders, settings_in, update

TURTLE = {"content-type": "text/turtle"}
MORE = CITY + ':Square a owl:Class ; rdfs:label "square"@en ; skos:definition "Open." .\n'
SQUARE = NamedNode("http://example.org/city#Square")
KILLED = """
import os, signal, sys
from pathlib import Path
from server.runtime.wiring import build
from server.rules.edits import Edit, Kind
from tests.support.workshop import settings_in

services = build(settings_in(Path(sys.argv[1])))
services.startup.start()
services.startup.started.result()
services.rule_registry.effects = None
services.rule_registry.put_in_force = lambda rules, swap: os.kill(os.getpid(), signal.SIGKILL)
kind, name, content = Kind(sys.argv[2]), sys.argv[3], Path(sys.argv[4]).read_bytes()
services.rule_registry.apply(Edit.of(kind, name, content))
"""


class Failing:
    """A store whose next commits fail, as on a disk that takes nothing."""

    def __init__(self, store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        self._store = store
        self._commit = store.commit
        monkeypatch.setattr(store, "commit", self)

    def __call__(self, *arguments: Any, **options: Any) -> int:
        if self.times > 0:
            self.times -= 1
            raise StoreUnwritable(Path("graph"), "no space left on device")
        return self._commit(*arguments, **options)


@pytest.fixture
def failing(shop: Services, monkeypatch: pytest.MonkeyPatch) -> Failing:
    assert isinstance(shop.store, EmbeddedStore)
    return Failing(shop.store, monkeypatch)


@pytest.mark.parametrize(
    ("path", "file", "content"),
    [
        ("/ontologies/city.ttl", "ontology/city.ttl", MORE),
        ("/shapes/rules.ttl", "shapes/rules.ttl", RULES + SHORT),
        ("/shapes/more.ttl", "shapes/more.ttl", RULES.partition("s:Named")[0] + SHORT),
        ("/shapes/rules.ttl", "shapes/rules.ttl", None),
    ],
)
async def test_an_edit_that_the_store_does_not_take_leaves_file_and_rules_as_they_were(
    shop: Services,
    shop_client: httpx.AsyncClient,
    failing: Failing,
    tmp_path: Path,
    path: str,
    file: str,
    content: str | None,
) -> None:
    before = (await shop_client.get("/rules")).json()
    former = (tmp_path / file).read_bytes() if (tmp_path / file).exists() else None
    failing.times = 1
    request = {"content": content, "headers": TURTLE} if content is not None else {}
    method = "PUT" if content is not None else "DELETE"
    answer = await shop_client.request(method, path, **request)  # type: ignore[arg-type]
    assert answer.status_code >= 500
    assert "no space left" in answer.json()["detail"]
    assert ((tmp_path / file).read_bytes() if (tmp_path / file).exists() else None) == former
    assert (await shop_client.get("/rules")).json() == before
    assert [shop.rule_registry.reload_if_changed(), shop.rule_registry.reload_if_changed()] == [None, None], (
        "nothing is left to be done"
    )
    assert (await shop_client.request(method, path, **request)).is_success  # type: ignore[arg-type]


async def test_an_edit_on_the_disk_that_the_store_does_not_take_is_reported_and_tried_until_it_does(
    shop: Services, shop_client: httpx.AsyncClient, failing: Failing, tmp_path: Path
) -> None:
    look = shop.rule_registry.reload_if_changed
    (tmp_path / "shapes" / "rules.ttl").write_text(RULES + SHORT)
    assert look() is None
    failing.times = 2
    assert [look(), look()] == [None, None]
    reported = (await shop_client.get("/rules")).json()["problem"]
    assert "no space left" in reported
    ready = await shop_client.get("/readyz")
    assert (ready.status_code, ready.json()["checks"]["rules"]) == (200, reported)
    assert (await update(shop_client, "INSERT DATA { :a a :Park ; :name 'Riverside' }")).is_success
    switched = look()
    assert switched is not None
    assert switched.changed
    assert (await shop_client.get("/rules")).json()["problem"] is None
    assert (await shop_client.get("/readyz")).json()["checks"]["rules"] == "ok"
    assert (await update(shop_client, "INSERT DATA { :b a :Park ; :name 'Morningside' }")).status_code == 422


async def test_what_follows_from_new_rules_is_tried_again_when_the_store_fails_after_they_are_in_force(
    shop: Services, shop_client: httpx.AsyncClient, failing: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await update(shop_client, "INSERT DATA { :a a :Park ; :name 'Riverside' }")).is_success
    put_in_force = shop.rule_registry.put_in_force

    def then_fail(rules: Any, substitute: Any) -> None:
        put_in_force(rules, substitute)
        failing.times = 1

    monkeypatch.setattr(shop.rule_registry, "put_in_force", then_fail)
    answer = await shop_client.put("/shapes/rules.ttl", content=RULES + SHORT, headers=TURTLE)
    assert answer.status_code == 200, "the rules are in force, and the file is the new one"
    assert "no space left" in (await shop_client.get("/rules")).json()["problem"]
    assert (await shop_client.get("/review")).json()["items"] == []
    assert shop.rule_registry.reload_if_changed() is None
    assert (await shop_client.get("/rules")).json()["problem"] is None
    assert len((await shop_client.get("/review")).json()["items"]) == 1


def test_the_check_on_the_command_line_says_what_keeps_a_server_from_using_the_files(tmp_path: Path) -> None:
    ontology, shapes = folders(tmp_path)
    flags = ("--ontology", str(ontology), "--shapes", str(shapes))
    with RunningServer(tmp_path / "data", *flags) as server:
        (shapes / "rules.ttl").write_text(RULES + "s:Broken sh:minCount 1 ;")
        wait_until(lambda: httpx.get(server.url + "/rules").json()["problem"] is not None, seconds=60)
        reported = urbankg("check", "--data", str(tmp_path / "data"), *flags)
    assert reported.returncode == 1
    assert f"The server at {server.url} does not use the files as they are" in " ".join(
        reported.stdout.split()
    )


@pytest.mark.parametrize(
    ("kind", "name", "text"), [("ontology", "city.ttl", MORE), ("shapes", "rules.ttl", RULES + SHORT)]
)
async def test_after_a_kill_between_file_and_commit_the_next_start_has_file_and_rules_agree(
    tmp_path: Path, kind: str, name: str, text: str
) -> None:
    folders(tmp_path)
    (tmp_path / "edited").write_text(text)
    command = [sys.executable, "-c", KILLED, str(tmp_path), kind, name, str(tmp_path / "edited")]
    assert subprocess.run(command, check=False, timeout=120).returncode == -signal.SIGKILL
    assert (tmp_path / kind / name).read_text() == text
    async with build(settings_in(tmp_path), model=RecordedModel()) as services:
        rule_registry = services.rule_registry
        assert rule_registry.problem is None
        assert rule_registry.content(Kind(kind), name) == text.encode()
        assert any(services.store.match(SQUARE, None, None)) is (text == MORE)
        assert rule_registry.reload_if_changed() is None
        assert services.writer.gate is rule_registry.current.gate
