"""The plain dialogue (CogMG, section 3.2): the model alone answers, and the answer says so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from extractors.errors import ModelReplyError
from extractors.models.chat import ChatModel, Message
from extractors.prompting.prompt import load_prompt
from server.errors import InvalidBody
from sparql.ask.errors import AskError
from sparql.ask.planner import Trace
from sparql.ask.service import LONGEST_QUESTION, AskResult, Watch

UNCHECKED: Final = "By the model alone, not checked against the graph: "
_TOKENS: Final = 300
_ANSWER: Final = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}


class PlainDialogue:
    """Asks a model for an answer from its own knowledge; `prompts` may replace the built-in prompt."""

    def __init__(self, model: ChatModel, prompts: Path | None) -> None:
        self._model = model
        self._prompts = prompts

    async def ask(
        self,
        question: str,
        *,
        context: str = "",
        history: Sequence[str] = (),
        temperature: float = 0.0,
        watch: Watch | None = None,
    ) -> AskResult:
        """Answer a question. Raises `ModelError`, and `InvalidBody` for the embedded model."""
        if self._model.prompt_profile != "full":
            message = "the embedded model knows nothing beyond a text: set `model_url` to a model server"
            raise InvalidBody([("dialogue", message)])
        if not question.strip() or len(question) > LONGEST_QUESTION:
            raise AskError(f"Ask a question of 1 to {LONGEST_QUESTION:,} characters.")
        prompt = load_prompt("plain-dialogue", self._prompts)
        earlier = [Message("user", f"Earlier I asked: {one}") for one in history]
        filled = prompt.messages({"context": context, "question": question}, "user")
        asked = filled if context else [Message("user", question)]
        messages = [*prompt.messages({}, "system"), *earlier, *asked]
        reply = await self._model.complete(
            messages, schema=_ANSWER, max_tokens=_TOKENS, temperature=temperature
        )
        try:
            answer = str(json.loads(reply.text)["answer"]).strip()
        except (ValueError, KeyError, TypeError) as error:
            raise ModelReplyError("The model's reply has no answer.", reply.text) from error
        trace = Trace(watch=watch)
        trace.note("The model alone is asked, without the graph.", "model", f"{reply.model}: {answer}")
        return AskResult(UNCHECKED + answer, trace=trace.steps)
