"""Dialogs in the tokens of a base model, by its chat template, and which of them are the model's own.

What stands before the answer is cut into tokens as a server does it: the template with its opening of the
assistant's turn. The answer is what the template adds when the turn is there, up to and with the token that
ends it. So nothing here knows the marks of any family.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from jinja2 import TemplateError

from extractors.errors import TrainingDataError

__all__ = ["Dialogs", "Turns"]

Turns = Sequence[tuple[str, str]]
"""Role and words of each message."""

_PLAIN: Final = (
    "{% for message in messages %}{{ message['role'] | capitalize }}: {{ message['content'] | trim }}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}\n\n{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)
"""For bases without a chat template: `System: ...`, `User: ...`, `Assistant: ...` and the end of the text."""
_MARK: Final = "Kestrel"


class Dialogs:
    """Writes dialogs as one base model reads them.

    `is_plain`: the tokenizer had no chat template and has ours now. `merges_system`: the template has no
    system role (Gemma 2), so its words open the first message of the user. `opening` are the tokens that the
    tokenizer sets before any text, `end` is the token that ends the assistant's turn.
    """

    def __init__(self, tokenizer: Any) -> None:
        """Try the template. Raises `TrainingDataError` for one that cannot write a dialog."""
        if tokenizer.eos_token_id is None:
            raise TrainingDataError("The tokenizer of the base names no `eos_token`: add it to its config.")
        self.tokenizer = tokenizer
        ends = {tokenizer.eos_token_id}
        self.opening: tuple[int, ...] = tuple(
            token for token in tokenizer("", add_special_tokens=True)["input_ids"] if token not in ends
        )
        self.is_plain = not tokenizer.chat_template
        if self.is_plain:
            first = tokenizer.bos_token if self.opening else ""
            tokenizer.chat_template = (first or "") + _PLAIN
        self._special = {
            number for number, token in tokenizer.added_tokens_decoder.items() if token.special
        } | ends
        self.merges_system = not self._takes_system()
        try:
            self.end: int = self.cut((("user", "Which bird?"),), _MARK)[1][-1]
        except TemplateError as error:
            raise TrainingDataError(
                f"The chat template of the base cannot write a question and its answer ({error}): correct "
                "`chat_template.jinja` in the base's folder, or remove the template to have a plain one."
            ) from error

    def _takes_system(self) -> bool:
        try:
            return _MARK in self._written((("system", _MARK), ("user", "Which bird?")), opened=True)
        except TemplateError:
            return False

    def _written(self, turns: Turns, *, opened: bool) -> str:
        messages = [{"role": role, "content": words} for role, words in turns]
        text: str = self.tokenizer.apply_chat_template(
            messages,
            tokenize=False,
            add_generation_prompt=opened,
            # Answers are learned without a train of thought of the template's own (Qwen 3).
            enable_thinking=False,
        )
        return text

    def _tokens(self, text: str) -> list[int]:
        tokens: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return tokens

    def _asked(self, turns: Turns) -> Turns:
        """The turns as the template takes them: without a system role where it has none."""
        if not self.merges_system:
            return turns
        system = [words for role, words in turns if role == "system"]
        rest = [(role, words) for role, words in turns if role != "system"]
        if system and rest and rest[0][0] == "user":
            rest[0] = ("user", "\n\n".join([*system, rest[0][1]]))
        return rest

    def asked(self, turns: Turns) -> list[int]:
        """The tokens of a question, with the opening of the answer."""
        return self._tokens(self._written(self._asked(turns), opened=True))

    def cut(self, turns: Turns, answer: str) -> tuple[list[int], list[int]]:
        """The tokens of the question, and those of the answer with the token that ends it."""
        turns = self._asked(turns)
        question = self._written(turns, opened=True)
        whole = self._written([*turns, ("assistant", answer)], opened=False)
        if not whole.startswith(question):  # the template opens a turn otherwise than it writes one
            whole = question + answer
        head, tokens = self._tokens(question), self._tokens(whole)
        # A server cuts the question alone: where the cut differs, so is the answer cut alone.
        reply = (
            tokens[len(head) :] if tokens[: len(head)] == head else self._tokens(whole.removeprefix(question))
        )
        # A line break after the end of the turn is of the template, and never generated.
        for place, token in enumerate(reply, 1):
            if token in self._special and not self.tokenizer.decode(reply[place:]).strip():
                return head, reply[:place]
        return head, [*reply, self.tokenizer.eos_token_id]
