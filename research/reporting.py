"""Common parts of measurements: the identity of the model, progress, JSON, and what 1,000 tasks cost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from rich.progress import Progress, TaskID

from extractors.models.accounting import Prices
from extractors.readers.reading import Cost
from server.cli.output import progress_bar
from server.settings import Settings


def model_identity(settings: Settings) -> str:
    """The model and its adapter as text, which must be the same for a run to continue."""
    from extractors.models.local.weights import adapter_file, sha256_of
    from extractors.models.opening import embedded_adapter

    if settings.model_url:
        return f"{settings.model_adapter or settings.model_name or 'default'} at {settings.model_url}"
    adapter = embedded_adapter(settings.model_name, settings.model_adapter)
    base = "embedded" if settings.model_name is None else f"embedded {settings.model_name}"
    return base if adapter is None else f"{base}, adapter {sha256_of(adapter_file(adapter))[:12]}"


def digest_of(files: Sequence[Path]) -> dict[str, str]:
    """The files by name with a short hash of their content."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:12] for file in files}


def write_json(file: Path, value: dict[str, Any]) -> None:
    """Write a report."""
    file.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@contextmanager
def progress_of(name: str, count: int) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error; gives a function to report how many of how many are done."""
    with progress_bar(transient=True) as progress:
        yield partial(_show, progress, progress.add_task(name, total=count))


def _show(progress: Progress, task: TaskID, done: int, of: int) -> None:
    progress.update(task, completed=done, total=of)


_THOUSAND: Final = 1000


def expenses_json(cost: Cost, tasks: int, prices: Prices) -> dict[str, Any]:
    """The expenses of a thousand tasks, and how many tasks they were measured on."""
    share = _THOUSAND / tasks if tasks else 0.0
    money = prices.cost(cost.prompt_tokens, cost.completion_tokens)
    return {
        "tasks": tasks,
        "per_1000_tasks": {
            "seconds": round(cost.seconds * share, 1),
            "turns": round(cost.turns * share),
            "prompt_tokens": round(cost.prompt_tokens * share),
            "completion_tokens": round(cost.completion_tokens * share),
            "cost": None
            if money is None
            else {"amount": round(money * share, 4), "currency": prices.currency},
        },
    }


def expenses_heads(prices: Prices) -> tuple[str, ...]:
    """The heads of `expenses_cells`."""
    money = (f"{prices.currency}/1000",) if prices.known else ()
    return ("s/1000", "tokens in/1000", "out/1000", *money)


def expenses_cells(cost: Cost, tasks: int, prices: Prices) -> tuple[str, ...]:
    """The expenses of a thousand tasks for a table."""
    found = expenses_json(cost, tasks, prices)["per_1000_tasks"]
    money = (f"{found['cost']['amount']:.2f}",) if found["cost"] else ()
    return (
        f"{found['seconds']:.0f}", f"{found['prompt_tokens']}", f"{found['completion_tokens']}", *money,
    )  # fmt: skip
