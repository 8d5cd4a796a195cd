"""The names of the methods of extraction, for settings and routes; `methods` defines them."""

from typing import Literal

MethodName = Literal["fast", "thorough", "open", "zero_shot", "one_shot", "three_shot"]
