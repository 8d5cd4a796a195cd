"""How the functions of `geo.kernel.borders` are compiled, and cached for later processes.

numba's cache depends on the file of a function and on no other file. So a compiled function only calls
compiled functions of its own file, and uses no constant of another one: a change there would go unnoticed (a
test checks this). After a change of the options here, empty the caches.
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
    """A function compiled by numba; with a signature, as soon as it is defined.

    Functions called for each segment take numbers instead of arrays: numba's reference counting of arrays
    would cost more than the work itself.
    """

    def compile_(function: Function) -> Function:
        kernel: Any = numba.njit(signature, cache=True, nogil=True, error_model="numpy")(function)
        return cast("Function", kernel)

    return compile_
