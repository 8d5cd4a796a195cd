"""One of each store for all tests here, empty at the start of each."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sparql.remote.capabilities import StoreCapabilities
from sparql.remote.endpoint import RemoteAddress
from sparql.remote.store import RemoteStore
from sparql.storage.embedded_store import EmbeddedStore
from tests.support.remote_servers import clear, oxigraph_server, virtuoso


@pytest.fixture(scope="session")
def oxigraph_address() -> Iterator[RemoteAddress]:
    with oxigraph_server() as address:
        yield address


@pytest.fixture(scope="session")
def virtuoso_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RemoteAddress]:
    with virtuoso(tmp_path_factory.mktemp("virtuoso")) as address:
        yield address


@pytest.fixture(params=["oxigraph", pytest.param("virtuoso", marks=pytest.mark.slow)])
def address(request: pytest.FixtureRequest) -> RemoteAddress:
    found: RemoteAddress = request.getfixturevalue(f"{request.param}_address")
    clear(found)
    return found


@pytest.fixture(scope="session")
def known_capabilities() -> dict[RemoteAddress, StoreCapabilities]:
    """What was found out about a store once."""
    return {}


@pytest.fixture
def open_remote(
    address: RemoteAddress, known_capabilities: dict[RemoteAddress, StoreCapabilities], tmp_path: Path
) -> Iterator[Callable[..., RemoteStore]]:
    """Opens the store with a folder of this name beside it; closes what is still open at the end."""
    opened: list[RemoteStore] = []

    def open_(folder: str = "beside", **options: Any) -> RemoteStore:
        capabilities = known_capabilities.get(address)
        store = RemoteStore(address, EmbeddedStore(tmp_path / folder), capabilities=capabilities, **options)
        known_capabilities[address] = store.capabilities
        opened.append(store)
        return store

    yield open_
    for store in opened:
        store.close()


@pytest.fixture
def store(open_remote: Callable[..., RemoteStore]) -> RemoteStore:
    return open_remote()
