"""The basis of the stored relations: whether they are exact, so that they can replace a function.

The state graph records the tolerances with which all of them were derived. Where it has no record, or another
one, a stored relation must not be used as the value of a function.
"""

from __future__ import annotations

from typing import Final

from pyoxigraph import Literal, Quad

from sparql.model.geometry import EXACT, Tolerances
from sparql.model.source import QuadSource
from sparql.model.vocabulary import DERIVED, STATE, UKG

_MIXED: Final = "mixed"


def basis_quad(tolerances: Tolerances | None) -> Quad:
    """The mark of relations that were all derived with these tolerances; None: with several."""
    basis = _MIXED if tolerances is None else tolerances.description
    return Quad(UKG.store, UKG.relations, Literal(basis), STATE)


def marks(store: QuadSource) -> list[Quad]:
    """The current mark; empty where nothing is known."""
    return list(store.match_quads(UKG.store, UKG.relations, None, STATE))


def are_exact(store: QuadSource) -> bool:
    """Whether all relations of the store are known to have been derived without a tolerance."""
    return is_marked(store, EXACT)


def is_marked(store: QuadSource, tolerances: Tolerances) -> bool:
    """Whether all relations of the store are known to have been derived with these tolerances."""
    return marks(store) == [basis_quad(tolerances)]


def marked(
    store: QuadSource, tolerances: Tolerances, *, whole: bool, first: bool
) -> tuple[list[Quad], list[Quad]]:
    """The marks to add and remove with derived relations.

    `whole` means that all relations are derived again, `first` that there was no geometry before. Unmarked
    relations stay unmarked.
    """
    found, wanted = marks(store), basis_quad(tolerances)
    if found == [wanted]:
        return [], []
    if whole or (not found and first and next(store.match_quads(None, None, None, DERIVED), None) is None):
        return [wanted], found
    mixed = basis_quad(None)
    return ([mixed], found) if found and found != [mixed] else ([], [])
