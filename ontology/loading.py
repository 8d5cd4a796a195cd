"""Ontology files read into triples, with errors that an editor can act on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pyoxigraph import BlankNode, NamedNode, RdfFormat, Triple, parse

from ontology.errors import OntologySyntaxError, OntologyUnreadable

__all__ = ["OntologyFile", "line_of", "read_file", "read_folder"]

SUFFIXES = (".ttl", ".owl", ".rdf", ".nt")


@dataclass(frozen=True)
class OntologyFile:
    """One file: its triples as written, in order, with blank nodes that no other file shares."""

    path: Path
    triples: tuple[Triple, ...]
    prefixes: Mapping[str, str]
    digest: str


def read_folder(folder: Path) -> tuple[OntologyFile, ...]:
    """Read every ontology file that lies directly in a folder, by name; other files are passed over.

    Raises OntologyUnreadable if there is no such folder, and what `read_file` raises.
    """
    if not folder.is_dir():
        raise OntologyUnreadable(
            "There is no such ontology folder.",
            "Create it (it may be empty) or name another one.",
            file=folder,
        )
    paths = sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file())
    return tuple(read_file(path) for path in paths)


def read_file(path: Path) -> OntologyFile:
    """Read one file; its ending says which syntax, and an .owl file may be RDF/XML or Turtle.

    Raises OntologyUnreadable (cannot be opened, not UTF-8) and OntologySyntaxError (with the line).
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise OntologyUnreadable(
            f"The file cannot be opened: {error.strerror}.", "Check its permissions.", file=path
        ) from error
    form = _syntax(path, content)
    parser = parse(content, form, base_iri=path.resolve().as_uri())
    try:
        quads = list(parser)
    except (SyntaxError, ValueError) as error:
        raise _syntax_error(path, content, form, error) from error
    scope = _BlankNodeScope(path.name)
    triples = tuple(scope.rename(quad.triple) for quad in quads)
    digest = hashlib.sha256(content).hexdigest()
    return OntologyFile(path, triples, MappingProxyType(dict(parser.prefixes)), digest)


def line_of(file: OntologyFile, iri: NamedNode) -> int | None:
    """The line (from 1) on which a file first writes an IRI as a subject, else at all; None if it never does.

    It looks for the full IRI and for its prefixed form, as an editor's search would.
    """
    spellings = [f"<{iri.value}>", f'"{iri.value}"']
    for prefix, namespace in file.prefixes.items():
        if namespace and iri.value.startswith(namespace):
            spellings.append(f"{prefix}:{iri.value[len(namespace) :]}")
    alternatives = "|".join(re.escape(spelling) for spelling in spellings)
    lines = file.path.read_text(encoding="utf-8").splitlines()
    for pattern in (rf"^(?:{alternatives})(?![\w-])", rf"(?<![\w-])(?:{alternatives})(?![\w-])"):
        for number, line in enumerate(lines, start=1):
            if re.search(pattern, line):
                return number
    return None


def _syntax(path: Path, content: bytes) -> RdfFormat:
    if path.suffix == ".nt":
        return RdfFormat.N_TRIPLES
    looks_like_xml = content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(
        (b"<?xml", b"<rdf:", b"<!DOCTYPE", b"<!--")
    )
    if path.suffix == ".rdf" or (path.suffix == ".owl" and looks_like_xml):
        return RdfFormat.RDF_XML
    return RdfFormat.TURTLE


def _syntax_error(path: Path, content: bytes, form: RdfFormat, error: Exception) -> OntologySyntaxError:
    line = error.lineno if isinstance(error, SyntaxError) else None
    reason = error.msg if isinstance(error, SyntaxError) else str(error)
    mend = f"Correct the {form.name} there"
    undeclared = re.search(r"prefix ([\w-]*):? ?(?:has not been|is not|not) ?declared", reason, re.IGNORECASE)
    if undeclared or "prefix" in reason.lower():
        mend = "Declare the prefix with an @prefix line at the top of the file, or correct its spelling"
    written = ""
    if line is not None:
        lines = content.decode("utf-8", errors="replace").splitlines()
        if 0 < line <= len(lines):
            written = f", which reads: {lines[line - 1].strip()[:120]}"
    elif form == RdfFormat.TURTLE:
        mend = "Check that every statement ends with '.' and every string and bracket is closed"
    return OntologySyntaxError(f"{reason.rstrip('.')}.", f"{mend}{written}", file=path, line=line)


class _BlankNodeScope:
    """Names for a file's blank nodes that no other file uses and that stay when the file is read again."""

    def __init__(self, file_name: str) -> None:
        self._scope = "o" + hashlib.sha256(file_name.encode()).hexdigest()[:8]
        self._names: dict[BlankNode, BlankNode] = {}

    def rename(self, triple: Triple) -> Triple:
        subject = self._renamed(triple.subject) if isinstance(triple.subject, BlankNode) else triple.subject
        value = self._renamed(triple.object) if isinstance(triple.object, BlankNode) else triple.object
        if subject is triple.subject and value is triple.object:
            return triple
        return Triple(subject, triple.predicate, value)

    def _renamed(self, node: BlankNode) -> BlankNode:
        if node not in self._names:
            self._names[node] = BlankNode(f"{self._scope}n{len(self._names)}")
        return self._names[node]
