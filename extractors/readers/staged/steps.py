"""A dialog in steps: each step's words go to the model after all before them, the last step gives triples.

One question, the chain of thought (entities, relations, mapping; Nie et al., 3.3) and a view (types, then
triplets; UrbanKGent, 4.2.1) are such dialogs with different steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from extractors.models.chat import Message
from extractors.prompting.methods import PromptFormat
from extractors.prompting.templates import Prompt
from extractors.readers.asking import Asking, Question
from extractors.readers.reading import Reading, Turn

__all__ = ["Dialog", "Step", "as_sent"]


@dataclass(frozen=True)
class Step:
    """A turn of a dialog. An example answers it if the template has a section for the answer."""

    stage: str
    prompt: Prompt

    def shown(self, values: Mapping[str, str], answer: str) -> tuple[Message, ...]:
        """The step as an example shows it: question and answer; nothing where there is no such answer.

        An example has a small ontology of its own, which is not that of the system message: it stands before
        the first question.
        """
        if all(role != "assistant" for role, _ in self.prompt.sections):
            return ()
        return self.prompt.messages({**values, "answer": answer}, "user", "assistant")

    def asked(self, values: Mapping[str, str]) -> tuple[Message, ...]:
        """The step's prompt."""
        return self.prompt.messages(values, "user")


@dataclass(frozen=True)
class Dialog:
    """The steps of a reading and their introduction; `block` renders them as one message."""

    rules: Prompt
    steps: Sequence[Step]
    block: Prompt
    format: PromptFormat

    async def read(
        self,
        asking: Asking,
        values: Mapping[str, str],
        examples: Sequence[tuple[Mapping[str, str], Mapping[str, str]]],
        reply_schema: Mapping[str, Any],
        note: str = "",
    ) -> tuple[Reading, Mapping[str, str]]:
        """Go through the steps; `examples` are the values and the answers by stage of each.

        `note` is added to the prompt's name in the trace. Gives what the model said at each stage before the
        last too. A step without a usable reply ends it.
        """
        dialog = list(self.rules.messages(values))
        for example, answers in examples:
            for step in self.steps:
                shown = step.shown(example, answers.get(step.stage, ""))
                if shown and step is self.steps[0]:
                    lead = f"An example, with an ontology of its own.\n{example['knowledge']}\n\n"
                    shown = (Message("user", lead + shown[0].content), *shown[1:])
                dialog += shown
        turns: list[Turn] = []
        said: dict[str, str] = {}
        *before, last = self.steps
        for step in before:
            dialog += step.asked(values)
            words = await asking.words(self._question(step, dialog, note))
            turns += words.turns
            if words.failure is not None:
                return Reading((), tuple(turns), words.failure), said
            said[step.stage] = words.text
            dialog.append(Message("assistant", words.text))
        dialog += last.asked(values)
        reading = await asking.triples(self._question(last, dialog, note, reply_schema))
        return Reading(reading.triples, (*turns, *reading.turns), reading.failure), said

    def _question(
        self, step: Step, dialog: Sequence[Message], note: str, schema: Mapping[str, Any] | None = None
    ) -> Question:
        return Question(
            step.stage, step.prompt.version + note, as_sent(dialog, self.format, self.block), schema
        )


def as_sent(dialog: Sequence[Message], form: PromptFormat, block: Prompt) -> tuple[Message, ...]:
    """The dialog as turns (ICL), or as one block in one message (Context; Nie et al., figure 3)."""
    if form == "icl":
        return tuple(dialog)
    parts = [
        rendered.content
        for message in dialog
        for rendered in block.messages({"content": message.content}, message.role)
    ]
    return (Message("user", "\n\n".join(parts)),)
