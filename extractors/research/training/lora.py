"""The base model from the packaged weights, and the LoRA training loop on it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

from extractors.errors import TrainingDataError
from extractors.models.local.weights import find_weights
from extractors.research.training.batches import batch_of
from extractors.research.training.dataset import Example
from extractors.research.training.rows import LONGEST_DIALOG, LONGEST_FORM, Row, rows_of

__all__ = ["Settings", "Trained", "Tuner", "device_of", "load_base"]


@dataclass(frozen=True)
class Settings:
    """What a run was made with; all of it goes onto the model card.

    `longest` is the length of a form in tokens. `device` is one of PyTorch's ("cpu", "cuda", "cuda:1",
    "mps"), or "auto": a GPU where there is one.
    """

    epochs: int = 1
    minutes: float = 90.0
    rank: int = 16
    alpha: int = 32
    learning_rate: float = 1e-3
    warm_up: int = 30
    decay: float = 0.4
    batch: int = 16
    seed: int = 7
    longest: int = LONGEST_FORM
    longest_dialog: int = LONGEST_DIALOG
    device: str = "auto"
    compile: bool = True


@dataclass
class Trained:
    """What a run did."""

    steps: int = 0
    examples: int = 0
    tokens: int = 0
    seconds: float = 0.0
    curve: list[tuple[int, float]] = field(default_factory=list)
    validation_loss: float = math.nan


def device_of(name: str) -> torch.device:
    """The device of a setting. Raises `TrainingDataError` where this machine's PyTorch has none such."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise TrainingDataError(
            f"PyTorch cannot train on the device {name!r} here: give `auto`, `cpu`, or a GPU that "
            f"its build knows ({str(error).splitlines()[0]})."
        ) from error
    return device


def load_base() -> tuple[Any, LlamaForCausalLM]:
    """Load tokenizer and weights out of the GGUF package, as an ordinary float model.

    The state is copied into a fresh model because one loaded from GGUF cannot be saved.
    """
    path = find_weights()
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    packed = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    config = packed.config.to_dict()
    for key in ("quantization_config", "dtype", "_name_or_path"):
        config.pop(key, None)
    model = LlamaForCausalLM(LlamaConfig(**config))
    model.load_state_dict(packed.state_dict())
    return tokenizer, model


