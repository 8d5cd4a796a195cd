"""A client made of the description by `openapi-python-client`: made, checked by mypy, and used."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from urllib.request import Request, urlopen

from checks import URBAN, URL, run

USE = Path(__file__).with_name("generated_use.py")
FOLDER = Path(tempfile.mkdtemp())
STRICT = "[mypy]\nstrict = True\n[mypy-generated_use]\ndisallow_any_expr = True\n"


def python(*arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(FOLDER)}
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=FOLDER, env=environment
    )
    if done.returncode:
        raise RuntimeError((done.stdout + done.stderr)[-2000:])
    return done.stdout


def made() -> None:
    with urlopen(URL + "/openapi.json", timeout=60) as answer:
        (FOLDER / "openapi.json").write_bytes(answer.read())
    python("-m", "openapi_python_client", "generate", "--path", "openapi.json", "--meta", "none",
           "--output-path", "urbankg_api")  # fmt: skip
    (FOLDER / "urbankg_api/py.typed").touch()


def checked() -> None:
    shutil.copy(USE, FOLDER)
    (FOLDER / "mypy.ini").write_text(STRICT)
    python("-m", "mypy", "generated_use.py")


def used() -> None:
    subject = "https://w3id.org/urbankg/id/clock-museum"
    wrong = {"type": "literal", "value": "rather high"}
    body = {"statements": [{"subject": subject, "predicate": URBAN + "height", "object": wrong}]}
    sent = Request(URL + "/candidates", json.dumps(body).encode(), {"Content-Type": "application/json"})
    urlopen(sent, timeout=60).close()
    found = python("generated_use.py", URL)
    for part in ("1931", "Height", "Clock Museum"):
        if part not in found:
            raise AssertionError(f"{part} is not in: {found}")


try:
    run(
        "openapi-python-client",
        version("openapi-python-client"),
        {
            "a client is made": made,
            "`mypy --strict` finds no `Any` in its use": checked,
            "it calls extraction, review, a decision and ask": used,
        },
    )
finally:
    shutil.rmtree(FOLDER)
