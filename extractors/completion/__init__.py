"""Completion: which of the five relations holds between two places (UrbanKGent's KGC, methods U3 to U8).

In the product the relation between two places with geometry is always the computed one. The model's way
is here to be measured, to be shown beside the computed relation, and for places without geometry.
"""

from extractors.completion.completer import Completer, Completion, CompletionSettings
from extractors.completion.pair import Pair, Place
from extractors.completion.toolbox import ToolCall

__all__ = ["Completer", "Completion", "CompletionSettings", "Pair", "Place", "ToolCall"]
