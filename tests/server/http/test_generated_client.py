"""Models that a generator makes of the description: a client uses them without a cast."""

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

USE = """
import httpx
from models import AskAnswer, ExtractionAnswer, ReviewItems

def extract(client: httpx.Client, text: str) -> list[str]:
    answer = ExtractionAnswer.model_validate_json(client.post("/extractions", json={"text": text}).content)
    return [f"{one.subject} {one.predicate} {one.object.value}" for one in answer.accepted]

def waiting(client: httpx.Client) -> list[str]:
    page = ReviewItems.model_validate_json(client.get("/review").content)
    return [violation.message for item in page.items for violation in item.violations]

def ask(client: httpx.Client, question: str) -> str:
    answer = AskAnswer.model_validate_json(client.post("/ask", json={"question": question}).content)
    return answer.answer or " ".join(gap.message for gap in answer.gaps)
"""


@pytest.mark.slow
async def test_models_are_generated_and_used_without_a_cast(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    description = tmp_path / "openapi.json"
    description.write_text(json.dumps((await client.get("/openapi.json")).json()))
    (tmp_path / "use.py").write_text(USE)
    generate = [sys.executable, "-m", "datamodel_code_generator", "--input", str(description)]
    generate += ["--input-file-type", "openapi", "--output", str(tmp_path / "models.py")]
    generate += ["--output-model-type", "pydantic_v2.BaseModel", "--use-annotated"]
    generate += ["--set-default-enum-member", "--formatters", "builtin"]
    subprocess.run(generate, check=True, timeout=300)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "use.py", "models.py"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert checked.returncode == 0, checked.stdout
