"""Completion: which of the five relations holds between two places (UrbanKGent, section 3.1).

In the product the relation between two places with geometry is always the computed one. The model's answer is
measured, shown beside the computed relation, and used for places without geometry. May import `geo`,
`extractors.models`, `extractors.prompting` and `extractors.readers`.
"""

from extractors.completion.completer import Completer, Completion, CompletionSettings, refusal_of
from extractors.completion.pair import Pair, Place
from extractors.completion.toolbox import ToolCall

__all__ = ["Completer", "Completion", "CompletionSettings", "Pair", "Place", "ToolCall", "refusal_of"]
