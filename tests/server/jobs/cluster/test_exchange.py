"""What the model answered for a document is kept, replies and filled forms alike, and not asked for again."""

import asyncio

import pytest

from extractors.errors import ModelRequestRefused, ModelUnavailable
from extractors.models.accounting import account
from extractors.models.chat import BlankField, BlankForm, FilledField, FilledForm, Token
from server.jobs.cluster import Exchange, KeptModel
from tests.support.answering import AnsweringModel

FORM = BlankForm("Text: Larnford is a city.\n", (BlankField("is a:", "root ::= run"),), 0.4, 96)
FILLED = FilledForm(
    (FilledField("is a:", 0.9, (Token(" Larnford | city", -0.25),)),), 20, 5, 0.5, "forms", "urbankg-0"
)


class FormFilling(AnsweringModel):
    """Fills in every form alike, or fails where it is set to."""

    prompt_profile = "compact"

    def __init__(self, *errors: Exception) -> None:
        super().__init__()
        self.errors = list(errors)
        self.forms: list[BlankForm] = []

    async def fill(self, form: BlankForm) -> FilledForm:
        self.forms.append(form)
        if self.errors:
            raise self.errors.pop(0)
        return FILLED


def over(model: AnsweringModel, kept: list[Exchange]) -> KeptModel:
    async def keep(exchange: Exchange) -> None:
        kept.append(exchange)

    return KeptModel(model, list(kept), keep=keep, slots=asyncio.Semaphore(1))


async def test_a_form_is_filled_in_once_and_its_cost_stands_in_the_account_of_who_uses_it():
    model, kept = FormFilling(), list[Exchange]()
    assert await over(model, kept).fill(FORM) == FILLED
    with account() as spent:
        assert await over(model, kept).fill(FORM) == FILLED
    assert len(model.forms) == len(kept) == 1
    assert (spent.prompt_tokens, spent.completion_tokens) == (20, 5)


async def test_forms_that_differ_are_different_questions():
    model, kept = FormFilling(), list[Exchange]()
    await over(model, kept).fill(FORM)
    await over(model, kept).fill(BlankForm("Text: Brinwick is a park.\n", FORM.fields, 0.4, 96))
    assert len(model.forms) == 2


async def test_a_refused_form_is_refused_again_without_asking():
    model, kept = FormFilling(ModelRequestRefused("The text is too long.")), list[Exchange]()
    for _ in range(2):
        with pytest.raises(ModelRequestRefused, match="too long"):
            await over(model, kept).fill(FORM)
    assert len(model.forms) == 1


async def test_a_model_that_is_down_leaves_nothing_behind():
    model, kept = FormFilling(ModelUnavailable("The engine has ended.")), list[Exchange]()
    with pytest.raises(ModelUnavailable):
        await over(model, kept).fill(FORM)
    assert kept == []
    assert await over(model, kept).fill(FORM) == FILLED


async def test_a_model_that_was_not_trained_on_forms_says_so():
    with pytest.raises(ModelRequestRefused, match="not trained on forms"):
        await over(AnsweringModel(), []).fill(FORM)
