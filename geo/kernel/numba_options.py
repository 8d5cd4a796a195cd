"""How the functions of `geo.kernel.borders` are compiled, and kept for later processes.

numba keeps what it compiled by the file that a function stands in and looks at no other. So a compiled
function calls compiled functions of its own file only, and has no constant from another one: a change there
would go unnoticed (a test looks). Whoever changes the options here empties the caches.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy
from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., Any])
Floats = NDArray[numpy.float64]
Positions = NDArray[numpy.int64]
Truths = NDArray[numpy.bool_]
Bytes = NDArray[numpy.uint8]
Codes = NDArray[numpy.int8]


def compiled(signature: str | None = None) -> Callable[[Function], Function]:
    """A function compiled by numba; with a signature as soon as it is defined.

    What is called for each segment is given numbers and no arrays: numba counts who holds each array, which
    costs more than what is done with them.
    """

    def compile_(function: Function) -> Function:
        kernel: Any = numba.njit(signature, cache=True, nogil=True, error_model="numpy")(function)
        return cast("Function", kernel)

    return compile_
