"""One attack and its result, and the servers that are attacked."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from server.http.access.keys import Scope
from tests.support.fuzzing.ledger import Answer
from tests.support.fuzzing.target import keys_in
from tests.support.fuzzing.wire import exchange, once, request
from tests.support.running_server import RunningServer

ONE_SCOPE = (Scope.READ, Scope.WRITE, Scope.EXTRACT, Scope.REVIEW, Scope.ADMIN)
_GRAPH = "".join(f"<http://example.org/{n}> <http://example.org/p> {n} .\n" for n in range(300))


@dataclass(frozen=True)
class Result:
    """What came of an attack; `detail` says what was seen."""

    group: str
    name: str
    held: bool
    detail: str = ""

    def line(self) -> str:
        """As it is printed."""
        return f"{'held  ' if self.held else 'FAILED'}  {self.group}: {self.name}  {self.detail}".rstrip()


@dataclass(frozen=True)
class Target:
    """A server: `keys` by scope, where it wants any; `folder` is for files that attacks need."""

    server: RunningServer
    folder: Path
    keys: Mapping[Scope, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Where it listens."""
        return self.server.url

    @property
    def port(self) -> int:
        """The port it listens on."""
        return httpx.URL(self.url).port or 80

    def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str | bytes] | None = None,
        body: bytes = b"",
    ) -> Answer:
        """One request as given, on a connection of its own."""
        return exchange(self.url, once(path, request(method, path, headers, body), method))[0]

    def alive(self, group: str) -> Result:
        """Whether the same process still answers."""
        if self.server.process.poll() is not None:
            return Result(group, "the server lives", held=False, detail="it is gone")
        answer = self.send("GET", "/sparql?query=ASK%7B%7D", self.bearer(Scope.READ))
        return Result(group, "the server lives", answer.status == 200, f"status {answer.status}")

    def bearer(self, scope: Scope) -> dict[str, str | bytes]:
        """The header with the key of that scope; none where no key is needed."""
        return {"Authorization": f"Bearer {self.keys[scope]}"} if self.keys else {}


@contextmanager
def targets() -> Iterator[tuple[Target, Target]]:
    """A server without keys and one whose reads need a key, too, each with a folder of shapes to edit."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="urbankg-hostile-")))
        found = []
        for name in ("open", "keyed"):
            for part in ("ontology", "shapes"):
                (folder / name / part).mkdir(parents=True)
            config = folder / name / "urbankg.toml"
            config.write_text(
                f'log_level = "warning"\nreaders = 1\nopen_reads = {"true" if name == "open" else "false"}\n'
                f'ontology = "{folder / name / "ontology"}"\nshapes = "{folder / name / "shapes"}"\n'
                "query_timeout_s = 10\n"
            )
            keys = {}
            if name == "keyed":
                made = keys_in(folder / name / "data", {scope.value: [scope] for scope in ONE_SCOPE})
                keys = {scope: made[scope.value] for scope in ONE_SCOPE}
            server = RunningServer(folder / name / "data", "--config", str(config))
            stack.enter_context(server)
            found.append(Target(server, folder / name, keys))
        put = httpx.put(
            found[0].url + "/store?default",
            content=_GRAPH,
            headers={"content-type": "text/turtle"},
            timeout=60,
            trust_env=False,
        )
        put.raise_for_status()
        yield found[0], found[1]
