"""Examples as token ids, by the chat template of a base model.

What stands before the answer of a dialog is cut into tokens as a server does it: the template with its
opening of the assistant's turn. The answer is what the template adds when the turn is there, up to and with
the token that ends it. So nothing here knows the marks of any family. Of a form the text stands once, and
each field is a branch of its own behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from jinja2 import TemplateError

from extractors.errors import TrainingDataError
from extractors.models.chat import NONE
from extractors.readers.form import opening
from research.training.dataset import Example

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


LONGEST_DIALOG: Final = 4096
LONGEST_FORM: Final = 200
_COLON: Final = ":"


@dataclass(frozen=True)
class Row:
    """`branches` tells for every token which field it belongs to (0: the text, which all of them see).

    `positions` begin anew behind the text in every branch, as they do when the field is asked alone.
    `weights` are above 0 for the tokens of answers.
    """

    kind: str
    tokens: tuple[int, ...]
    positions: tuple[int, ...]
    branches: tuple[int, ...]
    weights: tuple[float, ...]

    @property
    def is_form(self) -> bool:
        """Whether it has branches, which must not see each other."""
        return self.branches[-1] > 0


@dataclass
class Lengths:
    """The lengths of the examples of one kind in tokens, and what was too long to be learned from."""

    lengths: list[int] = field(default_factory=list)
    left_out: int = 0
    fields_left_out: int = 0

    def json(self) -> dict[str, int]:
        """How many there are, the median and the longest, and how many were left out."""
        ordered = sorted(self.lengths)
        return {
            "count": len(ordered),
            "median_tokens": ordered[len(ordered) // 2],
            "longest_tokens": ordered[-1],
            "left_out": self.left_out,
            "fields_left_out": self.fields_left_out,
        }


@dataclass(frozen=True)
class Rows:
    """What is learned from, and the lengths of all that was given by its kind."""

    rows: list[Row]
    lengths: Mapping[str, Lengths]

    def report(self) -> Iterable[str]:
        """A line for each kind."""
        for kind, found in self.lengths.items():
            counted = found.json()
            said = f"{kind}: {counted['count']} of at most {counted['longest_tokens']} tokens"
            said += f" (median {counted['median_tokens']}), {found.left_out} too long and left out"
            yield said + (f", and {found.fields_left_out} fields" if found.fields_left_out else "")


class _Pieces:
    """The tokens of the parts of forms; each distinct part is cut once, all of them together."""

    def __init__(self, dialogs: Dialogs, forms: Sequence[Example]) -> None:
        self._dialogs = dialogs
        self._texts = self._cut([opening(example.text) for example in forms])
        headings = {field.heading: opening(example.text) for example in forms for field in example.fields}
        self._headings = self._behind(headings)
        # An answer stands behind the colon of its heading.
        self._answers = self._behind({field.answer: _COLON for example in forms for field in example.fields})

    def _cut(self, words: Iterable[str]) -> dict[str, list[int]]:
        distinct = list(dict.fromkeys(words))
        if not distinct:
            return {}
        cut = self._dialogs.tokenizer(distinct, add_special_tokens=False)["input_ids"]
        return dict(zip(distinct, cut, strict=True))

    def _behind(self, places: Mapping[str, str]) -> dict[str, list[int]]:
        """The tokens of words where they stand: behind others, with which they share none."""
        before = self._cut(places.values())
        wholes = self._cut(place + words for words, place in places.items())
        found = {}
        for words, place in places.items():
            head, whole = before[place], wholes[place + words]
            if whole[: len(head)] != head:
                raise TrainingDataError(
                    f"The base's tokenizer cuts {place!r} otherwise before {words!r}: forms cannot be "
                    "learned with it. Train on dialogs alone (--city 0 --plans 0 and --instructions)."
                )
            found[words] = whole[len(head) :]
        return found

    def row(self, example: Example, longest: int, lengths: Lengths) -> Row | None:
        """The fields that fit behind the text, the answered ones first."""
        shared = [*self._dialogs.opening, *self._texts[opening(example.text)]]
        parts = [
            (self._headings[field.heading], [*self._answers[field.answer], self._dialogs.end], field.weight)
            for field in sorted(example.fields, key=lambda field: field.answer == NONE)
        ]
        lengths.lengths.append(len(shared) + sum(len(head) + len(reply) for head, reply, _ in parts))
        if 2 * len(shared) > longest:
            lengths.left_out += 1
            return None
        tokens, weights = list(shared), [0.0] * len(shared)
        positions, branches = list(range(len(shared))), [0] * len(shared)
        for number, (head, reply, weight) in enumerate(parts, 1):
            added = len(head) + len(reply)
            if len(tokens) + added > longest:
                lengths.fields_left_out += 1
                continue
            tokens += [*head, *reply]
            positions += range(len(shared), len(shared) + added)
            branches += [number] * added
            weights += [0.0] * len(head) + [weight] * len(reply)
        if len(tokens) == len(shared):
            lengths.left_out += 1
            return None
        return Row(example.kind, tuple(tokens), tuple(positions), tuple(branches), tuple(weights))


def _dialog(dialogs: Dialogs, example: Example, longest: int, lengths: Lengths) -> Row | None:
    head, answer = dialogs.cut(example.dialog, example.answer)
    size = len(head) + len(answer)
    lengths.lengths.append(size)
    if size > longest:
        lengths.left_out += 1
        return None
    weights = (0.0,) * len(head) + (1.0,) * len(answer)
    return Row(example.kind, (*head, *answer), tuple(range(size)), (0,) * size, weights)


def rows_of(
    dialogs: Dialogs,
    examples: Sequence[Example],
    *,
    longest: int = LONGEST_FORM,
    longest_dialog: int = LONGEST_DIALOG,
) -> Rows:
    """Turn examples into rows of at most `longest` tokens, dialogs of at most `longest_dialog`.

    A dialog that is longer is left out, and so is a form whose text fills more than half of `longest`; of
    other forms the fields that do not fit. All of that is counted.
    """
    pieces = _Pieces(dialogs, [example for example in examples if not example.dialog])
    rows: list[Row] = []
    lengths: dict[str, Lengths] = {}
    for example in examples:
        counted = lengths.setdefault(example.kind, Lengths())
        row = (
            _dialog(dialogs, example, longest_dialog, counted)
            if example.dialog
            else pieces.row(example, longest, counted)
        )
        if row is not None:
            rows.append(row)
    return Rows(rows, dict(sorted(lengths.items())))