class Tuner:
    """Trains a LoRA adapter on examples; the loss is on the answer's tokens only.

    Base and adapter compute in bfloat16; the optimiser keeps the adapter in float32.
    """

    def __init__(self, settings: Settings, start: Path | None = None) -> None:
        """Open the base; `start` is a folder with an adapter to train on, else a new one begins."""
        torch.manual_seed(settings.seed)
        self.settings = settings
        self.device = device_of(settings.device)
        self.tokenizer, base = load_base()
        config = LoraConfig(
            r=settings.rank, lora_alpha=settings.alpha, lora_dropout=0.0,
            target_modules="all-linear", task_type="CAUSAL_LM",
        )  # fmt: skip
        self.base_config = base.config
        base = base.to(torch.bfloat16)
        self.model: PeftModel = (
            get_peft_model(base, config, autocast_adapter_dtype=False)
            if start is None
            else PeftModel.from_pretrained(base, start, is_trainable=True, autocast_adapter_dtype=False)
        )
        self.model.to(self.device)
        self._inner = self.model.base_model.model
        self._weights = [weight for weight in self.model.parameters() if weight.requires_grad]
        self._masters = [weight.detach().float().clone().requires_grad_() for weight in self._weights]
        if settings.compile:
            for layer in self._inner.model.layers:
                layer.compile(dynamic=True)

    def _batches(self, rows: Sequence[Row], random: Random) -> Iterator[list[Row]]:
        """Group rows of like length, so that little is padding, block by block in the order of training."""
        size = self.settings.batch
        for start in range(0, len(rows), size * 40):
            block = sorted(rows[start : start + size * 40], key=lambda row: len(row.tokens))
            groups = [block[at : at + size] for at in range(0, len(block), size)]
            random.shuffle(groups)
            yield from groups

    def loss(self, rows: Sequence[Row]) -> torch.Tensor:
        """Weighted mean of the cross-entropy over the answers' tokens."""
        batch = batch_of(rows, self.tokenizer.eos_token_id, self.device)
        ids, weights = batch.ids, batch.weights[:, 1:]
        hidden = self._inner.model(
            input_ids=ids, position_ids=batch.positions, attention_mask=batch.mask, use_cache=False
        ).last_hidden_state
        wanted = weights > 0
        logits = self._inner.lm_head(hidden[:, :-1][wanted]).float()
        losses = torch.nn.functional.cross_entropy(logits, ids[:, 1:][wanted], reduction="none")
        return (losses * weights[wanted]).sum() / weights.sum()

    def _rows(self, examples: Sequence[Example], note: Any = lambda line: None) -> list[Row]:
        settings = self.settings
        return rows_of(
            self.tokenizer,
            examples,
            longest=settings.longest,
            longest_dialog=settings.longest_dialog,
            tell=note,
        )

    def train(self, examples: Sequence[Example], keep: Path, note: Any = print) -> Trained:
        """Train until the epochs or the minutes are over.

        The learning rate stays level and falls to zero over the last part, whichever ends first. The adapter
        is kept at half time too, beside `keep`.
        """
        settings, random = self.settings, Random(self.settings.seed)
        begin = saved = time.monotonic()
        rows = self._rows(examples, note)
        total = settings.epochs * math.ceil(len(rows) / settings.batch)
        optimizer = torch.optim.AdamW(self._masters, lr=settings.learning_rate, weight_decay=0.0, fused=True)
        done = Trained()
        for at in range(0, settings.batch * 3, settings.batch):  # compiles; the minutes count it
            began = time.monotonic()
            self.loss(rows[at : at + settings.batch]).backward()
            self._forget()
            note(f"compiling: {time.monotonic() - began:.0f} s")
        recent: list[torch.Tensor] = []
        halved = False
        for _ in range(settings.epochs):
            for batch in self._batches(rows, random):
                elapsed = time.monotonic() - begin
                progress = max(done.steps / total, elapsed / (settings.minutes * 60))
                if progress >= 1:
                    break
                if progress >= 0.5 and not halved:
                    self.save(keep.with_name(f"{keep.name}-half"))
                    halved = True
                falling = min(1.0, (1 - progress) / settings.decay)
                rate = min(1.0, (done.steps + 1) / settings.warm_up) * falling
                loss = self.loss(batch)
                loss.backward()
                self._step(optimizer, settings.learning_rate * rate)
                recent.append(loss.detach())
                done.steps += 1
                done.examples += len(batch)
                done.tokens += sum(len(row.tokens) for row in batch)
                if done.steps % 10 == 0:
                    done.curve.append((done.steps, round(torch.stack(recent).mean().item(), 4)))
                    speed = done.tokens / (time.monotonic() - begin)
                    note(f"step {done.steps}/{total} loss {done.curve[-1][1]} {speed:.0f} tokens/s")
                    recent = []
                if time.monotonic() - saved > 300:
                    self.save(keep)
                    saved = time.monotonic()
        done.seconds = time.monotonic() - begin
        return done

    def _step(self, optimizer: torch.optim.Optimizer, rate: float) -> None:
        for master, weight in zip(self._masters, self._weights, strict=True):
            master.grad = None if weight.grad is None else weight.grad.float()
        torch.nn.utils.clip_grad_norm_(self._masters, 1.0)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        with torch.no_grad():
            torch._foreach_copy_(self._weights, self._masters)
        self._forget()

    def _forget(self) -> None:
        for weight in self._weights:
            weight.grad = None

    def validate(self, examples: Sequence[Example]) -> float:
        """Mean loss over held-out examples, weighted by batch."""
        rows = self._rows(examples)
        rows.sort(key=lambda row: len(row.tokens))
        losses: list[float] = []
        with torch.no_grad():
            for at in range(0, len(rows), self.settings.batch):
                losses.append(self.loss(rows[at : at + self.settings.batch]).item())
        return sum(losses) / len(losses)

    def save(self, folder: Path) -> None:
        """Write the adapter as safetensors, ready for TGI, with the base's config beside it."""
        folder.mkdir(parents=True, exist_ok=True)
        self.model.save_pretrained(folder)
        base = folder / "base"
        base.mkdir(exist_ok=True)
        self.base_config.architectures = ["LlamaForCausalLM"]
        self.base_config.save_pretrained(base)
        self.tokenizer.save_pretrained(base)
