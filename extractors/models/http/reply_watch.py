"""Watches a streamed reply: whether it can still become a document of the schema.

A model that does not stop, or a server that ignores the schema, is detected within a few tokens instead of at
max_tokens. The watch is sound: it never rejects a reply that could still conform. Keywords that it does not
know (`format`, `pattern`, `not`) are ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Final

from extractors.models.schema_nodes import Node, allows, choices, holds, is_long_enough, required

__all__ = ["ReplyWatch", "conforms"]

_WHITE: Final = " \t\n\r"
_WHITE_RUN: Final = 200
"""More white space in a row than any indentation needs."""
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_NUMBER_PART: Final = "0123456789+-.eE"
_WORDS: Final = ("true", "false", "null")

_ANYTHING: Final[Node] = {}


class _Place(Enum):
    VALUE = auto()
    KEY_OR_END = auto()
    KEY = auto()
    COLON = auto()
    NEXT_OR_END = auto()
    ITEM_OR_END = auto()
    DONE = auto()


@dataclass
class _Container:
    """An object or array that is open, with the schemas that it may still follow."""

    is_object: bool
    options: tuple[Node, ...]
    keys: list[str] = field(default_factory=list)
    items: int = 0


class ReplyWatch:
    """Takes a reply piece by piece; `trouble` says why it is hopeless, `complete` that the document is whole.

    Without a schema it looks for endless white space alone.
    """

    def __init__(self, schema: Mapping[str, Any] | None) -> None:
        self.trouble: str | None = None
        self._schema = schema
        self._place = _Place.VALUE
        self._open: list[_Container] = []
        self._options: tuple[Node, ...] = () if schema is None else self._alternatives(schema)
        self._token: list[str] | None = None
        self._kind = ""
        self._escaped = False
        self._white = 0

    @property
    def complete(self) -> bool:
        """Whether a whole JSON document has come and only white space may follow."""
        return self._schema is not None and self._place is _Place.DONE and self.trouble is None

    @property
    def white_run(self) -> bool:
        """Whether more white space came in a row than belongs in any reply."""
        return self._white > _WHITE_RUN

    def feed(self, piece: str) -> str | None:
        """Take the next piece; says why the reply is hopeless, or None."""
        for character in piece:
            if self.trouble is None:
                self._take(character)
        return self.trouble

    def end(self) -> str | None:
        """Say what is wrong with a reply that ends here, or None."""
        if self.trouble is None and self._schema is not None:
            if self._kind in ("number", "word"):
                self._finish_token()
            if self.trouble is None and self._place is not _Place.DONE:
                self.trouble = "it ends before its JSON does"
        return self.trouble

    def _take(self, character: str) -> None:
        self._white = self._white + 1 if character.isspace() else 0
        if self._white > _WHITE_RUN and not self.complete:
            self.trouble = "it goes on with white space"
        elif self._schema is None:
            return
        elif self._kind == "string":
            self._in_string(character)
        elif self._kind == "number" and character in _NUMBER_PART:
            self._grow(character)
        elif self._kind == "word" and character.isalpha():
            self._grow(character)
            if not any(word.startswith(self._text()) for word in _WORDS):
                self.trouble = f"{self._text()!r} is no JSON"
        else:
            if self._kind:
                self._finish_token()
            if self.trouble is None and character not in _WHITE:
                self._between(character)

    def _text(self) -> str:
        return "".join(self._token or ())

    def _grow(self, character: str) -> None:
        assert self._token is not None
        self._token.append(character)

    def _between(self, character: str) -> None:
        place = self._place
        if place is _Place.ITEM_OR_END and character == "]":
            self._close()
        elif place in (_Place.VALUE, _Place.ITEM_OR_END):
            self._begin_value(character)
        elif place is _Place.KEY_OR_END and character == "}":
            self._close()
        elif place in (_Place.KEY_OR_END, _Place.KEY) and character == '"':
            self._token, self._kind, self._escaped = [], "string", False
        elif place is _Place.COLON and character == ":":
            self._place = _Place.VALUE
        elif place is _Place.NEXT_OR_END and character == ",":
            self._next()
        elif place is _Place.NEXT_OR_END and character == ("}" if self._open[-1].is_object else "]"):
            self._close()
        elif place is _Place.DONE:
            self.trouble = f"{character!r} comes after the end of the JSON"
        else:
            self.trouble = f"{character!r} is not allowed there in JSON"

    def _begin_value(self, character: str) -> None:
        if self._open and not self._open[-1].is_object:
            self._open[-1].items += 1
            self._check_items()
            self._options = self._item_options()
        kind = {"{": "object", "[": "array", '"': "string"}.get(character) or (
            "number" if character in "-0123456789" else "word" if character.isalpha() else ""
        )
        if not kind:
            self.trouble = f"{character!r} is not the start of a value"
            return
        if kind == "word":
            self._token, self._kind = [], "word"
            self._grow(character)
            if character not in "tfn":
                self.trouble = f"{character!r} begins no JSON value"
            return
        self._options = tuple(option for option in self._options if allows(option, kind))
        if not self._options:
            self.trouble = f"{_article(kind)} is not allowed there by the schema"
        elif kind in ("object", "array"):
            self._open.append(_Container(kind == "object", self._options))
            self._place = _Place.KEY_OR_END if kind == "object" else _Place.ITEM_OR_END
        else:
            self._token, self._kind, self._escaped = [], kind, False
            if kind == "number":
                self._grow(character)

    def _in_string(self, character: str) -> None:
        if self._escaped:
            self._escaped = False
        elif character == "\\":
            self._escaped = True
        elif character == '"':
            self._finish_token()
            return
        elif character < " ":
            self.trouble = "a string holds a raw control character"
            return
        self._grow(character)
        if self._place not in (_Place.KEY, _Place.KEY_OR_END):
            self._check_beginning()

    def _check_beginning(self) -> None:
        """Give up a string that is the beginning of none of its choices."""
        assert self._token is not None
        if "\\" in self._token or not all("enum" in one or "const" in one for one in self._options):
            return
        text = self._text()
        if not any(str(choice).startswith(text) for one in self._options for choice in choices(one)):
            self.trouble = f"{text[-60:]!r} begins none of the choices"

    def _finish_token(self) -> None:
        text, kind = self._text(), self._kind
        self._token, self._kind = None, ""
        if kind == "string":
            try:
                value: Any = json.loads(f'"{text}"')
            except ValueError:
                self.trouble = f"{text[-60:]!r} is no JSON string"
                return
            if self._place in (_Place.KEY, _Place.KEY_OR_END):
                self._take_key(value)
                return
        elif kind == "number":
            if _NUMBER.fullmatch(text) is None:
                self.trouble = f"{text[:60]!r} is no number"
                return
            try:
                value = json.loads(text)
            except ValueError:  # thousands of digits
                self.trouble = "a number has too many digits"
                return
        elif text in _WORDS:
            value = json.loads(text)
        else:
            self.trouble = f"{text!r} is no JSON"
            return
        if not any(holds(option, value) for option in self._options):
            self.trouble = f"the value {str(value)[:60]!r} is none that the schema allows"
        self._value_done()

    def _take_key(self, key: str) -> None:
        container = self._open[-1]
        kept = [(one, self._under(one, key)) for one in container.options]
        container.options = tuple(one for one, below in kept if below is not None)
        if not container.options:
            self.trouble = f"the schema has no key {key[:60]!r} here"
            return
        container.keys.append(key)
        self._options = tuple(option for _, below in kept if below is not None for option in below)
        self._place = _Place.COLON

    def _under(self, option: Node, key: str) -> tuple[Node, ...] | None:
        """Return the schemas of a key's value, or None if the key is not allowed."""
        properties = option.get("properties")
        if isinstance(properties, Mapping) and key in properties:
            return self._alternatives(properties[key])
        more = option.get("additionalProperties", True)
        if more is False:
            return None
        return self._alternatives(more) if isinstance(more, Mapping) else (_ANYTHING,)

    def _next(self) -> None:
        container = self._open[-1]
        self._place = _Place.KEY if container.is_object else _Place.VALUE

    def _check_items(self) -> None:
        container = self._open[-1]
        limits = [one["maxItems"] for one in container.options if isinstance(one.get("maxItems"), int)]
        if len(limits) == len(container.options) and container.items > max(limits):
            self.trouble = f"an array has more than {max(limits)} members"

    def _item_options(self) -> tuple[Node, ...]:
        found: list[Node] = []
        for option in self._open[-1].options:
            items = option.get("items")
            found += self._alternatives(items) if isinstance(items, Mapping) else (_ANYTHING,)
        return tuple(found)

    def _close(self) -> None:
        container = self._open.pop()
        keys = set(container.keys)
        if container.is_object:
            filled = any(keys >= set(required(one)) for one in container.options)
        else:
            filled = any(is_long_enough(one, container.items) for one in container.options)
        if not filled:
            missing = sorted(set(required(container.options[0])) - keys)
            self.trouble = (
                f"an object lacks {', '.join(missing)}" if container.is_object else "an array is too short"
            )
        self._value_done()

    def _value_done(self) -> None:
        self._place = _Place.NEXT_OR_END if self._open else _Place.DONE

    def _alternatives(self, node: Any) -> tuple[Node, ...]:
        """The schemas of which one must hold, with references and choices among schemas taken apart."""
        if not isinstance(node, Mapping):
            return (_ANYTHING,)
        reference = node.get("$ref")
        if isinstance(reference, str):
            return self._alternatives(self._resolved(reference))
        for word in ("anyOf", "oneOf"):
            if isinstance(node.get(word), Sequence):
                return tuple(option for one in node[word] for option in self._alternatives(one))
        return (_ANYTHING,) if "allOf" in node else (node,)

    def _resolved(self, reference: str) -> Any:
        node: Any = self._schema
        for part in reference.removeprefix("#/").split("/"):
            node = node.get(part) if isinstance(node, Mapping) else None
        return _ANYTHING if node is None else node


def conforms(text: str, schema: Mapping[str, Any]) -> str | None:
    """Return why a complete reply is not a document of the schema, or None."""
    watch = ReplyWatch(schema)
    watch.feed(text)
    return watch.end()


def _article(kind: str) -> str:
    return f"an {kind}" if kind in ("object", "array") else f"a {kind}"
