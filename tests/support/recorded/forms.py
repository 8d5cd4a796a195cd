"""Forms that the embedded model filled in, recorded once, and answered again without it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from extractors.errors import ModelRequestRefused
from extractors.models.chat import BlankForm, FilledField, FilledForm, Message, PromptProfile, Reply, Token


class RecordedForms:
    """Answers each form as it was recorded: by its opening and heading the pairs with their scores.

    A heading that is not recorded had no answer. A form whose text is not recorded is refused.
    """

    name = "recorded"
    prompt_profile: PromptProfile = "compact"

    def __init__(self, path: Path) -> None:
        self._forms: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))

    async def at_once(self) -> int:
        return 4

    async def fill(self, form: BlankForm) -> FilledForm:
        said = self._forms.get(form.opening)
        if said is None:
            raise ModelRequestRefused(f"No form was recorded for: {form.opening}")
        fields = tuple(_filled(blank.heading, said.get(blank.heading)) for blank in form.fields)
        return FilledForm(fields, 100, 50, 0.1, self.name, "recorded-adapter")

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        raise ModelRequestRefused("Only forms are recorded.")

    async def start(self) -> None:
        """There is nothing to load."""

    async def close(self) -> None:
        """There is nothing to close."""


def _filled(heading: str, said: Any) -> FilledField:
    if said is None:
        return FilledField(heading, 0.0, ())
    presence, pairs = said
    tokens = tuple(
        Token(f" {subject} | {value}\n", math.log(max(score, 1e-9))) for subject, value, score in pairs
    )
    return FilledField(heading, presence, tokens)
