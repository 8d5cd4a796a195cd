"""Models that a generator makes of the description: a client uses them without a cast or `Any`."""

import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from urbankg_client import Client, NewStatement, iri, literal

from tests.support.running_server import RunningServer

URBAN = "https://w3id.org/urbankg/urban#"
HALL = "https://example.org/generated/hall"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
USE = """
import sys

import httpx
from models import AskAnswer, AskRequest, ExtractionAnswer, ExtractionRequest, ReviewItems

client = httpx.Client(base_url=sys.argv[1], timeout=120)

def send(path: str, body: AskRequest | ExtractionRequest) -> bytes:
    sent = body.model_dump_json(exclude_unset=True)
    return client.post(path, content=sent, headers={"content-type": "application/json"}).content

def extract(text: str) -> list[str]:
    answer = ExtractionAnswer.model_validate_json(send("/extractions", ExtractionRequest(text=text)))
    return [f"{one.predicate} {one.object.value}" for one in answer.accepted]

def waiting() -> list[str]:
    page = ReviewItems.model_validate_json(client.get("/review", params={"text": "skyward"}).content)
    return [violation.message for item in page.items for violation in item.violations]

def ask(question: str) -> str:
    answer = AskAnswer.model_validate_json(send("/ask", AskRequest(question=question)))
    return answer.answer or " ".join(gap.message for gap in answer.gaps)

print("extracted", *extract("Bowne Hall opened in 1931."))
print("waiting", *waiting())
print("asked", ask("Which museums are there?"))
"""


@pytest.mark.slow
def test_models_are_generated_and_used_without_a_cast(own_server: RunningServer, tmp_path: Path) -> None:
    with Client(own_server.url) as graph:
        hall = [
            NewStatement(HALL, TYPE, iri(URBAN + "Museum")),
            NewStatement(HALL, LABEL, literal("Bowne Hall")),
        ]
        graph.candidates([*hall, NewStatement(HALL, URBAN + "height", literal("skyward"))])
    description = tmp_path / "openapi.json"
    description.write_text(httpx.get(own_server.url + "/openapi.json", timeout=60).text)
    (tmp_path / "use.py").write_text(USE)
    generate = [sys.executable, "-m", "datamodel_code_generator", "--input", str(description)]
    generate += ["--input-file-type", "openapi", "--output", str(tmp_path / "models.py")]
    generate += ["--output-model-type", "pydantic_v2.BaseModel", "--use-annotated"]
    generate += ["--set-default-enum-member", "--formatters", "builtin"]
    subprocess.run(generate, check=True, timeout=300)
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\nstrict = True\nenable_error_code = redundant-cast\n[mypy-use]\ndisallow_any_expr = True\n"
    )
    for command in (["-m", "mypy", "use.py", "models.py"], ["use.py", own_server.url]):
        done = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, check=False, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stdout + done.stderr
    extracted, waiting, asked = done.stdout.splitlines()
    assert "1931" in extracted
    assert "Height" in waiting
    assert "Bowne Hall" in asked
