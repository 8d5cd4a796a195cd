"""Trains a LoRA adapter on a base model with the trainer of transformers: checkpoints, and a limit of time.

The base computes in the precision of the device, the adapter in float32; the loss is on the answers alone.
"""

from __future__ import annotations

import math
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, Final

import numpy as np
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch.utils.data import Sampler
from transformers import (
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
    trainer_utils,
)

from extractors.errors import TrainingDataError
from research.training.bases import device_of, linear_layers, load_base, precision_of, write_base
from research.training.dataset import Example
from research.training.rows import LONGEST_DIALOG, LONGEST_FORM, Row, Rows, rows_of

_TOKENS_AT_ONCE: Final = 4096
"""Of a batch; what has more is computed in parts, whose gradients are added."""
_SAVED_SECONDS: Final = 300.0
_LOGGED_STEPS: Final = 10
_BLOCK: Final = 40


@dataclass(frozen=True)
class Settings:
    """What a run was made with; all of it goes onto the model card.

    `longest` and `longest_dialog` are lengths in tokens. `device` is "auto" or "cpu".
    """

    epochs: int = 1
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


@dataclass
class Trained:
    """What a run did, with what it did before it was stopped and went on; `seconds` are of this time.

    `ended` is why it ended: "epochs", "minutes", or "stopped" by a signal.
    """

    steps: int = 0
    of_steps: int = 0
    examples: int = 0
    seconds: float = 0.0
    tokens_per_second: float = 0.0
    ended: str = "epochs"
    curve: list[tuple[int, float]] = field(default_factory=list)


