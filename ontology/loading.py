"""Ontology files read into triples, with errors that an editor can act on, and the catalog of a folder.

The catalog names the files of imported ontologies, so that nothing is fetched from a network. It is
`catalog-v001.xml` in OASIS XML Catalogs 1.1 format (section 6), as Protege writes it: `uri` entries, also
inside `group`, with `xml:base`. Only file references are followed.
"""

from __future__ import annotations

import hashlib
import re
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from pyoxigraph import BlankNode, NamedNode, RdfFormat, Triple, parse

from ontology import vocabulary as v
from ontology.errors import (
    OntologyError,
    OntologyImportMissing,
    OntologySyntaxError,
    OntologyUnreadable,
)

CATALOG = "catalog-v001.xml"
_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_LOCAL = ("", "file")


@dataclass(frozen=True)
class Catalog:
    """The files of ontology IRIs, with the line of each entry."""

    path: Path
    entries: Mapping[str, tuple[Path, int]] = field(default_factory=dict)

    def find(self, iri: str) -> tuple[Path, int] | None:
        """The file of an ontology and the line of its entry; a trailing # or / does not matter."""
        return self.entries.get(iri.rstrip("#/"))


def read_catalog(folder: Path, content: bytes | None = None) -> Catalog:
    """The catalog of a folder, or of this content instead; empty where there is none.

    Raises OntologySyntaxError with the line.
    """
    path = folder / CATALOG
    if content is None:
        if not path.is_file():
            return Catalog(path)
        content = path.read_bytes()
    # Imported here: most folders have no catalog.
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise OntologySyntaxError(
            f"{error.msg}.", "Correct the XML there.", file=path, line=error.lineno or None
        ) from error
    entries: dict[str, tuple[Path, int]] = {}
    for element in root.iter("{*}uri"):
        name, target = element.get("name"), element.get("uri")
        if name and target and urlsplit(target).scheme in _LOCAL:
            base = folder
            for above in reversed([element, *element.iterancestors()]):
                base = base / unquote(urlsplit(str(above.get(_BASE, ""))).path)
            found = (base / unquote(urlsplit(str(target)).path)).resolve()
            line = element.sourceline
            entries.setdefault(str(name).rstrip("#/"), (found, line if isinstance(line, int) else 1))
    return Catalog(path, entries)


SUFFIXES = (".ttl", ".owl", ".rdf", ".nt")
_NAME = re.compile(r'<[^<>"\s]*>|"[^"\s]*"|(?<![\w-])(?:[\w-]+(?:\.[\w-]+)*)?:[\w.%-]*')
"""An IRI in brackets or, in XML, in quotes; or a prefixed name."""


@dataclass(frozen=True)
class OntologyFile:
    """One file: its triples as written, in order, with blank nodes unique to the file."""

    path: Path
    triples: tuple[Triple, ...]
    prefixes: Mapping[str, str]
    digest: str
    content: bytes = b""
    """The content as read, so that later findings refer to what was read."""

    @cached_property
    def lines(self) -> Mapping[str, int]:
        """The line of each IRI: the first that begins with it, else the first with it. Read once."""
        subjects: dict[str, int] = {}
        mentions: dict[str, int] = {}
        lines = self.content.decode("utf-8", errors="replace").splitlines()
        for number, line in enumerate(lines, start=1):
            for found in _NAME.finditer(line):
                iri = self._iri(found.group())
                if iri is not None:
                    mentions.setdefault(iri, number)
                    if found.start() == 0:
                        subjects.setdefault(iri, number)
        return mentions | subjects

    def _iri(self, name: str) -> str | None:
        """The IRI that is written so: in brackets or quotes, or with a prefix of the file."""
        if name[0] in '<"':
            return name[1:-1]
        prefix, _, local = name.partition(":")
        namespace = self.prefixes.get(prefix)
        return None if namespace is None else namespace + local.rstrip(".")


def read_folder(
    folder: Path,
    edits: Mapping[str, bytes | None] | None = None,
    problems: list[OntologyError] | None = None,
    known: Sequence[OntologyFile] = (),
) -> tuple[OntologyFile, ...]:
    """Read every ontology file directly in a folder, by name, then what they import.

    `edits` replace files of these names (None: the file is absent), so that a change can be checked before it
    is made. An import is one of the files themselves or a file named in the folder's catalog; nothing is
    fetched. Raises OntologyUnreadable if there is no such folder, OntologyImportMissing, and what `read_file`
    raises: the first error, which names all others. With `problems`, what can be read is returned, and the
    errors are added to that list. Of the `known` files those with the same path and content are not parsed
    again.
    """
    parsed = {(file.path, file.digest): file for file in known}
    if not folder.is_dir():
        raise OntologyUnreadable(
            "There is no such ontology folder.",
            "Create it (it may be empty) or name another one.",
            file=folder,
        )
    edited = edits or {}
    names = {path.name for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file()}
    names |= {name for name in edited if Path(name).suffix in SUFFIXES}
    names -= {name for name, content in edited.items() if content is None}
    found: list[OntologyError] = [] if problems is None else problems
    files = []
    for name in sorted(names):
        try:
            files.append(read_file(folder / name, edited.get(name), parsed))
        except OntologyError as error:
            found.append(error)
    try:
        catalog = read_catalog(folder, edited.get(CATALOG))
    except OntologyError as error:
        found.append(error)
    else:
        files = _with_imports(files, catalog, found, parsed)
    if found and problems is None:
        raise found[0].with_others(found[1:])
    return tuple(files)


