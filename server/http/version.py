"""The version of the HTTP interface: it changes with routes and members, not with the program."""

from typing import Final

API_VERSION: Final = "1.0"
"""The first number changes when something is removed or means something else, the second when it grows."""
API_HEADER: Final = (b"x-api-version", API_VERSION.encode())
