"""What an adapter says of itself in `adapter.json`: its name, its base, and what it was trained to answer.

The file lies beside the adapter in the folder of its training. By it, and not by the size of the model, is
decided which methods the model is asked to follow.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from extractors.errors import ModelUnavailable
from extractors.models.chat import PromptProfile

__all__ = ["ADAPTER_FILE", "CARD_FILE", "FORM", "AdapterCard", "adapter_file", "read_card"]

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