def _with_imports(
    files: list[OntologyFile],
    catalog: Catalog,
    problems: list[OntologyError],
    parsed: Mapping[tuple[Path, str], OntologyFile],
) -> list[OntologyFile]:
    """The files, followed by those that they import through the catalog, directly or indirectly."""
    known = {name for file in files for name in names_of(file)}
    paths = {file.path.resolve() for file in files}
    for file in files:
        for iri in imports_of(file):
            if iri.value.rstrip("#/") in known:
                continue
            entry = catalog.find(iri.value)
            known.add(iri.value.rstrip("#/"))
            if entry is None or not entry[0].is_file():
                problems.append(_import_missing(file, iri, catalog, entry))
            elif entry[0] not in paths:
                paths.add(entry[0])
                try:
                    imported = read_file(entry[0], None, parsed)
                except OntologyError as error:
                    problems.append(error)
                else:
                    known |= names_of(imported)
                    files.append(imported)
    return files


def names_of(file: OntologyFile) -> set[str]:
    """The IRI of the file's ontology and that of its version."""
    own = {t.subject for t in file.triples if t.predicate == v.TYPE and t.object == v.ONTOLOGY}
    versions = {t.object for t in file.triples if t.predicate == v.VERSION_IRI}
    return {iri.value.rstrip("#/") for iri in own | versions if isinstance(iri, NamedNode)}


def imports_of(file: OntologyFile) -> list[NamedNode]:
    """The ontologies that a file imports, in order."""
    found = [t.object for t in file.triples if t.predicate == v.IMPORTS]
    return [iri for iri in dict.fromkeys(found) if isinstance(iri, NamedNode)]


def _import_missing(
    file: OntologyFile, iri: NamedNode, catalog: Catalog, entry: tuple[Path, int] | None
) -> OntologyImportMissing:
    if entry is None:
        fix = (
            f'Put the file into the folder and add <uri name="{iri.value}" uri="FILE"/> to {catalog.path}, '
            "or remove the import; nothing is fetched from the network."
        )
        return OntologyImportMissing(iri.value, fix, file=file.path, line=line_of(file, iri))
    fix = f"The catalog maps it to {entry[0]}, which does not exist; put the file there or correct the entry."
    return OntologyImportMissing(iri.value, fix, file=catalog.path, line=entry[1])


def read_file(
    path: Path, content: bytes | None = None, parsed: Mapping[tuple[Path, str], OntologyFile] | None = None
) -> OntologyFile:
    """Read one file, or this content instead.

    The suffix determines the syntax; an .owl file may be RDF/XML or Turtle. `parsed` are files by path and
    digest; one of them is the result where both are the same.

    Raises OntologyUnreadable (cannot be opened, not UTF-8) and OntologySyntaxError (with the line).
    """
    try:
        content = path.read_bytes() if content is None else content
    except OSError as error:
        raise OntologyUnreadable(
            f"The file cannot be opened: {error.strerror}.", "Check its permissions.", file=path
        ) from error
    digest = hashlib.sha256(content).hexdigest()
    if parsed is not None and (path, digest) in parsed:
        return parsed[path, digest]
    form = syntax_of(path, content)
    parser = parse(content.removeprefix(BOM_UTF8), form, base_iri=path.resolve().as_uri())
    try:
        quads = list(parser)
    except (SyntaxError, ValueError, MemoryError) as error:
        raise _syntax_error(path, content, form, error) from error
    scope = _BlankNodeScope(path.name)
    triples = tuple(scope.rename(quad.triple) for quad in quads)
    return OntologyFile(path, triples, MappingProxyType(dict(parser.prefixes)), digest, content)


def line_of(file: OntologyFile, iri: NamedNode) -> int | None:
    """The line (from 1) where an IRI first occurs as a subject, else at all; None if it does not occur.

    It looks for the full IRI and its prefixed form.
    """
    return file.lines.get(iri.value)


def syntax_of(path: Path, content: bytes) -> RdfFormat:
    """The syntax of a file: by its suffix, and for *.owl by its first bytes."""
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
    fix = f"Correct the {form.name} there"
    undeclared = re.search(r"prefix ([\w-]*):? ?(?:has not been|is not|not) ?declared", reason, re.IGNORECASE)
    if undeclared or "prefix" in reason.lower():
        fix = "Declare the prefix with an @prefix line at the top of the file, or correct its spelling"
    written = ""
    if line is not None:
        lines = content.decode("utf-8", errors="replace").splitlines()
        if 0 < line <= len(lines):
            written = f", which reads: {lines[line - 1].strip()[:120]}"
    elif form == RdfFormat.TURTLE:
        fix = "Check that every statement ends with '.' and every string and bracket is closed"
    return OntologySyntaxError(f"{reason.rstrip('.')}.", f"{fix}{written}", file=path, line=line)


class _BlankNodeScope:
    """Names for a file's blank nodes that are unique to the file and stable when it is read again."""

    def __init__(self, file_name: str) -> None:
        self._scope = "o" + hashlib.sha256(file_name.encode()).hexdigest()[:8]
        self._names: dict[BlankNode, BlankNode] = {}

    def rename(self, triple: Triple) -> Triple:
        subject, predicate, value = triple
        if not isinstance(subject, BlankNode) and not isinstance(value, BlankNode):
            return triple
        subject = self._renamed(subject) if isinstance(subject, BlankNode) else subject
        value = self._renamed(value) if isinstance(value, BlankNode) else value
        return Triple(subject, predicate, value)

    def _renamed(self, node: BlankNode) -> BlankNode:
        if node not in self._names:
            self._names[node] = BlankNode(f"{self._scope}n{len(self._names)}")
        return self._names[node]
