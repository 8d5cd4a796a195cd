"""The commands with their options, for the page and the man page."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import typer

from server.cli.app import command_line


def commands_page() -> str:
    """One section a command: how it is called, what it does, its arguments and options."""
    return "\n\n".join(_section(path, command) for path, command in commands())


def manual_page() -> str:
    """The man page `urbankg(1)`."""
    lines = [
        f'.TH URBANKG 1 "" "UrbanKG {version("urbankg")}" "User Commands"',
        ".SH NAME",
        "urbankg \\- a knowledge-graph server: text in, gated and related graph out, SPARQL over it",
        ".SH SYNOPSIS",
        ".B urbankg",
        "[OPTIONS] COMMAND [ARGUMENTS]",
        ".SH DESCRIPTION",
        "Data goes to standard output, all else to standard error: tables on a terminal, JSON elsewhere.",
        "A folder that a server holds is used through that server.",
        ".SH COMMANDS",
    ]
    for path, command in commands():
        lines += [".SS " + _troff(path), _troff(_help(command))]
        for names, text in _parameters(command):
            lines += [".TP", ".B " + _troff(names), _troff(text)]
    lines += [
        ".SH EXIT STATUS",
        "0: done. 1: done, but something was refused or missing. 2: not done.",
        ".SH ENVIRONMENT",
        "Every setting is a variable URBANKG_ with its name in capitals; urbankg config show lists them.",
        ".SH FILES",
        ".TP",
        ".B urbankg.toml",
        "Settings, read from the current folder.",
    ]
    return "\n".join(lines) + "\n"


def _section(path: str, command: Any) -> str:
    rows = [f"- `{names}`: {text}" if text else f"- `{names}`" for names, text in _parameters(command)]
    return "\n".join([f"## `{path}`", "", _help(command), *([""] if rows else []), *rows])


def commands() -> Iterator[tuple[str, Any]]:
    """Every command that does something, by its words, in the order of `--help`."""
    pending = [("urbankg", typer.main.get_command(command_line()))]
    while pending:
        path, command = pending.pop(0)
        children = getattr(command, "commands", None)
        if children is None:
            yield path, command
        else:
            pending[:0] = [(f"{path} {name}", child) for name, child in children.items()]


def _parameters(command: Any) -> Iterator[tuple[str, str]]:
    for one in command.params:
        if one.param_type_name == "argument":
            yield one.name.upper(), _flat(getattr(one, "help", None))
        else:
            names = ", ".join([*one.opts, *one.secondary_opts])
            value = "" if one.is_flag else f" {one.name.upper()}"
            yield names + value, _flat(one.help)


def _help(command: Any) -> str:
    return _flat(command.help)


def _flat(text: str | None) -> str:
    return " ".join((text or "").split())


def _troff(text: str) -> str:
    """Text that troff shows as it is."""
    shown = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + shown if shown.startswith((".", "'")) else shown
