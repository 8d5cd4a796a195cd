"""Settings: TOML < environment < flags, shown with their origin, secrets hidden, documented."""

from pathlib import Path

import pytest
from pyoxigraph import NamedNode

from server.errors import OpenWritesRefused, SettingsError
from server.http.access.guard import refuse_open_writes
from server.settings import CONSTANTS, Settings
from server.settings_loading import load_settings
from sparql.model.geometry import Tolerances


def test_flags_win_over_the_environment_and_the_environment_over_the_file(tmp_path: Path):
    file = tmp_path / "u.toml"
    file.write_text("port = 1\nreaders = 3\nlanguage = 'de'\n")
    loaded = load_settings(
        {"port": 3, "host": None}, file=file, environment={"URBANKG_PORT": "2", "URBANKG_READERS": "5"}
    )
    assert (loaded.settings.port, loaded.settings.readers, loaded.settings.language) == (3, 5, "de")
    origins = {name: origin for name, _, origin in loaded.shown()}
    assert origins["port"] == "flag --port"
    assert origins["readers"] == "environment URBANKG_READERS"
    assert origins["language"] == str(file)
    assert origins["host"] == "default"


def test_tolerances_of_layers_come_as_a_table_or_as_json(tmp_path: Path):
    file = tmp_path / "u.toml"
    file.write_text('tolerance_m = 0.5\n[layer_tolerance_m]\n"http://example.org/District" = 2\n')
    by_file = load_settings({}, file=file, environment={}).settings
    by_environment = load_settings(
        {"tolerance_m": 0.5}, environment={"URBANKG_LAYER_TOLERANCE_M": '{"http://example.org/District": 2}'}
    ).settings
    expected = Tolerances(0.5, {NamedNode("http://example.org/District"): 2.0})
    assert by_file.tolerances == by_environment.tolerances == expected


def test_secrets_are_hidden():
    loaded = load_settings({}, environment={"URBANKG_MODEL_API_KEY": "s3cret"})
    assert "s3cret" not in str(list(loaded.shown()))


@pytest.mark.parametrize(
    ("file", "environment", "word"),
    [
        ("prot = 8000", {}, "did you mean 'port'"),
        ("xyzzy = 1", {}, "'xyzzy' .* There is no such setting"),
        ("slow_query_s = 2", {}, "'slow_query_s' .* no setting any more; its value is 1 s"),
        ("", {"URBANKG_GEOCODE": "false"}, "environment URBANKG_GEOCODE.*its value is on"),
        ("", {"URBANKG_PROT": "8000"}, "did you mean 'port'"),
        ("port = [", {}, "TOML"),
        ("", {"URBANKG_PORT": "ninety"}, "URBANKG_PORT"),
        ("base_iri = 'no iri'", {}, "base_iri"),
        ("[layer_tolerance_m]\n'no iri' = 1", {}, "no iri"),
        ("", {"URBANKG_LAYER_TOLERANCE_M": '{"http://example.org/A": -1}'}, "URBANKG_LAYER_TOLERANCE_M"),
        ("", {"URBANKG_LAYER_TOLERANCE_M": "http://example.org/A=1"}, "not JSON"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(
    tmp_path: Path, file: str, environment: dict[str, str], word: str
):
    path = tmp_path / "u.toml"
    path.write_text(file)
    with pytest.raises(SettingsError, match=word):
        load_settings({}, file=path, environment=environment)


def test_the_server_refuses_to_listen_elsewhere_with_open_writes():
    refuse_open_writes(Settings(host="127.0.0.1"))
    refuse_open_writes(Settings(host="::1"))
    with pytest.raises(OpenWritesRefused):
        refuse_open_writes(Settings(host="0.0.0.0"))


def test_every_setting_says_what_it_does():
    assert all(field.description for field in Settings.model_fields.values())


def test_what_became_a_constant_is_no_setting():
    assert not CONSTANTS.keys() & Settings.model_fields.keys()
