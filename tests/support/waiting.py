"""Waiting for what another task, thread or process does, instead of for a fixed time."""

import asyncio
import time
from collections.abc import Callable


async def eventually(condition: Callable[[], object], *, seconds: float = 120) -> None:
    """Return when the condition holds; raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def wait_until(condition: Callable[[], object], *, seconds: float = 300, every_s: float = 0.05) -> None:
    """The same where no event loop runs."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not so after {seconds} s")
        time.sleep(every_s)
