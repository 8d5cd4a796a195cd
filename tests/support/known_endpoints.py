"""Reads the parameters and the answer of each endpoint once for all applications that a test run makes.

The framework evaluates every signature and builds a validator for every parameter whenever a route is made:
.1 s of processor time for an application, and a test run makes some thousand of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import fields
from functools import cache
from typing import Annotated, Any, get_args, get_origin

import fastapi.dependencies.utils
import fastapi.routing
import fastapi.utils
from fastapi.dependencies.models import Dependant
from pydantic.fields import FieldInfo

_Read = Callable[..., Dependant]


def remember_endpoints() -> None:
    """Have the framework reuse what it found out about a function with the same code and parameters."""
    read = remembering(fastapi.dependencies.utils.get_dependant)
    fastapi.dependencies.utils.get_dependant = read
    fastapi.routing.get_dependant = read  # type: ignore[attr-defined]
    fastapi.routing.create_model_field = cache(fastapi.utils.create_model_field)  # type: ignore[attr-defined]


def remembering(read: _Read) -> _Read:
    """The same function with a memory."""
    known: dict[object, Dependant] = {}

    def read_once(*, call: Callable[..., Any], **options: Any) -> Dependant:
        key = _key(call, options)
        if key in known:
            return _of(known[key], call)
        found = read(call=call, **options)
        if key is not None and all(_is_shared(one) for one in found.dependencies):
            known[key] = _of(found, None)
        return found

    return read_once


def _key(call: Callable[..., Any], options: dict[str, Any]) -> object:
    """Equal for functions that differ in nothing but the objects that they hold; None for unknown kinds."""
    function: Any = call
    if inspect.isclass(call):
        function = call.__init__
    elif inspect.ismethod(call):
        function = call.__func__
    elif not inspect.isfunction(call):
        function = type(call).__call__
    if not inspect.isfunction(function) or hasattr(function, "__wrapped__"):
        return None
    annotations, defaults = function.__annotations__, function.__kwdefaults__ or {}
    parts = *annotations.items(), *enumerate(function.__defaults__ or ()), *defaults.items()
    parameters = tuple((name, _written(part)) for name, part in parts)
    return type(call), function.__code__, parameters, repr(sorted(options.items()))


def _written(part: Any) -> object:
    """All that an annotation or a default says; the text of a parameter leaves out its limits."""
    if get_origin(part) is Annotated:
        return tuple(_written(one) for one in get_args(part))
    if isinstance(part, FieldInfo):
        return type(part), repr([*FieldInfo.__repr_args__(part), *vars(part).items()])
    return repr(part)


def _is_shared(dependency: Dependant) -> bool:
    """Whether all applications have this dependency: it is of a module, and so are those of its own."""
    call = dependency.call
    of_a_module = (inspect.isclass(call) or inspect.isfunction(call)) and "<locals>" not in call.__qualname__
    return of_a_module and all(_is_shared(one) for one in dependency.dependencies)


def _of(found: Dependant, call: Callable[..., Any] | None) -> Dependant:
    """A copy for this function, whose lists may be added to."""
    own = copy(found)
    own.call = call
    for one in fields(found):
        if isinstance(value := getattr(found, one.name), list):
            setattr(own, one.name, list(value))
    return own
