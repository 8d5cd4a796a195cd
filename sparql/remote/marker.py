"""The marker of the last commit: where the remote store is, and where this server knows it to be.

An update that must not be lost or done twice finds the marker of the commit before it, and leaves its own.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Sequence

from pyoxigraph import NamedNode, Quad

from sparql.model.errors import RemoteConflict, RemoteError, RemoteRefused, RemoteUndecided, RemoteUnreachable
from sparql.model.vocabulary import STATE, UKG
from sparql.remote.address import RemoteAddress
from sparql.remote.commits import marker, read_marker
from sparql.remote.endpoint import ConnectionLost, Endpoint
from sparql.remote.pending import PendingCommit
from sparql.storage.embedded_store import EmbeddedStore

_log = logging.getLogger("urbankg.store")


class CommitMarker:
    """`commit` is the one that the store at `address` is at; it is remembered in `local`.

    After an update whose answer was lost the store is asked what became of it, after each of
    `settling_pauses_s`.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        address: RemoteAddress,
        local: EmbeddedStore,
        settling_pauses_s: Sequence[float],
    ) -> None:
        self._endpoint = endpoint
        self._address = address
        self._local = local
        self._settling_pauses_s = settling_pauses_s
        self.commit = new_commit()

    def begin(self, *, undecided: bool) -> None:
        """Find out which commit the store is at; a marker is left in a store that has none.

        With `undecided` it is not known what became of the last commit.
        """
        held, known = read_marker(self._endpoint), self._known()
        if undecided and known is not None:
            self.commit = known
            return
        if held is None:
            held = new_commit()
            try:
                self._endpoint.update(f"INSERT DATA {{ {marker(held)} }}")
            except ConnectionLost as error:
                raise RemoteUnreachable(self._address.update_url, str(error)) from error
        if held != known:
            if known is not None:
                _log.warning(
                    "The store at %s is not at the commit that this folder knows: another server wrote to "
                    "it, or the folder was restored. It is taken as it is.",
                    self._address.query_url,
                )
            self._know(held)
        self.commit = held

    def held(self) -> NamedNode | None:
        """The commit whose marker the store holds now."""
        return read_marker(self._endpoint)

    def apply(self, text: str, pending: PendingCommit) -> None:
        """Send the update until the marker says that it is applied."""
        url = self._address.update_url
        problem: Exception | None = None
        for pause in (0.0, *self._settling_pauses_s):
            time.sleep(pause)
            try:
                self._endpoint.update(text)
                problem = None
            except ConnectionLost as error:
                problem = error
            except RemoteUnreachable as error:
                if problem is None:
                    raise
                problem = error
                continue
            except RemoteRefused as error:
                if self._held_after(error) == pending.before:
                    raise
                problem = error
            try:
                held = read_marker(self._endpoint)
            except RemoteError as error:
                problem = error
                continue
            if held == pending.after:
                return
            if held != pending.before:
                raise RemoteConflict(url)
            if problem is None:
                raise RemoteRefused(url, 200, "it said that it carried the update out, and did not")
        raise RemoteUndecided(url, str(problem))

    def _held_after(self, refusal: RemoteRefused) -> NamedNode | None:
        try:
            return read_marker(self._endpoint)
        except RemoteError as error:
            raise RemoteUndecided(self._address.update_url, f"{refusal.reply}; then {error}") from error

    def rule_out(self, pending: PendingCommit) -> NamedNode | None:
        """Move the marker on, so that an update still on its way finds nothing to do; what is held then."""
        fence = new_commit()
        text = (
            f"DELETE {{ {marker(pending.before)} }} INSERT {{ {marker(fence)} }} "
            f"WHERE {{ {marker(pending.before)} }}"
        )
        try:
            self._endpoint.update(text)
        except ConnectionLost as error:
            raise RemoteUndecided(self._address.update_url, str(error)) from error
        held = read_marker(self._endpoint)
        if held == fence:
            self._know(fence)
            self.commit = fence
        return held

    def _known(self) -> NamedNode | None:
        found = next(self._local.match_quads(UKG.store, UKG.commit, None, STATE), None)
        return found.object if found is not None and isinstance(found.object, NamedNode) else None

    def _know(self, commit: NamedNode) -> None:
        """Remember what the store holds; this is no revision of its own."""
        known = list(self._local.match_quads(UKG.store, UKG.commit, None, STATE))
        self._local.graph.extend([self.stamp(commit)])
        for quad in known:
            if quad.object != commit:
                self._local.graph.remove(quad)

    @staticmethod
    def stamp(commit: NamedNode) -> Quad:
        """The quad of the local store that remembers a commit."""
        return Quad(UKG.store, UKG.commit, commit, STATE)


def new_commit() -> NamedNode:
    """A name for a commit that no other has."""
    return NamedNode(f"urn:uuid:{uuid.uuid4()}")
