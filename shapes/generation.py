"""How much of the ontology's axioms is demanded of the data by generated shapes."""

from typing import Literal

__all__ = ["Generation", "generation_of"]

Generation = Literal["off", "contradictions", "closed"]
"""Nothing; what contradicts an axiom is refused; or also what is not known to satisfy one."""

_FLAGS = {"true": "closed", "1": "closed", "false": "off", "0": "off"}


def generation_of(value: object) -> object:
    """A mode as settings may write it: the flag of earlier versions is read too."""
    return _FLAGS.get(str(value).strip().lower(), value)
