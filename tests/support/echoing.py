"""A process that writes what it was started with to its first descriptor."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Write it, and then wait if that is its argument; the exit status is the number of arguments."""
    descriptor, *given = arguments
    with open(int(descriptor), "w") as out:
        print(json.dumps({"pid": os.getpid(), "parent": os.getppid(), "given": given}), file=out)
    if given == ["wait"]:
        signal.pause()
    return len(given)
