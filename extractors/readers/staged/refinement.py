"""Iterative self-refinement: a verifier suggests, an updater follows, until nothing is to be improved.

UrbanKGent, 4.3.3. It ends when the verifier's last sentence is the faithful verdict, never at a bare "yes",
or after so many rounds; the last trajectory is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from extractors.models.chat import Message
from extractors.prompting.methods import PromptFormat
from extractors.prompting.reply import ReplyTriple
from extractors.prompting.templates import Prompt
from extractors.readers.asking import Asking, Question
from extractors.readers.reading import Reading
from extractors.readers.staged.steps import as_sent
from extractors.readers.verdicts import is_faithful

__all__ = ["Refinement"]


@dataclass(frozen=True)
class Refinement:
    """The rounds of verifying and updating, with their prompts."""

    rounds: int
    rules: Prompt
    verify: Prompt
    update: Prompt
    block: Prompt
    format: PromptFormat

    async def refine(
        self,
        asking: Asking,
        reading: Reading,
        values: Mapping[str, str],
        reply_schema: Mapping[str, Any],
        findings: Sequence[str],
    ) -> Reading:
        """Refine a reading; a round without a usable reply ends it with what was there before.

        `findings` are conflicts of the first triples with the ontology, passed to the first verifier.
        """
        triples, turns = reading.triples, list(reading.turns)
        for _ in range(self.rounds):
            dialog = [
                *self.rules.messages(values),
                *self.verify.messages(
                    {**values, "triples": _listed(triples), "findings": _numbered(findings)}
                ),
            ]
            verdict = await asking.words(self._question("verify", self.verify, dialog))
            turns += verdict.turns
            if verdict.failure is not None or is_faithful(verdict.text):
                break
            dialog += [Message("assistant", verdict.text), *self.update.messages({})]
            updated = await asking.triples(self._question("update", self.update, dialog, reply_schema))
            turns += updated.turns
            if updated.failure is not None:
                break
            triples, findings = updated.triples, ()
        return Reading(triples, tuple(turns), reading.failure)

    def _question(
        self, stage: str, prompt: Prompt, dialog: Sequence[Message], schema: Mapping[str, Any] | None = None
    ) -> Question:
        return Question(stage, prompt.version, as_sent(dialog, self.format, self.block), schema)


def _listed(triples: Sequence[ReplyTriple]) -> str:
    return "\n".join(f"- {one.subject} | {one.relation} | {one.object}" for one in triples) or "none"


def _numbered(findings: Sequence[str]) -> str:
    return (
        "\n".join(["", "What the ontology says against them:", *(f"- {one}" for one in findings), ""])
        if findings
        else ""
    )
