"""The endpoints that federated tests name, played by stores in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyoxigraph
from pyoxigraph import QueryResultsFormat, QuerySolutions, Triple

from sparql.model.errors import FetchFailed
from sparql.protocol.federation import localize
from sparql.syntax.request_facts import facts_of

NO_SOLUTIONS = b'{"head":{"vars":[]},"results":{"bindings":[]}}'


@dataclass(frozen=True)
class Elsewhere:
    """Where SERVICE fetches from; ``empty`` endpoints exist everywhere and know nothing."""

    endpoints: Mapping[str, pyoxigraph.Store] = field(default_factory=dict)
    empty: bool = False

    async def results(self, endpoint: str, query: str) -> bytes:
        """What an endpoint answers. Raises FetchFailed where there is none."""
        store = self.endpoints.get(endpoint)
        if store is not None:
            # An endpoint may ask another one in turn; the engine itself reaches nowhere.
            local = (await localize(query, self)).text
            facts_of(local).refuse_remote_access()
            found = store.query(local)
            assert isinstance(found, QuerySolutions)
            return found.serialize(format=QueryResultsFormat.JSON) or NO_SOLUTIONS
        if self.empty:
            return NO_SOLUTIONS
        raise FetchFailed(endpoint, "there is no such endpoint")

    async def triples(self, document: str) -> Sequence[Triple]:
        """No document is there. Raises FetchFailed."""
        raise FetchFailed(document, "there is no such document")
