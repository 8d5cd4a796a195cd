"""Connects to a Dask cluster by its scheduler's address within seconds, or says why that failed."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from server.jobs.job_errors import ClusterUnavailable

_CONNECT_S = 10


@contextmanager
def dask_client(address: str) -> Iterator[tuple[Any, int]]:
    """A client of a cluster, and how many threads its workers have. Raises ClusterUnavailable.

    Call it on a thread without an event loop.
    """
    try:
        import distributed
    except ImportError as error:
        raise ClusterUnavailable(
            "This needs the package distributed. Install this program with its extra cluster: "
            "`pip install 'WHEEL[cluster]'`, in a clone `pip install '.[cluster]'`."
        ) from error
    try:
        # The client waits forever for a server that answers but is no scheduler, such as a web server.
        asyncio.run(_shake_hands(address))
        client: Any = distributed.Client(  # type: ignore[no-untyped-call]
            address, timeout=_CONNECT_S, set_as_default=False
        )
    except (OSError, TimeoutError, ValueError, TypeError, MemoryError) as error:
        reason = str(error) or f"no answer in Dask's protocol within {_CONNECT_S} s"
        raise ClusterUnavailable(
            f"No Dask scheduler answers at {address}: {reason}. Start it, or give the address that it prints "
            "as 'Scheduler at' (its dashboard has another)."
        ) from error
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise ClusterUnavailable(
                f"The Dask cluster at {address} has no workers. Start some: `dask worker {address}`."
            )
        yield client, threads


async def _shake_hands(address: str) -> None:
    """Connect and disconnect. Raises what a wrong address causes: MemoryError where an answer is misread."""
    from distributed.comm.core import connect

    async with asyncio.timeout(_CONNECT_S):
        connection: Any = await connect(address, timeout=_CONNECT_S)  # type: ignore[no-untyped-call]
        await connection.close()
