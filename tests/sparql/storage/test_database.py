"""Opening the engine's database again in the process that had it open."""

from __future__ import annotations

import gc
from pathlib import Path

import pyoxigraph
import pytest
from pyoxigraph import Literal, NamedNode, Quad

from sparql.storage.database import open_again

QUAD = Quad(NamedNode("http://e/s"), NamedNode("http://e/p"), Literal("1"))


def test_a_database_whose_old_handle_is_garbage_opens_again(tmp_path: Path):
    class Held:
        def __init__(self) -> None:
            self.store = pyoxigraph.Store(str(tmp_path))
            self.itself = self

    gc.disable()
    try:
        held = Held()
        held.store.add(QUAD)
        held.store.flush()
        del held
        with pytest.raises(OSError, match="lock"):
            pyoxigraph.Store(str(tmp_path))
        assert QUAD in open_again(tmp_path)
    finally:
        gc.enable()


def test_a_database_that_is_in_use_does_not_open_again(tmp_path: Path):
    used = pyoxigraph.Store(str(tmp_path))
    with pytest.raises(OSError, match="lock"):
        open_again(tmp_path)
    used.add(QUAD)