class Tuner:
    """A base model with an adapter that is trained."""

    def __init__(self, settings: Settings, base: Path | None = None, start: Path | None = None) -> None:
        """Open the base; `start` is a folder with an adapter to train on, else a new one begins."""
        torch.manual_seed(settings.seed)
        self.settings = settings
        self.device = device_of(settings.device)
        self.precision = precision_of(self.device)
        self.base = load_base(base, self.precision)
        self.dialogs = self.base.dialogs
        targets, others = linear_layers(self.base.model)
        config = LoraConfig(
            r=settings.rank, lora_alpha=settings.alpha, lora_dropout=0.0, target_modules=targets,
            exclude_modules=others or None, task_type="CAUSAL_LM",
        )  # fmt: skip
        self.model: PeftModel = (
            get_peft_model(self.base.model, config)
            if start is None
            else PeftModel.from_pretrained(self.base.model, start, is_trainable=True)
        )
        # By this name PEFT would ask the network for the base with every checkpoint; `save` writes it.
        self.model.peft_config["default"].base_model_name_or_path = None
        self.model.to(self.device)

    def rows(self, examples: Sequence[Example]) -> Rows:
        """The examples in the tokens of the base, as far as the base and the settings take them."""
        return rows_of(
            self.dialogs,
            examples,
            # The mask of a form knows no sliding windows.
            longest=min(self.settings.longest, self.base.window),
            longest_dialog=min(self.settings.longest_dialog, self.base.context),
        )

    def parts(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Rows as tensors, in parts that fit into memory."""
        padding = self.dialogs.tokenizer.eos_token_id
        return [batch_of(part, padding, self.precision) for part in parts_of(rows, _TOKENS_AT_ONCE)]

    def loss(self, part: Mapping[str, Any]) -> torch.Tensor:
        """Sum of the cross-entropy over the answers' tokens by their weights; computes their logits alone."""
        values = {name: value.to(self.device) for name, value in part.items()}
        weights, wanted = values.pop("weights")[:, 1:], values["input_ids"][:, 1:]
        if self.model.config.model_type in ("gemma3", "gemma3n"):  # asks which tokens are of pictures
            values["token_type_ids"] = torch.zeros_like(values["input_ids"])
        places = weights.any(dim=0).nonzero()[:, 0]
        logits = self.model(**values, use_cache=False, logits_to_keep=places).logits
        weights, wanted = weights[:, places], wanted[:, places]
        counted = weights > 0
        losses = torch.nn.functional.cross_entropy(logits[counted].float(), wanted[counted], reduction="none")
        return (losses * weights[counted]).sum()

    def validate(self, rows: Sequence[Row]) -> dict[str, float]:
        """Mean loss of an answer's token by kind of example."""
        kinds: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            kinds[row.kind].append(row)
        self.model.eval()
        found = {}
        with torch.no_grad():
            for kind, members in sorted(kinds.items()):
                total = sum(self.loss(part).item() for part in self.parts(members))
                found[kind] = round(total / sum(sum(row.weights) for row in members), 4)
        return found

    def train(
        self,
        rows: Sequence[Row],
        folder: Path,
        *,
        until: float = math.inf,
        tell: Callable[[str], None] = print,
        clock: Callable[[], float] = time.monotonic,
    ) -> Trained:
        """Train until the epochs are over, or until the clock shows `until`.

        The learning rate stays level and falls to zero over the last part, whichever ends first. Checkpoints
        lie in the folder; where there is one, the training goes on from it. An interrupt from the keyboard or
        a request to terminate saves one and ends the training. Raises `TrainingDataError` without rows.
        """
        if not rows:
            raise TrainingDataError(
                "There is nothing to learn from: give --instructions, --text2kgbench, --fewrel, or more than "
                "0 of --city or --plans; and see above whether everything was too long."
            )
        order = _Order(rows, self.settings)
        steps = math.ceil(len(order) / self.settings.batch)
        timing = _Timing(until, clock, tell, steps)
        arguments = TrainingArguments(
            output_dir=str(folder), per_device_train_batch_size=self.settings.batch, num_train_epochs=1,
            learning_rate=self.settings.learning_rate, weight_decay=0.0, max_grad_norm=1.0,
            logging_steps=_LOGGED_STEPS, logging_nan_inf_filter=False, save_strategy="no", save_total_limit=1,
            report_to="none", disable_tqdm=True, remove_unused_columns=False, seed=self.settings.seed,
            use_cpu=self.device.type == "cpu", dataloader_pin_memory=False,
        )  # fmt: skip
        trainer = _AnswerTrainer(self, order, arguments, timing)
        trainer.remove_callback(PrinterCallback)
        last = trainer_utils.get_last_checkpoint(str(folder)) if folder.is_dir() else None
        with _stopped_by_signal(timing):
            trainer.train(resume_from_checkpoint=last)
        state = trainer.state
        return Trained(
            steps=state.global_step,
            of_steps=steps,
            examples=min(len(order), state.global_step * self.settings.batch),
            seconds=round(clock() - timing.begin, 1),
            tokens_per_second=round(trainer.tokens / max(1e-9, clock() - timing.begin), 1),
            ended=timing.ended,
            curve=[(line["step"], round(line["loss"], 4)) for line in state.log_history if "loss" in line],
        )

    def save(self, folder: Path) -> None:
        """Write the adapter as PEFT does, which model servers load as it is, and the base's config."""
        self.model.peft_config["default"].base_model_name_or_path = self.base.name
        # No embedding is trained; to find that out, PEFT would look the base up on the network.
        self.model.save_pretrained(folder, save_embedding_layers=False)
        write_base(self.base, folder / "base")
        if self.dialogs.is_plain:
            template = self.dialogs.tokenizer.chat_template
            (folder / "chat_template.jinja").write_text(template, encoding="utf-8")


class _Order(Sampler[int]):  # type: ignore[misc]
    """The order of rows in all epochs: block by block as given, in batches of like length."""

    def __init__(self, rows: Sequence[Row], settings: Settings) -> None:
        self.rows, self._settings = rows, settings

    def __len__(self) -> int:
        return self._settings.epochs * len(self.rows)

    def __iter__(self) -> Iterator[int]:
        size, random = self._settings.batch, Random(self._settings.seed)
        every = [place for _ in range(self._settings.epochs) for place in range(len(self.rows))]
        for start in range(0, len(every), size * _BLOCK):
            block = sorted(every[start : start + size * _BLOCK], key=lambda at: len(self.rows[at].tokens))
            groups = [block[at : at + size] for at in range(0, len(block), size)]
            whole, rest = groups[: len(block) // size], groups[len(block) // size :]
            random.shuffle(whole)
            for group in [*whole, *rest]:
                yield from group


class _Timing(TrainerCallback):  # type: ignore[misc]
    """Ends the training in time, saves it now and then, and says how far it is."""

    def __init__(
        self, until: float, clock: Callable[[], float], tell: Callable[[str], None], steps: int
    ) -> None:
        self.begin = self._saved = clock()
        self.ended = "epochs"
        self._until, self._clock, self._tell, self._steps = until, clock, tell, steps
        self._first = 0
        self.stopped = False

    def progress(self, step: int) -> float:
        """How much of what can be done this time is done, 0 to 1: of the steps or of the time."""
        of_steps = (step - self._first) / max(1, self._steps - self._first)
        return max(of_steps, (self._clock() - self.begin) / (self._until - self.begin))

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        self._first = state.global_step
        if self._first:
            self._tell(f"goes on at step {self._first} of {self._steps}")

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        now = self._clock()
        if self.stopped or now >= self._until:
            self.ended = "stopped" if self.stopped else "minutes"
            control.should_training_stop = True
        if control.should_training_stop or now - self._saved > _SAVED_SECONDS:
            control.should_save = True
            self._saved = now

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: Mapping[str, float] | None = None,
        **_: Any,
    ) -> None:
        if logs and "loss" in logs:
            seconds = self._clock() - self.begin
            self._tell(f"step {state.global_step}/{self._steps}, loss {logs['loss']:.4f}, {seconds:.0f} s")


class _AnswerTrainer(Trainer):  # type: ignore[misc]
    """The trainer of transformers with our loss, our order, and a rate that falls with steps or time."""

    def __init__(self, tuner: Tuner, order: _Order, arguments: TrainingArguments, timing: _Timing) -> None:
        self._tuner, self._order, self._timing = tuner, order, timing
        self.tokens = 0
        arguments._n_gpu = min(1, arguments.n_gpu)  # the trainer would spread a batch over all of them
        super().__init__(
            model=tuner.model,
            args=arguments,
            train_dataset=list(order.rows),
            data_collator=list,
            callbacks=[timing],
        )

    def _get_train_sampler(self, *_: Any) -> Sampler[int]:
        return self._order

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
        settings, timing = self._tuner.settings, self._timing

        def rate(step: int) -> float:
            falling = max(0.0, min(1.0, (1 - timing.progress(step)) / settings.decay))
            return min(1.0, (step + 1) / settings.warm_up) * falling

        self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer or self.optimizer, rate)
        return self.lr_scheduler

    def training_step(self, model: Any, inputs: list[Row], num_items_in_batch: Any = None) -> torch.Tensor:
        model.train()
        weight = sum(sum(row.weights) for row in inputs)
        total = torch.zeros((), device=self._tuner.device)
        for part in self._tuner.parts(inputs):
            loss = self._tuner.loss(part) / weight
            self.accelerator.backward(loss)
            total += loss.detach()
        self.tokens += sum(len(row.tokens) for row in inputs)
        return total


