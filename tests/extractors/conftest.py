"""The urban ontology, read once for all tests that only look at it."""

from __future__ import annotations

import pytest

from ontology.schema import Schema
from tests.support.scripted import ONTOLOGY


@pytest.fixture(scope="session")
def schema() -> Schema:
    """The ontology that ships with us."""
    return Schema.load(ONTOLOGY)
