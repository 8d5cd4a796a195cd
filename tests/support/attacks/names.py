"""Names of files that lead elsewhere, or that no file system takes."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.support.attacks.attack import Result, Target

GROUP = "file names"
_NAMES = (
    "..%2F..%2Fetc%2Fpasswd.ttl",
    "..%2Fevil.ttl",
    "%2Fetc%2Fevil.ttl",
    "..%5Cevil.ttl",
    "%2e%2e%2fevil.ttl",
    "../../evil.ttl",
    ".evil.ttl",
    "a%00.ttl",
    "a%0A.ttl",
    "a" * 300 + ".ttl",
    "%F0%9F%8C%8D" * 80 + ".ttl",
    "%ED%A0%80.ttl",
    "evil.sh",
    "..",
    ".",
    "",
)


def attacks(open_: Target) -> Iterator[Result]:
    """In the routes of ontology and shapes files, and in the paths given to loads and backups."""
    turtle: dict[str, str | bytes] = {"Content-Type": "text/turtle"}
    before = _files(open_)
    for folder in ("shapes", "ontologies"):
        for name in _NAMES:
            statuses = [
                open_.send(method, f"/{folder}/{name}", turtle, b"").status
                for method in ("GET", "PUT", "DELETE")
            ]
            held = all(one is not None and 400 <= one < 500 for one in statuses)
            if name == "":
                # The address of the folder itself: the list of shapes is there.
                held = all(one is not None and one < 500 for one in statuses)
            yield Result(GROUP, f"/{folder}/{name[:30]}", held, f"statuses {statuses}")
    kind: dict[str, str | bytes] = {"Content-Type": "application/json"}
    for path in (
        "/etc/passwd\0.ttl",
        "/" + "a" * 300 + ".ttl",
        "/" + "a/" * 3000 + ".ttl",
        "etc/passwd",
        "~/x.ttl",
    ):
        for route, message in (("/loads", {"files": [path]}), ("/backup", {"folder": path})):
            status = open_.send("POST", route, kind, json.dumps(message).encode()).status
            held = status is not None and 400 <= status < 500
            yield Result(GROUP, f"{route} of {path[:20]!r}", held, f"status {status}")
    made = _files(open_) - before
    yield Result(GROUP, "no file was made", not made, ", ".join(sorted(made)))
    yield open_.alive(GROUP)


def _files(open_: Target) -> set[str]:
    """What is in the server's folders of rules and beside them."""
    folders = (open_.folder, open_.folder / "ontology", open_.folder / "shapes")
    return {str(path) for folder in folders for path in folder.iterdir()}
