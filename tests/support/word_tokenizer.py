"""A tokenizer of which each word is a token, for what is to be known without PyTorch."""

from __future__ import annotations

import re
from typing import Any, Final

_PIECE: Final = re.compile(r"<end>|:|\n|[^\s:<]+")


class WordTokenizer:
    """Knows no chat template but the plainest: the words of all messages, `<end>` behind the assistant's."""

    eos_token_id = 0
    bos_token = None
    added_tokens_decoder: dict[int, Any] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.chat_template: str | None = "words"
        self.known = ["<end>"]

    def __call__(self, text: str | list[str], *, add_special_tokens: bool) -> dict[str, Any]:
        if isinstance(text, list):
            return {"input_ids": [self(one, add_special_tokens=False)["input_ids"] for one in text]}
        pieces = _PIECE.findall(text)
        self.known += [piece for piece in dict.fromkeys(pieces) if piece not in self.known]
        return {"input_ids": [self.known.index(piece) for piece in pieces]}

    def decode(self, tokens: list[int]) -> str:
        """The words with spaces between."""
        return " ".join(self.known[token] for token in tokens)

    def apply_chat_template(self, messages: list[dict[str, str]], **_: Any) -> str:
        """The words of the messages."""
        return " ".join(
            message["content"] + (" <end> \n" if message["role"] == "assistant" else "")
            for message in messages
        )
