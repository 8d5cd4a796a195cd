"""The process of a `Task`: it runs the function that it receives and returns what that yields."""

from __future__ import annotations

import pickle
from multiprocessing.connection import Connection

from sparql.model.errors import SparqlError
from sparql.workers.processes.limits import forbid_network
from sparql.workers.processes.task import pickled
from sparql.workers.sending import QueryMonitor


def main(arguments: list[str]) -> int:
    """Run one function: `arguments` are DATA_FD CONTROL_FD MEMORY_LIMIT_BYTES.

    Any error that is not ours ends the process, with its traceback.
    """
    data, control, memory_limit_bytes = (int(argument) for argument in arguments)
    forbid_network()
    monitor = QueryMonitor(control, memory_limit_bytes)
    monitor.start()
    with Connection(data) as connection:
        monitor.begin()
        function, given = pickle.loads(connection.recv_bytes())
        connection.send_bytes(pickled(("ready", None)))
        try:
            for result in function(*given):
                connection.send_bytes(pickled(("result", result)))
        except SparqlError as error:
            connection.send_bytes(pickled(("error", error)))
        else:
            connection.send_bytes(pickled(("end", None)))
    return 0
