"""The marker of the last commit, in the remote store and as this server remembers it.

An update that must be applied exactly once requires the marker of the commit before it, and writes its own.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Sequence

from pyoxigraph import NamedNode, Quad

from sparql.model.errors import (
    RemoteConflict,
    RemoteError,
    RemoteRefused,
    RemoteUndecided,
    RemoteUnreachable,
)
from sparql.model.vocabulary import STATE, UKG
from sparql.remote.address import RemoteAddress
from sparql.remote.commits import marker, read_marker
from sparql.remote.endpoint import ConnectionLost, Endpoint
from sparql.remote.pending import PendingCommit
from sparql.storage.embedded_store import EmbeddedStore

_log = logging.getLogger("urbankg.store")


class CommitMarker:
    """`commit` is the current commit of the store at `address`; it is remembered in `local`.

    After an update whose response was lost, the store is asked for its state after each of
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
        """Find out the store's commit; a store without a marker gets one.

        `undecided` means that the result of the last commit is unknown.
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
                    "it, or the folder was restored. Its current state is used.",
                    self._address.query_url,
                )
            self._know(held)
        self.commit = held

    def held(self) -> NamedNode | None:
        """The commit whose marker the store holds now."""
        return read_marker(self._endpoint)

    def apply(self, text: str, pending: PendingCommit) -> None:
        """Send the update until the marker shows that it is applied."""
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
                raise RemoteRefused(url, 200, "it reported success, but did not carry out the update")
        raise RemoteUndecided(url, str(problem))

    def _held_after(self, refusal: RemoteRefused) -> NamedNode | None:
        try:
            return read_marker(self._endpoint)
        except RemoteError as error:
            raise RemoteUndecided(self._address.update_url, f"{refusal.reply}; then {error}") from error

    def rule_out(self, pending: PendingCommit) -> NamedNode | None:
        """Move the marker on, so that a late update does nothing; returns the marker afterwards."""
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
        """Remember the store's commit, without a new revision."""
        known = list(self._local.match_quads(UKG.store, UKG.commit, None, STATE))
        self._local.graph.extend([self.stamp(commit)])
        for quad in known:
            if quad.object != commit:
                self._local.graph.remove(quad)

    @staticmethod
    def stamp(commit: NamedNode) -> Quad:
        """The quad of the local store that records a commit."""
        return Quad(UKG.store, UKG.commit, commit, STATE)


def new_commit() -> NamedNode:
    """A unique name for a commit."""
    return NamedNode(f"urn:uuid:{uuid.uuid4()}")
