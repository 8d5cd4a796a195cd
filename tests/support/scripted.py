"""A model that answers from a script, and a small city of names, for the tests of extraction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from extractors.candidates import Candidate, Extraction
from extractors.models.chat import Message, PromptProfile, Reply, Token
from extractors.pipeline import Pipeline
from extractors.prompting.methods import METHODS
from extractors.settings import ExtractionSettings, ProfileSettings
from extractors.text.chunking import ChunkSize
from ontology.schema import Schema
from sparql.names.labels import LabelIndex

ONTOLOGY = Path(__file__).parents[2] / "ontology"
URBAN = "https://w3id.org/urbankg/urban#"
KNOWN = "https://example.org/city/"
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
RDFS_LABEL = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
ALT_LABEL = NamedNode("http://www.w3.org/2004/02/skos/core#altLabel")

COLUMBIA = (
    "Columbia University is a private Ivy League research university in New York City. Established in 1754 "
    "as King's College on the grounds of Trinity Church in Manhattan, it is the oldest institution of higher "
    "education in New York."
)
COLUMBIA_TRIPLES = [
    ("Columbia University", "is a", "private Ivy League research university"),
    ("Columbia University", "located in", "New York City"),
    ("Columbia University", "established", "1754"),
    ("Columbia University", "former name", "King's College"),
    ("Trinity Church", "located in", "Manhattan"),
]


def urban(name: str) -> NamedNode:
    return NamedNode(URBAN + name)


def known(name: str) -> NamedNode:
    return NamedNode(KNOWN + name)


def xsd(value: str, datatype: str) -> Literal:
    return Literal(value, datatype=NamedNode(XSD + datatype))


def english(words: str) -> Literal:
    return Literal(words, language="en")


def reply(
    triples: Iterable[tuple[str, str, str]], *, tokens: tuple[Token, ...] = (), finish: str = "stop"
) -> Reply:
    rows = [{"subject": s, "relation": r, "object": o} for s, r, o in triples]
    return words(json.dumps({"triples": rows}, ensure_ascii=False), tokens=tokens, finish=finish)


def words(text: str, *, tokens: tuple[Token, ...] = (), finish: str = "stop") -> Reply:
    return Reply(text, finish, 100, 50, 0.1, "scripted", "test-adapter", tokens)


class ScriptedModel:
    """Answers each question with the next entry of its script, or raises it; keeps what it was asked."""

    name = "scripted"

    def __init__(self, *script: Reply | Exception, profile: PromptProfile = "full") -> None:
        self.prompt_profile: PromptProfile = profile
        self.script = list(script)
        self.asked: list[tuple[tuple[Message, ...], Mapping[str, Any] | None, float]] = []

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        self.asked.append((tuple(messages), schema, temperature))
        answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        """Nothing to let go of."""


def city_labels() -> LabelIndex:
    """The names of a few places: New York City (also New York), Manhattan, Brooklyn and two Springfields."""
    named = [
        ("new-york-city", "City", "New York City", ["New York", "NYC"]),
        ("manhattan", "Borough", "Manhattan", []),
        ("brooklyn", "Borough", "Brooklyn", []),
        ("springfield-gardens", "Neighborhood", "Springfield", []),
        ("springfield-town", "Neighborhood", "Springfield", []),
        ("seven", "SubwayLine", "7", []),
        ("east-river", "River", "East River", []),
    ]
    quads = []
    for name, kind, label, aliases in named:
        quads.append(Quad(known(name), RDF_TYPE, urban(kind)))
        quads.append(Quad(known(name), RDFS_LABEL, english(label)))
        quads += [Quad(known(name), ALT_LABEL, english(alias)) for alias in aliases]
    index = LabelIndex()
    index.rebuild(quads)
    return index


SMALL_CHUNKS: Mapping[PromptProfile, ProfileSettings] = {
    "full": ProfileSettings(ChunkSize(sentences=2, words=60), maximum_tokens=640),
    "compact": ProfileSettings(ChunkSize(sentences=2, words=60), maximum_tokens=640),
}
"""Two sentences a window, so that a short text has several."""


def pipeline(schema: Schema, model: ScriptedModel, **settings: Any) -> Pipeline:
    settings.setdefault("profiles", SMALL_CHUNKS)
    return Pipeline(schema=schema, labels=city_labels(), model=model, settings=ExtractionSettings(**settings))


def small_pipeline(schema: Schema, model: ScriptedModel, **settings: Any) -> Pipeline:
    """The pipeline for a small model, whose statements all rules judge."""
    model.prompt_profile = "compact"
    settings.setdefault("method", METHODS["zero_shot"])
    return pipeline(schema, model, **settings)


async def extract(schema: Schema, text: str, *triples: tuple[str, str, str], **options: Any) -> Extraction:
    """What the pipeline makes of a text of which a small model says these triples."""
    return await small_pipeline(schema, ScriptedModel(reply(triples)), **options).extract(text)


def by_predicate(extraction: Extraction, predicate: NamedNode) -> Candidate:
    (found,) = (c for c in extraction.candidates if c.predicate == predicate)
    return found


def rules(candidate: Candidate) -> list[NamedNode]:
    return [problem.rule for problem in candidate.problems]
