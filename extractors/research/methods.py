"""The methods that are only compared: prompt groups, ablations of `thorough`, and variants of the form.

Knowledge Graph Efficient Construction (Nie et al., 2024), section 4.2: {Context, ICL} x {base, ontology,
CoT + ontology}; UrbanKGent (Ning & Liu, 2024), Table 4: baselines and ablations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from extractors.prompting.methods import FAST, METHODS, THOROUGH, FormParts, Method, MethodUnknown

__all__ = ["ALL_METHODS", "GROUPS", "any_method_named"]

_BASE: Final = Method("icl_base", shots=1, ontology="none", closed=False, kinds=False)
_WITH_ONTOLOGY: Final = replace(_BASE, name="icl_ontology", ontology="whole")
_WITH_THOUGHT: Final = replace(_WITH_ONTOLOGY, name="icl_cot", chain_of_thought="instruction")

# These name relations freely, so that their share of relations in the ontology means something.
_PROMPT_GROUPS: Final = (
    replace(_BASE, name="context_base", format="context"),
    replace(_WITH_ONTOLOGY, name="context_ontology", format="context"),
    replace(_WITH_THOUGHT, name="context_cot", format="context"),
    _BASE,
    _WITH_ONTOLOGY,
    _WITH_THOUGHT,
)
_ABLATIONS: Final = (
    replace(THOROUGH, name="without_knowledge", ontology="none", closed=False),
    replace(THOROUGH, name="without_views", views=()),
    replace(THOROUGH, name="without_tools", tools=False),
    replace(THOROUGH, name="without_refinement", refinement=0),
)
# The paper's words: free suggestions, after which all triples are given again; and thought in turns.
_VARIANTS: Final = (
    replace(THOROUGH, name="refinement_in_words", updates="words"),
    replace(_WITH_THOUGHT, name="icl_cot_turns", chain_of_thought="turns"),
)
_FORMS: Final = (
    replace(FAST, name="form_whole", form=FormParts(whole=True)),
    replace(FAST, name="form_bare", form=FormParts(sides=False)),
    replace(FAST, name="form_free", form=FormParts(copied=False)),
    replace(FAST, name="form_untyped", kinds=False),
)

ALL_METHODS: Final[Mapping[str, Method]] = MappingProxyType(
    {**METHODS, **{method.name: method for method in (*_PROMPT_GROUPS, *_ABLATIONS, *_VARIANTS, *_FORMS)}}
)
"""The methods by name, those of `extractors.prompting.methods` first."""

GROUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "k4": tuple(method.name for method in _PROMPT_GROUPS),
        "u11": (
            "zero_shot",
            "one_shot",
            "three_shot",
            "thorough",
            *(method.name for method in _ABLATIONS),
            "refinement_in_words",
        ),
        "form": ("fast", *(method.name for method in _FORMS)),
    }
)
"""Methods measured together. Forms are for models that were trained on them."""


def any_method_named(name: str) -> Method:
    """Return the method of this name, also one for comparison only. Raises `MethodUnknown`."""
    if name not in ALL_METHODS:
        raise MethodUnknown(
            f"There is no extraction method {name!r}. The methods are {', '.join(ALL_METHODS)}."
        )
    return ALL_METHODS[name]
