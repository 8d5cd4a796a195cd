"""API keys: made once, kept as hashes, read at every request.

A key is `ukg_<identifier>_<secret>`; the secret is 256 random bits. The database keeps its SHA-256 and
nothing else of it. A slow hash (bcrypt, argon2) protects secrets that people choose, because those can be
guessed; 256 random bits cannot be guessed at any speed, and a slow hash would only slow each request.
The row is found by the identifier, which is no secret, and the hashes are compared in constant time.

A revoked or expired key keeps its row: revoking the last key closes writes, it does not open them again.
"""

import hashlib
import hmac
import re
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from server.errors import KeyNameTaken, KeyUnknown, state_error
from server.state_file import open_state

FILE = "state.sqlite"
KEY_PATTERN = re.compile(r"ukg_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_SECRET_BYTES = 32
_USE_RECORDED_EVERY_S = 60.0
_BUSY_TIMEOUT_S = 5.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS api_key (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, secret_sha256 BLOB NOT NULL, scopes TEXT NOT NULL,
  created REAL NOT NULL, expires REAL, last_used REAL, revoked REAL
) STRICT
"""


class Scope(StrEnum):
    """What a key may do. `admin` includes all the others."""

    READ = "read"
    WRITE = "write"
    EXTRACT = "extract"
    REVIEW = "review"
    ADMIN = "admin"


@dataclass(frozen=True)
class ApiKey:
    """What is known of a key; never its secret. Times are seconds since 1970, UTC."""

    identifier: str
    name: str
    scopes: frozenset[Scope]
    created: float
    expires: float | None = None
    last_used: float | None = None
    revoked: float | None = None

    def allows(self, scope: Scope) -> bool:
        """Whether the key may do what needs this scope."""
        return scope in self.scopes or Scope.ADMIN in self.scopes

    def is_valid(self, now: float) -> bool:
        """Whether it is neither revoked nor expired at that time."""
        return self.revoked is None and (self.expires is None or now < self.expires)


class Authenticator(Protocol):
    """Finds who sends a request. Another one (an identity provider) may replace the key store."""

    def any_key(self) -> bool:
        """Whether a key was ever made: from then on writes need one."""
        ...

    def authenticate(self, token: str) -> ApiKey | None:
        """The key that this token proves, if it is valid now."""
        ...


class NoKeys:
    """Takes every request for one of who runs the command: for a server that nobody else can reach."""

    def any_key(self) -> bool:
        """No key is needed."""
        return False

    def authenticate(self, token: str) -> ApiKey | None:
        """No key is known."""
        return None


class KeyStore:
    """The keys in `FOLDER/state.sqlite`; several processes may hold it open (SQLite in WAL mode).

    A change by another process, such as `urbankg key create`, is seen at the next request: SQLite's
    `data_version` shows it, read in some microseconds. Raises `StateUnreadable` when the file cannot be used.
    """

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._path = folder / FILE
        self._clock = clock
        self._lock = threading.Lock()
        self._version: int | None = None
        self._known: dict[str, tuple[bytes, ApiKey]] = {}
        self._connection = open_state(self._path, _SCHEMA, synchronous="NORMAL", timeout_s=_BUSY_TIMEOUT_S)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def create(
        self, name: str, scopes: Collection[Scope], *, lifetime_s: float | None = None
    ) -> tuple[ApiKey, str]:
        """Make a key; the token beside it is shown this once. Raises `KeyNameTaken`."""
        if any(key.name == name and key.revoked is None for key in self.all()):
            raise KeyNameTaken(name)
        now = self._clock()
        expires = None if lifetime_s is None else now + lifetime_s
        key = ApiKey(secrets.token_hex(6), name, frozenset(scopes), now, expires)
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        row = (key.identifier, name, _hash(secret), " ".join(sorted(scopes)), now, expires)
        self._write(
            "INSERT INTO api_key (id, name, secret_sha256, scopes, created, expires) VALUES (?,?,?,?,?,?)",
            row,
        )
        return key, f"ukg_{key.identifier}_{secret}"

    def revoke(self, name_or_identifier: str) -> ApiKey:
        """End a key at once, by its name or identifier. Raises `KeyUnknown`."""
        for key in self.all():
            if name_or_identifier in (key.name, key.identifier) and key.revoked is None:
                self._write("UPDATE api_key SET revoked=? WHERE id=?", (self._clock(), key.identifier))
                return key
        raise KeyUnknown(name_or_identifier)

    def all(self) -> list[ApiKey]:
        """Every key that was ever made, in that order."""
        with self._lock:
            self._refresh(always=True)
            return sorted((key for _, key in self._known.values()), key=lambda key: key.created)

    def any_key(self) -> bool:
        """Whether a key was ever made."""
        with self._lock:
            self._refresh()
            return bool(self._known)

    def authenticate(self, token: str) -> ApiKey | None:
        """The key that this token proves, if it is neither revoked nor expired."""
        found = KEY_PATTERN.fullmatch(token)
        if found is None:
            return None
        with self._lock:
            self._refresh()
            expected, key = self._known.get(found[1], (b"", None))
        if not hmac.compare_digest(_hash(found[2]), expected) or key is None:
            return None
        now = self._clock()
        if not key.is_valid(now):
            return None
        if key.last_used is None or now - key.last_used >= _USE_RECORDED_EVERY_S:
            self._note_use(key, now)
        return key

    def _note_use(self, key: ApiKey, now: float) -> None:
        """Record a use, unless another process is writing just now: no request waits for that."""
        with self._lock:
            self._known[key.identifier] = (self._known[key.identifier][0], replace(key, last_used=now))
            try:
                self._connection.execute("PRAGMA busy_timeout=0")
                self._connection.execute("UPDATE api_key SET last_used=? WHERE id=?", (now, key.identifier))
            except sqlite3.OperationalError:
                return
            finally:
                self._connection.execute(f"PRAGMA busy_timeout={round(_BUSY_TIMEOUT_S * 1000)}")

    def _refresh(self, *, always: bool = False) -> None:
        """Read the table anew if another process has changed the file. Called with the lock held."""
        try:
            version = self._connection.execute("PRAGMA data_version").fetchone()[0]
            if version == self._version and not always:
                return
            rows = self._connection.execute(
                "SELECT id, name, secret_sha256, scopes, created, expires, last_used, revoked FROM api_key"
            ).fetchall()
            known = {
                row[0]: (
                    bytes(row[2]),
                    ApiKey(row[0], row[1], frozenset(map(Scope, row[3].split())), *row[4:]),
                )
                for row in rows
            }
        except (sqlite3.Error, ValueError, TypeError, AttributeError) as error:
            raise state_error(self._path, error) from error
        self._known = known
        self._version = version

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        with self._lock:
            try:
                self._connection.execute(statement, values)
            except sqlite3.Error as error:
                raise state_error(self._path, error) from error
            self._version = None


def has_keys(folder: Path) -> bool:
    """Whether a folder has keys, without making one. Raises `StateUnreadable`."""
    if not (folder / FILE).exists():
        return False
    store = KeyStore(folder)
    try:
        return store.any_key()
    finally:
        store.close()


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("ascii")).digest()
