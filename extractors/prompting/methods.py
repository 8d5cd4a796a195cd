"""The methods of extraction that a client can name; `research.methods` has those that are only compared.

`thorough` follows UrbanKGent (Ning & Liu, 2024): three views, chain of thought, tools, refinement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal

from extractors.errors import ExtractionError, MethodUnsupported, OpenModeUnsupported
from extractors.models.chat import PromptProfile

PromptFormat = Literal["icl", "context"]
Knowledge = Literal["none", "snippet", "whole"]
View = Literal["spatial", "temporal", "functional"]
ChainOfThought = Literal["none", "instruction", "turns"]
Updates = Literal["edits", "words"]


class MethodUnknown(ExtractionError):
    """No method has this name; the message lists the methods."""


@dataclass(frozen=True)
class FormParts:
    """What a form shows and allows; only a model that was trained on forms can be asked so.

    `whole`: a field for every relation of the ontology, not for those that fit the text. `sides`: a relation
    is shown with its domain and range. `copied`: answers may only use the text's words.
    """

    whole: bool = False
    sides: bool = True
    copied: bool = True


@dataclass(frozen=True)
class Method:
    """A method of extraction.

    `format`: turns of a dialog ("icl") or everything in one block ("context"); `shots` examples precede
    the question. `ontology`: none, the snippet that fits the text, or the whole, whose words are the same for
    every text, so that servers find them computed already. `closed`: the reply's schema
    allows the ontology's relations only. `kinds`: the model is also asked for the kind of each name.
    `chain_of_thought`: in one instruction (Nie et al., section 3.3) or in turns, also in each view. Without
    `views` there is one pass over all facts. `refinement`: most rounds of verifier and updater; `updates`:
    the verifier's edits are carried out, or it suggests in words and the updater gives all triples again.
    `tools`: whether the model is offered the geospatial tools when relations between geometries are
    completed. `samples`: readings of each window, of which what most agree on is kept. `held`: nothing enters
    the graph; every statement waits for review, and every word that the ontology lacks is a proposal.
    `own_way`: each kind of model gets the prompt that suits it best; `form` is for the embedded model.
    `tried`: asked even of a model that is known not to follow it, to measure what comes of it.
    """

    name: str
    format: PromptFormat = "icl"
    shots: Literal[0, 1, 3] = 0
    ontology: Knowledge = "whole"
    closed: bool = True
    kinds: bool = True
    chain_of_thought: ChainOfThought = "none"
    views: tuple[View, ...] = ()
    refinement: Literal[0, 1, 2, 3] = 0
    updates: Updates = "edits"
    tools: bool = False
    samples: int = 1
    held: bool = False
    own_way: bool = False
    form: FormParts = FormParts()
    tried: bool = False

    def check(self, profile: PromptProfile) -> None:
        """Raise `MethodUnsupported` if models of this kind are known not to follow the method."""
        if self.tried:
            return
        if (self.views or self.refinement) and profile == "compact":
            raise MethodUnsupported(
                "This method is a dialog of many turns. A small model that was trained to fill in forms "
                "does not follow it: it takes minutes a text and says next to nothing that is right. Take "
                "fast, or set model_url to a larger model."
            )
        if profile == "full" and self.own_way and (self.form != FormParts() or not self.kinds):
            raise MethodUnsupported(
                "This method changes a part of the form that the embedded model fills in; other models get "
                "no form. Take fast, or leave model_url out."
            )
        if self.held and profile == "compact":
            raise OpenModeUnsupported(
                "The embedded model answers for the relations of an ontology and names none by itself: set "
                "model_url to a larger model for the open mode, or load an ontology."
            )


FAST: Final = Method("fast", shots=3, own_way=True)
"""One question with the prompt that suits the model best; the form for the embedded model."""

THOROUGH: Final = Method(
    "thorough",
    chain_of_thought="turns",
    views=("spatial", "temporal", "functional"),
    refinement=3,
    tools=True,
)
OPEN: Final = Method("open", shots=3, ontology="none", closed=False, held=True)
"""Without an ontology, as UrbanKGent extracts: the model names relations and kinds in its own words."""

_ZERO_SHOT: Final = Method("zero_shot")

METHODS: Final[Mapping[str, Method]] = MappingProxyType(
    {
        method.name: method
        for method in (
            FAST,
            THOROUGH,
            OPEN,
            _ZERO_SHOT,
            replace(_ZERO_SHOT, name="one_shot", shots=1),
            replace(_ZERO_SHOT, name="three_shot", shots=3),
        )
    }
)


def method_named(name: str) -> Method:
    """Return the method of this name. Raises `MethodUnknown`."""
    if name not in METHODS:
        raise MethodUnknown(f"There is no extraction method {name!r}. The methods are {', '.join(METHODS)}.")
    return METHODS[name]


def requested_method(method: str | Method | None) -> Method | None:
    """Return a method given by name or as it is; None for None. Raises `MethodUnknown`."""
    return method_named(method) if isinstance(method, str) else method
