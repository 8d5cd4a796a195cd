"""What the server itself refuses, beside what the rooms below refuse.

ServerError
├── SettingsError       a setting that cannot be used
├── OpenWritesRefused   another address than loopback while anyone may write
├── ForeignOrigin       a web page of another origin tried to write
├── BodyTooLarge        a request body over the limit
├── MalformedBody       a body that is not what its content type says, or not what is asked for
├── InvalidBody         a body with members missing or of the wrong form
├── UnsupportedBody     a content type that this address does not read
└── UnknownResource     an identifier that does not exist
"""

from collections.abc import Sequence


class ServerError(Exception):
    """Base of this room's errors; the message says what to do."""


class SettingsError(ServerError):
    """A setting that cannot be used."""


class OpenWritesRefused(ServerError):
    """The server would listen to other machines while everyone may write."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"Refusing to listen on {host}: writes are open, so anyone who reaches it could change the "
            "graph. Listen on 127.0.0.1 and put an authenticating proxy in front."
        )


class ForeignOrigin(ServerError):
    """A web page of a foreign origin, or a foreign host name, tried to write."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"Writes from {what} are refused: open writes are taken only from programs on this machine."
        )


class BodyTooLarge(ServerError):
    """A request body over the limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(f"The body is larger than {limit} bytes. Send the text in parts.")


class MalformedBody(ServerError):
    """A body that cannot be read as what it claims to be."""


class InvalidBody(ServerError):
    """A body whose members are missing or of the wrong form."""

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        self.problems = tuple(problems)
        told = "; ".join(f"{place}: {message}" for place, message in problems)
        super().__init__(f"The body does not have the form that this address takes: {told}.")


class UnsupportedBody(ServerError):
    """A content type that is not read here."""

    def __init__(self, found: str, known: str) -> None:
        super().__init__(f"Content type '{found}' is not read here. Send one of: {known}.")


class UnknownResource(ServerError):
    """An identifier that does not exist."""
