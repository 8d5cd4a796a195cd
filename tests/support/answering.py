"""A model that answers each text by what the text says, fails where it is set to, and waits for a signal."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from extractors.models.chat import Message, PromptProfile, Reply
from tests.support.recorded.frames import reply_to


class AnsweringModel:
    """Answers by the frames of the recorded model; `asked` counts the questions by their text."""

    name = "frames"
    prompt_profile: PromptProfile = "full"

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.failures: dict[str, list[Exception]] = {}
        """Errors for texts with a word, one a question, in order."""
        self.open = asyncio.Event()
        self.open.set()
        self.busy = self.busiest = 0
        self.limit = 1000

    async def at_once(self) -> int:
        return self.limit

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        text = messages[-1].content.rpartition("<text>")[2].partition("</text>")[0].strip()
        self.asked[text] += 1
        self.busy += 1
        self.busiest = max(self.busiest, self.busy)
        try:
            await self.open.wait()
        finally:
            self.busy -= 1
        for word, errors in self.failures.items():
            if word in text and errors:
                raise errors.pop(0)
        return Reply(reply_to(text), "stop", 100, 20, 0.5, self.name, None)

    async def close(self) -> None:
        return None
