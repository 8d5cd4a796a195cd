"""Which model is opened by the settings, and which prompts it gets by what its adapter was trained on."""

from __future__ import annotations

from pathlib import Path

import pytest

from extractors.errors import ModelUnavailable
from extractors.models.http.http_model import HttpModel
from extractors.models.local.embedded import EmbeddedModel
from extractors.models.local.weights import ADAPTER_PATH, AdapterCard, read_card
from extractors.models.opening import embedded_adapter, open_model, prompts_of

DIALOGS = AdapterCard("city-facts", "a-base", "Qwen3ForCausalLM", ("RTE triples", "RTE types"), 3000)
SERVER = "http://127.0.0.1:9/"


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    DIALOGS.write(tmp_path)
    (tmp_path / "adapter.gguf").write_bytes(b"GGUF")
    return tmp_path


def test_the_shipped_adapter_was_trained_on_forms_and_gets_no_dialogs() -> None:
    card = read_card(ADAPTER_PATH)
    assert "form" in card.turns
    assert prompts_of(None, model=None, adapter=None, prompts=None) == "compact"
    with pytest.raises(ModelUnavailable, match="trained to answer form, plan"):
        prompts_of(None, model=None, adapter=None, prompts="full")


@pytest.mark.parametrize("url", [None, SERVER])
def test_an_adapter_that_was_trained_on_dialogs_gets_them_embedded_and_served(
    trained: Path, url: str | None
) -> None:
    assert prompts_of(url, model=None, adapter=str(trained), prompts=None) == "full"
    assert open_model(url, adapter=str(trained)).prompt_profile == "full"
    with pytest.raises(ModelUnavailable, match="RTE triples"):
        prompts_of(url, model=None, adapter=str(trained), prompts="compact")


def test_an_adapter_that_was_trained_on_both_gets_dialogs_unless_forms_are_set(tmp_path: Path) -> None:
    AdapterCard("both", "a-base", "", ("form", "RTE triples")).write(tmp_path)
    for prompts, expected in ((None, "full"), ("full", "full"), ("compact", "compact")):
        assert prompts_of(SERVER, model=None, adapter=str(tmp_path), prompts=prompts) == expected  # type: ignore[arg-type]


def test_a_base_of_ones_own_has_no_adapter_unless_one_is_named(tmp_path: Path) -> None:
    weights = tmp_path / "base.gguf"
    assert embedded_adapter(str(weights), None) is None
    assert embedded_adapter(None, None) == ADAPTER_PATH
    assert prompts_of(None, model=str(weights), adapter=None, prompts=None) == "full"
    with pytest.raises(ModelUnavailable, match="model_name"):
        open_model(None, model=str(weights))
    weights.write_bytes(b"GGUF")
    model = open_model(None, model=str(weights))
    assert isinstance(model, EmbeddedModel)
    assert model.name == "base"


def test_the_embedded_model_has_room_for_the_dialogs_of_its_adapter(trained: Path) -> None:
    command = EmbeddedModel(adapter=trained, cache=trained / "cache")._command()
    assert command[command.index("--context") + 1] == "6000"


def test_a_server_is_asked_for_the_name_of_the_adapter(trained: Path) -> None:
    for adapter, expected in ((str(trained), "city-facts"), ("named-there", "named-there"), (None, "base")):
        model = open_model(SERVER, model="base", adapter=adapter)
        assert isinstance(model, HttpModel)
        assert model.name == expected


def test_a_card_that_cannot_be_read_is_refused_with_what_it_needs(trained: Path) -> None:
    (trained / "adapter.json").write_text('{"name": "x"}', encoding="utf-8")
    with pytest.raises(ModelUnavailable, match=r"adapter\.json.*turns"):
        read_card(trained)


def test_an_adapter_without_a_card_was_trained_on_forms(tmp_path: Path) -> None:
    assert read_card(tmp_path / "old.gguf").prompt_profile == "compact"