@contextmanager
def _stopped_by_signal(timing: _Timing) -> Iterator[None]:
    """Turn an interrupt into the end of the next step."""

    def stop(number: int, frame: FrameType | None) -> None:
        timing.stopped = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_MULTIPLE = 8
"""Lengths are multiples of it: the quick kernels of attention want that of the mask."""


def parts_of(rows: Sequence[Row], most_tokens: int) -> Iterator[list[Row]]:
    """Divide rows into parts of one kind and like length, of at most so many tokens with their padding.

    So the memory of a step is that of its longest row, whatever the size of the batch.
    """
    part: list[Row] = []
    for row in sorted(rows, key=lambda row: (row.is_form, len(row.tokens))):
        if part and (row.is_form != part[0].is_form or (len(part) + 1) * len(row.tokens) > most_tokens):
            yield part
            part = []
        part.append(row)
    if part:
        yield part


def batch_of(rows: Sequence[Row], padding: int, precision: torch.dtype) -> dict[str, Any]:
    """Pad rows of one kind on the right, and give what a model of transformers takes, and `weights`.

    ids, positions and weights are (rows, length). A token of a form sees what stands before it in the text
    and in its own branch: its mask, added to the scores, is (rows, 1, length, length). That of dialogs is
    (rows, length), and the model adds its own windows to it.
    """
    longest = -(-max(len(row.tokens) for row in rows) // _MULTIPLE) * _MULTIPLE

    def padded(values: Sequence[Sequence[float]], fill: float, kind: type[np.generic]) -> torch.Tensor:
        table = np.full((len(values), longest), fill, dtype=kind)
        for line, value in zip(table, values, strict=True):
            line[: len(value)] = value
        return torch.from_numpy(table)

    branches = padded([row.branches for row in rows], -1, np.int64)
    mask = (branches >= 0).long()
    if rows[0].is_form:
        seen = (branches[:, None, :] == branches[:, :, None]) | (branches[:, None, :] == 0)
        seen &= torch.ones(longest, longest, dtype=torch.bool).tril()
        mask = torch.zeros(seen.shape, dtype=precision).masked_fill_(~seen, torch.finfo(precision).min)
        mask = mask[:, None]
    return {
        "input_ids": padded([row.tokens for row in rows], padding, np.int64),
        "position_ids": padded([row.positions for row in rows], 0, np.int64),
        "attention_mask": mask,
        "weights": padded([row.weights for row in rows], 0.0, np.float32),
    }
