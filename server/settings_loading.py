"""Loads the settings: TOML < environment < flags.

`load_settings` records where each value came from, for `urbankg config show`.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

import ontology as ontology_package
import shapes as shapes_package
from server.errors import SettingsError
from server.settings import CONSTANTS, Settings
from sparql.model.answer_warnings import nearest_name

SHIPPED_ONTOLOGY: Final = Path(ontology_package.__file__).parent
SHIPPED_SHAPES: Final = Path(shapes_package.__file__).parent
"""The folders of the ontology and the shapes that ship with us: in force where no others are named."""
PREFIX = "URBANKG_"
FILE = "urbankg.toml"


@dataclass(frozen=True)
class LoadedSettings:
    """Settings with the place each value came from."""

    settings: Settings
    origins: Mapping[str, str]

    def shown(self) -> Iterator[tuple[str, str, str]]:
        """Name, value (secrets hidden) and origin of each setting."""
        for name, field in Settings.model_fields.items():
            value = getattr(self.settings, name)
            extra = field.json_schema_extra
            secret = isinstance(extra, dict) and extra.get("secret") and value is not None
            shown = "********" if secret else "" if value is None else str(value)
            yield name, shown, self.origins.get(name, "default")


def chosen(before: Mapping[str, Any], **flags: Any) -> "LoadedSettings":
    """Settings from the flags before and after the command, the environment and the file."""
    merged = {**before, **{name: value for name, value in flags.items() if value is not None}}
    file = merged.pop("config")
    return load_settings(merged, file=file)


def load_settings(
    flags: Mapping[str, Any], *, file: Path | None = None, environment: Mapping[str, str] | None = None
) -> LoadedSettings:
    """Merge the TOML file, the environment (`URBANKG_*`) and flags; None flags are not set.

    Raises `SettingsError` naming the setting and where it came from.
    """
    env = os.environ if environment is None else environment
    path = file or (Path(FILE) if Path(FILE).exists() else None)
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, value in _from_file(path).items():
        values[name], origins[name] = value, str(path)
    for variable, value in env.items():
        name = variable.removeprefix(PREFIX).lower()
        # A variable without a value is not set, but an empty list of languages accepts any.
        if variable.startswith(PREFIX) and (value or name == "language"):
            values[name], origins[name] = value, f"environment {variable}"
    for name, value in flags.items():
        if value is not None:
            values[name], origins[name] = value, f"flag --{name.replace('_', '-')}"
    try:
        return LoadedSettings(Settings(**values), origins)
    except ValidationError as error:
        raise SettingsError(_explain(error, origins)) from error


def _from_file(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        with path.open("rb") as stream:
            return tomllib.load(stream)
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}. Give an existing file.") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not TOML: {error}. Correct the file.") from error


def _explain(error: ValidationError, origins: Mapping[str, str]) -> str:
    parts = []
    for problem in error.errors():
        name = ".".join(str(part) for part in problem["loc"])
        origin = origins.get(str(problem["loc"][0]), "default") if problem["loc"] else "default"
        message = f"{problem['msg']}."
        if problem["type"] == "extra_forbidden":
            message = _explain_unknown(name)
        parts.append(f"Setting '{name}' ({origin}): {message}")
    return " ".join(parts) + " `urbankg config show` lists all settings."


def _explain_unknown(name: str) -> str:
    if name in CONSTANTS:
        return f"It is no setting any more; its value is {CONSTANTS[name]}. Delete it."
    near = nearest_name(name, Settings.model_fields)
    return (
        "There is no such setting." if near is None else f"There is no such setting; did you mean '{near}'?"
    )
