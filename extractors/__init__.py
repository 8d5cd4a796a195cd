"""Extraction: text to candidate statements."""

from typing import Literal

MethodName = Literal["fast", "thorough", "open", "zero_shot", "one_shot", "three_shot"]
"""The methods that settings and requests can name; `extractors.prompting.methods` defines them."""
