"""The ways to extract, as settings: each mode and each ablation of the papers, so that they compare.

UrbanKGent (Ning & Liu, 2024): three views, chain of thought, tools, refinement, and its ablations. Knowledge
Graph Efficient Construction (Nie et al., 2024): {Context, ICL} x {base, ontology, CoT + ontology}.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal, get_args

from extractors.errors import ExtractionError, OpenModeUnsupported
from extractors.models.chat import PromptProfile
from extractors.prompting.method_names import MethodName

__all__ = [
    "FAST",
    "GROUPS",
    "METHODS",
    "OPEN",
    "FormParts",
    "Knowledge",
    "Method",
    "MethodName",
    "MethodUnknown",
    "PromptFormat",
    "View",
    "method_asked",
    "method_named",
]

PromptFormat = Literal["icl", "context"]
Knowledge = Literal["none", "snippet", "whole"]
View = Literal["spatial", "temporal", "functional"]


class MethodUnknown(ExtractionError):
    """No method has this name; the message lists those there are."""


@dataclass(frozen=True)
class FormParts:
    """What a form shows and allows; only a model that was trained on forms can be asked so.

    `whole`: a field for every relation of the ontology, not for those that fit the text. `sides`: its domain
    and range stand beside a relation. `copied`: answers are held to the text's words.
    """

    whole: bool = False
    sides: bool = True
    copied: bool = True


@dataclass(frozen=True)
class Method:
    """A way to extract.

    `format`: turns of a dialog ("icl") or everything in one block ("context"); `shots` examples stand before
    the question. `ontology`: none, the snippet that fits the text, or the whole. `closed`: the reply's schema
    allows the ontology's relations only. `kinds`: what kind of thing a name stands for is asked for too.
    Without `views` there is one pass over all facts. `refinement`: most rounds of verifier and updater.
    `tools`: whether the model is offered the geospatial tools when relations between geometries are
    completed. `samples`: readings of each window, of which what most agree on is kept. `held`: nothing enters
    the graph; every statement waits for a person, and every word that the ontology lacks is a proposal.
    `own_way`: each kind of model is asked in the way that suits it best; `form` is for that of the embedded
    model, and for no other.
    """

    name: str
    format: PromptFormat = "icl"
    shots: Literal[0, 1, 3] = 0
    ontology: Knowledge = "snippet"
    closed: bool = True
    kinds: bool = True
    chain_of_thought: bool = False
    views: tuple[View, ...] = ()
    refinement: Literal[0, 1, 2, 3] = 0
    tools: bool = False
    samples: int = 1
    held: bool = False
    own_way: bool = False
    form: FormParts = FormParts()

    def check(self, profile: PromptProfile) -> None:
        """Raise `OpenModeUnsupported` where words of the model's own are asked of one that has none."""
        if self.held and profile == "compact":
            raise OpenModeUnsupported(
                "The embedded model answers for the relations of an ontology and names none by itself: set "
                "model_url to a larger model for the open mode, or load an ontology."
            )


FAST: Final = Method("fast", shots=1, own_way=True)
"""One question with the prompt that suits the model best; for the embedded one, what it was trained on."""

_THOROUGH: Final = Method(
    "thorough",
    chain_of_thought=True,
    views=("spatial", "temporal", "functional"),
    refinement=3,
    tools=True,
)
OPEN: Final = Method("open", shots=3, ontology="none", closed=False, held=True)
"""Without an ontology, as UrbanKGent extracts: the model names relations and kinds in its own words."""

_BASE: Final = Method("icl_base", shots=1, ontology="none", closed=False, kinds=False)
_WITH_ONTOLOGY: Final = replace(_BASE, name="icl_ontology", ontology="whole")
_WITH_THOUGHT: Final = replace(_WITH_ONTOLOGY, name="icl_cot", chain_of_thought=True)
_SHOTS: Final = Method("zero_shot")

METHODS: Final[Mapping[str, Method]] = MappingProxyType(
    {
        method.name: method
        for method in (
            FAST,
            _THOROUGH,
            OPEN,
            replace(_BASE, name="context_base", format="context"),
            replace(_WITH_ONTOLOGY, name="context_ontology", format="context"),
            replace(_WITH_THOUGHT, name="context_cot", format="context"),
            _BASE,
            _WITH_ONTOLOGY,
            _WITH_THOUGHT,
            _SHOTS,
            replace(_SHOTS, name="one_shot", shots=1),
            replace(_SHOTS, name="three_shot", shots=3),
            replace(_THOROUGH, name="without_knowledge", ontology="none", closed=False),
            replace(_THOROUGH, name="without_views", views=()),
            replace(_THOROUGH, name="without_tools", tools=False),
            replace(_THOROUGH, name="without_refinement", refinement=0),
            replace(FAST, name="form_whole", form=FormParts(whole=True)),
            replace(FAST, name="form_bare", form=FormParts(sides=False)),
            replace(FAST, name="form_free", form=FormParts(copied=False)),
            replace(FAST, name="form_untyped", kinds=False),
        )
    }
)
"""The named methods. Those of K4 name relations freely, so that their conformance says something."""

GROUPS: Final[Mapping[str, tuple[MethodName, ...]]] = MappingProxyType(
    {
        "k4": get_args(MethodName)[3:9],
        "u11": (*get_args(MethodName)[9:12], "thorough", *get_args(MethodName)[12:16]),
        "form": ("fast", *get_args(MethodName)[16:]),
    }
)
"""Methods measured together: the six groups of Nie et al., UrbanKGent's baselines and ablations, and the form
with one part of it changed, for a model that was trained on forms."""


def method_named(name: str) -> Method:
    """The method of this name. Raises `MethodUnknown`."""
    if name not in METHODS:
        raise MethodUnknown(f"There is no extraction method {name!r}. The methods are {', '.join(METHODS)}.")
    return METHODS[name]


def method_asked(name: str | None) -> Method | None:
    """The method of this name, None where none is asked for. Raises `MethodUnknown`."""
    return None if name is None else method_named(name)
