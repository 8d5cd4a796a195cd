"""The base model that an adapter is trained on: the packaged weights, or any causal model's folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from extractors.errors import TrainingDataError
from extractors.models.local.weights import PACKAGED, find_weights
from research.training.rows import Dialogs

_CONTEXT: Final = 1_000_000
"""Of a base whose config does not say how long a text may be."""


@dataclass(frozen=True)
class Base:
    """A model and its tokenizer, with the template of its dialogs.

    `name` is what an adapter names as its base: the folder, or the packaged model's public name.
    """

    name: str
    tokenizer: Any
    model: Any
    dialogs: Dialogs

    @property
    def architecture(self) -> str:
        """The class of the model, by which converters and servers know its layers."""
        return type(self.model).__name__

    @property
    def context(self) -> int:
        """The longest text in tokens."""
        config = self.model.config.get_text_config()
        return int(getattr(config, "max_position_embeddings", None) or _CONTEXT)

    @property
    def window(self) -> int:
        """How far the layers with a sliding window look back; the context where there is none."""
        config = self.model.config.get_text_config()
        return int(getattr(config, "sliding_window", None) or self.context)


def device_of(name: str) -> torch.device:
    """The device of a setting: "cpu", or "auto" for the first accelerator where there is one.

    Raises `TrainingDataError` for another name.
    """
    if name == "cpu":
        return torch.device("cpu")
    if name != "auto":
        raise TrainingDataError(
            f"There is no device {name!r}: give `auto` or `cpu`; CUDA_VISIBLE_DEVICES chooses among GPUs."
        )
    found: torch.device | None = torch.accelerator.current_accelerator(check_available=True)
    return found or torch.device("cpu")


def precision_of(device: torch.device) -> torch.dtype:
    """bfloat16 where the device computes in it, else float32, which is faster than to imitate it."""
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    flags = Path("/proc/cpuinfo")
    known = flags.read_text(encoding="utf-8") if device.type == "cpu" and flags.is_file() else ""
    return torch.bfloat16 if "avx512_bf16" in known or "amx_bf16" in known else torch.float32


def load_base(path: Path | None, precision: torch.dtype) -> Base:
    """Load a folder of transformers (config, safetensors, tokenizer), or the packaged weights without one.

    Raises `TrainingDataError` for a folder that holds no causal language model.
    """
    if path is None:
        return _packaged(precision)
    if not (path / "config.json").is_file():
        raise TrainingDataError(
            f"{path} is no model that can be trained on: give a folder with config.json, model.safetensors "
            "and tokenizer.json, as transformers saves one (GGUF files are for serving alone)."
        )
    try:
        config = AutoConfig.from_pretrained(path)
        # Only the plain attention caps its scores (Gemma 2).
        capped = getattr(config.get_text_config(), "attn_logit_softcapping", None)
        model = AutoModelForCausalLM.from_pretrained(
            path, dtype=precision, attn_implementation="eager" if capped else "sdpa"
        )
        tokenizer = AutoTokenizer.from_pretrained(path)
    except (OSError, ValueError, KeyError, ImportError) as error:
        said = str(error).strip().splitlines() or [repr(error)]
        raise TrainingDataError(f"The model in {path} cannot be loaded: {said[0]}") from error
    return Base(str(path.resolve()), tokenizer, model, Dialogs(tokenizer))


def _packaged(precision: torch.dtype) -> Base:
    """The embedded model's weights in a fresh model, since one loaded from GGUF counts as quantized."""
    path = find_weights()
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    packed = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    values = packed.config.to_dict()
    for key in ("quantization_config", "dtype", "_name_or_path"):
        values.pop(key, None)
    model = type(packed)(type(packed.config)(**values))
    model.load_state_dict(packed.state_dict())
    return Base(PACKAGED, tokenizer, model.to(precision), Dialogs(tokenizer))


def linear_layers(model: Any) -> tuple[list[str], list[str]]:
    """The names of the linear layers of attention and MLP, and the full names of others that are called so.

    The others belong to parts that see no text, such as the vision tower of Gemma 3. Raises
    `TrainingDataError` where there are none.
    """
    decoder = {id(module) for module in model.get_decoder().modules()}
    linear = {name: id(m) for name, m in model.named_modules() if isinstance(m, torch.nn.Linear)}
    inside = sorted({name.rpartition(".")[2] for name, place in linear.items() if place in decoder})
    if not inside:
        raise TrainingDataError(
            f"{type(model).__name__} has no linear layers that an adapter could change: take a base of "
            "another architecture (Llama, Qwen, Mistral, Gemma, SmolLM)."
        )
    others = [n for n, place in linear.items() if place not in decoder and n.rpartition(".")[2] in inside]
    return inside, others


def write_base(base: Base, folder: Path) -> None:
    """Write the config and the tokenizer, which the converter to GGUF reads."""
    base.model.config.architectures = [base.architecture]
    base.model.config.save_pretrained(folder)
    base.tokenizer.save_pretrained(folder)
