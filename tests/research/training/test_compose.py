"""Passages about cities state their facts in their own words."""

from __future__ import annotations

from random import Random

import pytest

from research.training.frames.compose import KINDS, Composer, Name, NameMaker


def test_every_fact_stands_in_its_passage() -> None:
    for validation in (False, True):
        composer = Composer(Random(5), validation=validation, long=0.3)
        for _ in range(1500):
            passage = composer.passage()
            for subject, _, value in passage.facts:
                assert subject in passage.text
                assert value in KINDS.values() or value in passage.text


def test_a_value_with_a_name_in_it_keeps_the_article_of_prose(monkeypatch: pytest.MonkeyPatch) -> None:
    composer = Composer(Random(2), validation=False)
    made = NameMaker.make
    bronx = Name("Bronx", article=True, kind="city")
    monkeypatch.setattr(NameMaker, "make", lambda self, kind: bronx if kind == "city" else made(self, kind))
    passages = [composer._whole("biography") for _ in range(200)]
    offices = [(fact[2], one.text) for one in passages for fact in one.facts if fact[1] == "position held"]
    assert offices
    assert all(office == "mayor of the Bronx" and office in text for office, text in offices)


def test_long_passages_are_several_after_one_another() -> None:
    composer = Composer(Random(3), validation=False, long=1.0)
    assert all(len(composer.passage().text.split()) >= 40 for _ in range(60))
