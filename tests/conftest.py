"""What all tests share: cases of properties, and an environment in which processes and clients start fast."""

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.prepared_gdal import fork_gdal
from tests.support.prepared_readers import fork_readers
from tests.support.running_server import RunningServer

# The everyday run tries the same cases each time, so that its verdict is about the change at hand;
# `make search` draws new ones.
settings.register_profile("everyday", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None)
settings.load_profile("everyday")

# The tests start hundreds of processes: where the environment forbids to keep compiled modules, each of them
# would compile some hundred files.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# A folder without certificates: all servers are on this machine and speak plain HTTP, and each new client of
# httpx would read all certificates, 15 to 30 ms of CPU time.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent / "data")

_MANY_OBJECTS = 50_000

RunningServer.prepared = True
fork_readers()
fork_gdal()

# Next to nothing that imports and collection make is garbage: not searched until all is there.
gc.disable()


def pytest_collection_finish() -> None:
    """Keep the modules and tests, some million objects, out of each later search for garbage."""
    _leave_out()
    # Each test makes some ten thousand objects, and hardly any of them in circles.
    gc.set_threshold(7000, 10, 10)
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """The same between files, once there are many again: what is shared by tests, and modules imported late.

    Each check of rules searches for garbage among all of it.
    """
    another_file = nextitem is not None and nextitem.path != item.path
    if another_file and len(gc.get_objects(generation=2)) > _MANY_OBJECTS:
        _leave_out()


def _leave_out() -> None:
    gc.collect()
    gc.freeze()
