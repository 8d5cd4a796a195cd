"""New IRIs: readable, repeatable, never in use."""

from pyoxigraph import NamedNode

from extractors.grounding.entities import IriMinter, slug

BASE = "https://example.org/id/"


def nothing(_: NamedNode) -> bool:
    return False


def test_the_same_name_gives_the_same_iri_every_time() -> None:
    assert IriMinter(BASE, nothing).entity("Trinity Church") == IriMinter(BASE, nothing).entity(
        "Trinity Church"
    )


def test_spelling_variants_of_a_name_give_one_iri() -> None:
    minter = IriMinter(BASE, nothing)
    assert (
        minter.entity("café Sabarsky").value.split("-")[-1]
        == minter.entity("Cafe  Sabarsky").value.split("-")[-1]
    )


def test_an_iri_in_use_is_never_given_out() -> None:
    taken = IriMinter(BASE, nothing).entity("Main Street")
    other = IriMinter(BASE, lambda iri: iri == taken).entity("Main Street")
    assert other != taken
    assert other.value.startswith(BASE + "main-street-")


def test_names_that_look_alike_in_ascii_stay_apart() -> None:
    minter = IriMinter(BASE, nothing)
    assert minter.entity("A-B") == minter.entity("A B")
    assert minter.entity("法拉盛") != minter.entity("皇后区")


def test_names_in_other_scripts_and_dangerous_ones_give_valid_iris() -> None:
    minter = IriMinter(BASE, nothing)
    for name in ("法拉盛", "!!!", "a<b>{c}", "x" * 500, "🏙"):
        iri = minter.entity(name).value
        assert iri.removeprefix(BASE).replace("-", "").isalnum()
        assert len(iri) < 110


def test_slugs_are_lower_case_ascii() -> None:
    assert slug("King's Café & Bar") == "kings-cafe-bar"


def test_an_unknown_relation_is_proposed_under_the_same_base() -> None:
    assert IriMinter(BASE, nothing).term("sings to").value == BASE + "term/sings-to"
