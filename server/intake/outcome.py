"""The result of a text or of a client's statements, as the routes answer it, and the trace of an extraction.

A trace is one literal of the run in the provenance graph, so it is part of the statements' commit and is
deleted with the document. Text that several messages share, such as a prompt's start, is stored once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pyoxigraph import NamedNode, Triple

from extractors.candidates import Entity, Extraction
from extractors.readers.reading import costs, turn_json
from server.errors import UnknownResource
from server.http.reporting.statements import rejection_json, statement_json
from sparql.model.change import Verdict
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import PROV, PROVENANCE, RECORD, UKG
from sparql.provenance.records import EvidenceReader, Support

_RUN = RECORD.term("run/").value


def trace_json(extraction: Extraction) -> dict[str, Any]:
    """Every prompt and every reply of an extraction."""
    return {
        "model": extraction.model,
        "adapter": extraction.adapter,
        "prompt_version": extraction.prompt_version,
        "method": extraction.method,
        "seconds": round(extraction.seconds, 3),
        "stages": [{"stage": stage, **cost.json()} for stage, cost in costs(extraction.windows).items()],
        "windows": [
            {"start": window.start, "end": window.end, **turn_json(window)} for window in extraction.windows
        ],
    }


def packed(trace: Mapping[str, Any], most_characters: int) -> str:
    """A trace as it is stored: each text once, shortened to `most_characters`."""
    texts: dict[str, int] = {}

    def place(text: str) -> int:
        return texts.setdefault(shortened(text, most_characters), len(texts))

    turns = [
        {
            **turn,
            "messages": [[message["role"], place(message["content"])] for message in turn["messages"]],
            "reply": None if turn["reply"] is None else shortened(turn["reply"], most_characters),
        }
        for turn in trace["windows"]
    ]
    return json.dumps({**trace, "windows": turns, "texts": list(texts)}, ensure_ascii=False)


def unpacked(stored: str) -> dict[str, Any]:
    """A stored trace as `trace_json` gave it, except for shortened texts."""
    trace: dict[str, Any] = json.loads(stored)
    texts = trace.pop("texts", None)
    if texts is not None:
        for turn in trace["windows"]:
            turn["messages"] = [{"role": role, "content": texts[number]} for role, number in turn["messages"]]
    return trace


def shortened(text: str, most_characters: int) -> str:
    """The text, or its beginning and end with a note of what was left out."""
    if len(text) <= most_characters:
        return text
    half = most_characters // 2
    return f"{text[:half]} [... {len(text) - 2 * half} characters left out ...] {text[len(text) - half :]}"


class Traces:
    """Reads the extractions that the provenance graph knows of, with their traces."""

    def __init__(self, store: TripleStore) -> None:
        self._store = store
        self._evidence = EvidenceReader(store)

    def latest(self, offset: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
        """How many extractions there are, and a page of them, the last first."""
        quads = self._store.match_quads(None, UKG.promptVersion, None, PROVENANCE)
        runs = {quad.subject for quad in quads if isinstance(quad.subject, NamedNode)}
        dated = sorted((self._evidence.text(run, PROV.startedAtTime) or "", run.value) for run in runs)
        page = [NamedNode(name) for _, name in dated[::-1][offset : offset + limit]]
        return len(runs), [self._facts(run) for run in page]

    def get(self, identifier: str) -> dict[str, Any]:
        """An extraction with its trace. Raises `UnknownResource` where there is none."""
        run = NamedNode(_RUN + identifier) if identifier.isalnum() else None
        if run is None or self._evidence.text(run, UKG.promptVersion) is None:
            raise UnknownResource(
                f"No extraction '{identifier[:80]}' is in the graph: one that was only tried (commit false), "
                "or whose document was removed, leaves none. GET /extractions lists those there are."
            )
        stored = self._evidence.text(run, UKG.trace)
        return {**self._facts(run), "trace": None if stored is None else unpacked(stored)}

    def _facts(self, run: NamedNode) -> dict[str, Any]:
        def text(predicate: NamedNode) -> str | None:
            return self._evidence.text(run, predicate)

        document = self._evidence.document_of(run)
        return {
            "id": run.value.removeprefix(_RUN),
            "started": text(PROV.startedAtTime),
            "ended": text(PROV.endedAtTime),
            "document": None if document is None else document.value,
            "source": self._evidence.source_of(run),
            "model": text(UKG.model),
            "adapter": text(UKG.adapter),
            "prompt_version": text(UKG.promptVersion),
            "ontology_version": text(UKG.ontologyVersion),
            "shapes_version": text(UKG.shapesVersion),
        }


@dataclass(frozen=True)
class Outcome:
    """The result of one text or one submission."""

    identifier: str
    verdict: Verdict
    supports: Mapping[Triple, Support]
    extraction: Extraction | None = None
    usage: Mapping[str, Any] | None = None

    @property
    def incomplete(self) -> dict[str, Any] | None:
        """Why not all of the text was read, and from which code point on; None where it was."""
        found = None if self.extraction is None else self.extraction.incomplete
        return None if found is None else asdict(found)

    def json(self) -> dict[str, Any]:
        """The answer of `POST /extractions` and `POST /candidates`."""
        verdict = self.verdict
        return {
            "id": self.identifier,
            "accepted": [statement_json(s.triple, self.supports.get(s.triple)) for s in verdict.accepted],
            "rejected": [
                rejection_json(rejection, self.supports.get(rejection.statement.triple))
                for rejection in verdict.rejected
            ],
            "warnings": [
                rejection_json(rejection, self.supports.get(rejection.statement.triple))
                for rejection in verdict.warnings
            ],
            "replaced": [statement_json(old) for _, old in sorted(verdict.replaced, key=str)],
            "derived": len(verdict.derived.additions),
            "revision": verdict.revision,
            "entities": [] if self.extraction is None else [_entity(e) for e in self.extraction.entities],
            "usage": self.usage,
            "incomplete": self.incomplete,
            "trace": None if self.extraction is None else trace_json(self.extraction),
        }


def _entity(entity: Entity) -> dict[str, Any]:
    return {
        "iri": entity.iri.value,
        "label": entity.label,
        "classes": [class_.value for class_ in entity.classes],
        "new": entity.new,
        "mentions": [{"start": m.start, "end": m.end, "quote": m.quote} for m in entity.mentions],
    }
