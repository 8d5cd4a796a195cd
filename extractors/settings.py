"""What can be set about extraction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from extractors.models.chat import PromptProfile
from extractors.prompting.methods import FAST, FormParts, Method
from extractors.text.chunking import ChunkSize
from extractors.text.cleaning import MAXIMUM_CHARACTERS


@dataclass(frozen=True)
class ProfileSettings:
    """The sizes of prompts and replies for a kind of model.

    `maximum_tokens` bounds a reply. Methods that show a part of the ontology show `maximum_classes` classes
    and `maximum_properties` relations; the others show all of it, up to `maximum_knowledge` characters.
    """

    chunk_size: ChunkSize
    maximum_tokens: int
    maximum_classes: int = 20
    maximum_properties: int = 20
    maximum_knowledge: int = 40_000


def _profiles() -> Mapping[PromptProfile, ProfileSettings]:
    """The compact windows are as long as the texts of the training; the full ones hold some sixteen facts."""
    return {
        "compact": ProfileSettings(ChunkSize(sentences=2, words=60), maximum_tokens=640),
        "full": ProfileSettings(ChunkSize(sentences=6, words=150), maximum_tokens=2048),
    }


@dataclass(frozen=True)
class FormSettings:
    """Settings of the form.

    A field whose answer is less probable than `least_presence` is left empty, and a pair in it that is less
    probable than `least_score`, word for word, is passed over; both were chosen on half of Text2KGBench's
    dev sentences. `maximum_properties` relations are asked, those that fit the text best; an answer has at
    most `maximum_tokens` tokens. `kinds`: ask what kind of thing each name is as well. `parts` are what else
    a form shows and allows.
    """

    chunk_size: ChunkSize = field(default_factory=lambda: ChunkSize(sentences=2, words=60))
    least_presence: float = 0.4
    least_score: float = 0.1
    maximum_properties: int = 16
    maximum_tokens: int = 96
    kinds: bool = True
    parts: FormParts = field(default_factory=FormParts)


@dataclass(frozen=True)
class ExtractionSettings:
    """What can be set about extraction.

    `base` is the IRI under which entities are minted. `languages` are the ISO 639-1 codes that texts may be
    in (empty: any); the first one tags the labels of new entities. `prompts` is a folder whose templates
    replace ours, `method` how texts are read unless a request names another, and each chunk is read `samples`
    times. `implied_kinds`: a new name of no kind gets the one that a relation's domain or range leaves it.
    After a broken reply the request is repeated once at `retry_temperature`. After `time_limit_s` seconds
    what was read so far is returned (None: no limit).
    """

    base: str = "https://w3id.org/urbankg/id/"
    languages: tuple[str, ...] = ("en",)
    maximum_characters: int = MAXIMUM_CHARACTERS
    minimum_confidence: float = 0.0
    implied_kinds: bool = True
    concurrency: int = 4
    retry_temperature: float = 0.3
    prompts: Path | None = None
    method: Method = FAST
    samples: int = 1
    profiles: Mapping[PromptProfile, ProfileSettings] = field(default_factory=_profiles)
    form: FormSettings = field(default_factory=FormSettings)
    time_limit_s: float | None = None
