"""The names of the ways to extract, for settings: what they are is in `extractors.prompting.methods`."""

from typing import Literal

MethodName = Literal[
    "fast",
    "thorough",
    "open",
    "context_base",
    "context_ontology",
    "context_cot",
    "icl_base",
    "icl_ontology",
    "icl_cot",
    "zero_shot",
    "one_shot",
    "three_shot",
    "without_knowledge",
    "without_views",
    "without_tools",
    "without_refinement",
    "form_whole",
    "form_bare",
    "form_free",
    "form_untyped",
]
