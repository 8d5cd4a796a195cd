"""Reading a window with one question: the snippet of the ontology and the text in, triples as JSON out."""

from __future__ import annotations

from extractors.errors import ModelError, ModelReplyError, ModelTimeout, ModelUnavailable
from extractors.models.chat import ChatModel, Reply
from extractors.prompting import ExtractionPrompt, extraction_prompt, load_prompt, prompt_name
from extractors.readers.reading import Reading, Turn
from extractors.reply import ParsedReply, parse
from extractors.settings import ExtractionSettings
from extractors.windows import WindowSize
from ontology.schema import Schema

__all__ = ["SingleTurn"]

_STAGE = "triples"


class SingleTurn:
    """Asks with the prompt of the model's profile, and once more when the reply is broken."""

    def __init__(self, model: ChatModel, settings: ExtractionSettings) -> None:
        """Read the prompt; raises `PromptError`."""
        self._model = model
        self._profile = settings.profiles[model.prompt_profile]
        self._temperatures = (0.0, settings.retry_temperature)
        self._prompt = load_prompt(prompt_name(model.prompt_profile), settings.prompts)

    @property
    def prompt_version(self) -> str:
        """The template's name and hash."""
        return self._prompt.version

    @property
    def window(self) -> WindowSize:
        """As much as the model's profile allows."""
        return self._profile.window

    async def read(self, window_text: str, schema: Schema) -> Reading:
        """Ask about one window; keep what a cut-off reply still says."""
        question = extraction_prompt(
            self._prompt,
            schema,
            window_text,
            maximum_classes=self._profile.maximum_classes,
            maximum_properties=self._profile.maximum_properties,
        )
        turns: list[Turn] = []
        failure: ModelError | None = None
        for temperature in self._temperatures:
            reply: Reply | None = None
            try:
                reply, refusal = await self._complete(question, temperature)
                parsed = parse(reply)
                if parsed.truncated and not parsed.triples:
                    raise ModelReplyError(_cut_off(parsed), reply.text)
            except (ModelUnavailable, ModelTimeout):
                raise
            except ModelError as error:
                failure = error
                turns.append(_turn(question, reply, str(error)))
                if not isinstance(error, ModelReplyError):
                    break
                continue
            flaw = refusal or (_cut_off(parsed) if parsed.truncated else None)
            return Reading(parsed.triples, (*turns, _turn(question, reply, flaw)))
        return Reading((), tuple(turns), failure)

    async def _complete(self, question: ExtractionPrompt, temperature: float) -> tuple[Reply, str | None]:
        """Get a reply; one that the adapter refused, but that holds whole triples, comes with the reason."""
        try:
            reply = await self._model.complete(
                question.messages,
                schema=question.schema,
                max_tokens=self._profile.maximum_tokens,
                temperature=temperature,
            )
        except ModelReplyError as error:
            refused = Reply(error.reply, "length", 0, 0, 0.0, self._model.name, None)
            try:
                usable = bool(parse(refused).triples)
            except ModelReplyError:
                usable = False
            if not usable:
                raise
            return refused, str(error)
        return reply, None


def _turn(question: ExtractionPrompt, reply: Reply | None, error: str | None) -> Turn:
    return Turn(_STAGE, question.version, question.messages, reply, error)


def _cut_off(parsed: ParsedReply) -> str:
    return (
        f"The model's reply was cut off; {len(parsed.triples)} complete triples were read from it: raise "
        "maximum_tokens, or make the windows smaller."
    )
