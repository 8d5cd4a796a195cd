"""Reading a window with one question: the snippet of the ontology and the text in, triples as JSON out."""

from __future__ import annotations

from extractors.models.chat import ChatModel
from extractors.prompting.prompt import extraction_prompt, load_prompt
from extractors.readers.asking import Asking, Question
from extractors.readers.reading import Reading
from extractors.settings import ExtractionSettings
from extractors.text.chunking import ChunkSize
from ontology.schema import Schema

__all__ = ["SingleTurn"]

_STAGE = "triples"
_PROMPT = "extract-full"


class SingleTurn:
    """Asks one question a window, and once more when the reply is broken."""

    def __init__(self, model: ChatModel, settings: ExtractionSettings) -> None:
        """Read the prompt; raises `PromptError`."""
        self._profile = settings.profiles[model.prompt_profile]
        self._asking = Asking(
            model,
            maximum_tokens=self._profile.maximum_tokens,
            retry_temperature=settings.retry_temperature,
        )
        self._prompt = load_prompt(_PROMPT, settings.prompts)

    @property
    def prompt_version(self) -> str:
        """The template's name and hash."""
        return self._prompt.version

    @property
    def chunk_size(self) -> ChunkSize:
        """As much as the model's profile allows."""
        return self._profile.chunk_size

    async def read(self, window_text: str, schema: Schema) -> Reading:
        """Ask about one window; keep what a cut-off reply still says."""
        asked = extraction_prompt(
            self._prompt,
            schema,
            window_text,
            maximum_classes=self._profile.maximum_classes,
            maximum_properties=self._profile.maximum_properties,
        )
        return await self._asking.triples(Question(_STAGE, asked.version, asked.messages, asked.schema))
