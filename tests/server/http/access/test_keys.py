"""API keys: made once, kept hashed, checked in constant time, revoked and expired at once."""

import sqlite3
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from server.cli.app import command_line
from server.errors import KeyNameTaken, KeyUnknown, StateUnreadable
from server.http.access.keys import FILE, KEY_PATTERN, KeyStore, Scope, has_keys


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(tmp_path: Path, clock: Clock):
    store = KeyStore(tmp_path, clock=clock)
    yield store
    store.close()


def test_a_token_proves_its_key_and_nothing_else_does(keys: KeyStore):
    key, token = keys.create("loader", [Scope.WRITE])
    found = keys.authenticate(token)
    assert found is not None
    assert (found.identifier, found.name, found.scopes) == (key.identifier, "loader", {Scope.WRITE})
    changed = token[:-1] + ("A" if token[-1] != "A" else "B")
    for wrong in (changed, token[:-1], token + "A", "", "ukg_", "Bearer", token.upper(), "\0", "é" * 60):
        assert keys.authenticate(wrong) is None


def test_the_database_holds_no_secret(keys: KeyStore, tmp_path: Path):
    _, token = keys.create("loader", [Scope.WRITE])
    secret = KEY_PATTERN.fullmatch(token)[2].encode()
    for file in tmp_path.iterdir():
        assert secret not in file.read_bytes()
        assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file


def test_tokens_are_long_and_never_alike(keys: KeyStore):
    tokens = {keys.create(f"k{n}", [Scope.READ])[1] for n in range(50)}
    assert len(tokens) == 50
    assert all(KEY_PATTERN.fullmatch(token) for token in tokens)


def test_admin_includes_every_scope_and_others_only_themselves(keys: KeyStore):
    admin, _ = keys.create("a", [Scope.ADMIN])
    reviewer, _ = keys.create("r", [Scope.REVIEW, Scope.READ])
    assert all(admin.allows(scope) for scope in Scope)
    assert [scope for scope in Scope if reviewer.allows(scope)] == [Scope.READ, Scope.REVIEW]


def test_a_key_ends_when_it_expires(keys: KeyStore, clock: Clock):
    _, token = keys.create("short", [Scope.WRITE], lifetime_s=10)
    clock.now += 9
    assert keys.authenticate(token) is not None
    clock.now += 1
    assert keys.authenticate(token) is None


def test_revoking_ends_a_key_and_does_not_open_writes_again(keys: KeyStore):
    assert not keys.any_key()
    key, token = keys.create("gone", [Scope.WRITE])
    keys.revoke(key.identifier)
    assert keys.authenticate(token) is None
    assert keys.any_key()
    with pytest.raises(KeyUnknown):
        keys.revoke("gone")
    keys.create("gone", [Scope.WRITE])


def test_two_valid_keys_cannot_have_one_name(keys: KeyStore):
    keys.create("one", [Scope.READ])
    with pytest.raises(KeyNameTaken):
        keys.create("one", [Scope.WRITE])


def test_another_process_s_change_is_seen_at_once(keys: KeyStore, tmp_path: Path):
    assert not keys.any_key()
    other = KeyStore(tmp_path)
    _, token = other.create("made elsewhere", [Scope.WRITE])
    assert keys.any_key()
    assert keys.authenticate(token) is not None
    other.revoke("made elsewhere")
    assert keys.authenticate(token) is None
    other.close()


def test_the_last_use_is_noted_once_a_minute(keys: KeyStore, clock: Clock):
    _, token = keys.create("used", [Scope.WRITE])
    assert keys.all()[0].last_used is None
    keys.authenticate(token)
    first = clock.now
    clock.now += 59
    keys.authenticate(token)
    assert keys.all()[0].last_used == first
    clock.now += 1
    keys.authenticate(token)
    assert keys.all()[0].last_used == clock.now


def test_a_folder_is_asked_for_keys_without_being_made(tmp_path: Path):
    assert not has_keys(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_file_that_is_no_database_is_reported(tmp_path: Path):
    (tmp_path / FILE).write_text("this is no database, however long it may be" * 10)
    with pytest.raises(StateUnreadable, match=FILE):
        KeyStore(tmp_path)


def test_the_table_can_stand_beside_others(keys: KeyStore, tmp_path: Path):
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("CREATE TABLE job (id TEXT)")
    connection.close()
    keys.create("k", [Scope.READ])


def test_the_commands_make_list_and_revoke(tmp_path: Path):
    run = CliRunner().invoke
    data = ["--data", str(tmp_path)]
    made = run(
        command_line(), ["key", "create", "ci", "--scope", "write", "--scope", "read", "--days", "7", *data]
    )
    assert made.exit_code == 0, made.output
    token = made.stdout.strip()
    assert KEY_PATTERN.fullmatch(token)
    listed = run(command_line(), ["key", "list", *data], env={"COLUMNS": "200"}).stdout
    assert "ci" in listed
    assert "valid" in listed
    assert token not in listed
    assert run(command_line(), ["key", "revoke", "ci", *data]).exit_code == 0
    assert "revoked" in run(command_line(), ["key", "list", *data], env={"COLUMNS": "200"}).stdout
    assert run(command_line(), ["key", "create", "no scope", *data]).exit_code == 2
