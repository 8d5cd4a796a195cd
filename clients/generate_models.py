"""Writes the models of the Python client: `python -m clients.generate_models URL` of a running server."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

MODELS = Path(__file__).parent / "python/urbankg_client/models.py"
USED = (
    "AskAnswer",
    "DecisionAnswer",
    "ExtractionAnswer",
    "GraphWritten",
    "Health",
    "Job",
    "JobDocument",
    "JobDocumentPage",
    "JobPage",
    "ReviewItems",
    "ShownReviewItem",
    "SparqlResults",
    "SuggestedCorrections",
    "SuggestionsAnswer",
    "UpdateAnswer",
)
"""What the client's calls answer; the models that these name are added."""
_HEAD = '"""Models of the server\'s answers, made of its description by `clients/generate_models.py`."""'


def models(description: dict[str, Any]) -> str:
    """The models that the client uses, as Python."""
    known = description["components"]["schemas"]
    wanted = list(USED)
    for name in wanted:
        wanted += [other for other in _named_in(known[name]) if other not in wanted]
    part = {
        "openapi": "3.1.0",
        "info": {"title": "UrbanKG", "version": "1"},
        "paths": {},
        "components": {"schemas": {name: _without_titles(known[name]) for name in sorted(wanted)}},
    }
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "openapi.json"), Path(folder, "models.py")
        source.write_text(json.dumps(part), encoding="utf-8")
        command = [sys.executable, "-m", "datamodel_code_generator", "--input", str(source)]
        command += ["--input-file-type", "openapi", "--output", str(target)]
        command += ["--output-model-type", "pydantic_v2.BaseModel", "--target-python-version", "3.11"]
        command += ["--use-annotated", "--set-default-enum-member", "--enum-field-as-literal", "all"]
        command += ["--use-schema-description", "--disable-timestamp", "--custom-file-header", _HEAD]
        command += [
            "--use-union-operator",
            "--use-standard-collections",
        ]
        command += ["--formatters", "builtin"]
        subprocess.run(command, check=True, timeout=300)
        configuration = str(Path(__file__).parents[1] / "pyproject.toml")
        ruff = [sys.executable, "-m", "ruff"]
        for step in (["check", "--fix", "--quiet"], ["format", "--quiet"]):
            subprocess.run([*ruff, *step, "--config", configuration, str(target)], check=step[0] == "format")
        return target.read_text(encoding="utf-8")


def _without_titles(schema: Any) -> Any:
    """The schema without titles, which only repeat the names."""
    if isinstance(schema, dict):
        return {
            key: _without_titles(part)
            for key, part in schema.items()
            if not (key == "title" and isinstance(part, str))
        }
    return [_without_titles(part) for part in schema] if isinstance(schema, list) else schema


def _named_in(schema: Any) -> Iterator[str]:
    """The names of the schemas that a schema refers to."""
    if isinstance(schema, dict):
        if isinstance(name := schema.get("$ref"), str):
            yield name.rpartition("/")[2]
        for part in schema.values():
            yield from _named_in(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _named_in(part)


if __name__ == "__main__":
    MODELS.write_text(models(httpx.get(sys.argv[1] + "/openapi.json", timeout=120).json()), encoding="utf-8")
