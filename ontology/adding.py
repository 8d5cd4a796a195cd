"""Add ontologies to a folder with all that they import, from files and from installed packages; offline."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from pyoxigraph import NamedNode

from ontology.errors import OntologyError, OntologyImportMissing, OntologyUnreadable
from ontology.loading import (
    CATALOG,
    SUFFIXES,
    OntologyFile,
    imports_of,
    names_of,
    read_catalog,
    read_file,
    read_folder,
)

_IMPORTS = "imports"
"""The folder inside the ontology folder that gets what is imported: only the catalog refers to it."""
_SHOWN = 20


@dataclass(frozen=True)
class Added:
    """What was written: the files, what they import, and the imports of which there is only an empty file."""

    files: tuple[Path, ...]
    imported: tuple[Path, ...]
    empty: tuple[str, ...]


def add(
    sources: Sequence[str],
    folder: Path,
    search: Sequence[Path] = (),
    *,
    replace: bool = False,
    allow_empty: bool = False,
) -> Added:
    """Copy ontologies into a folder, which is made if need be, and what they import into a folder below it.

    A source is a file, a folder, `PACKAGE` or `PACKAGE:PATH` of an installed Python package. Imports are
    found in the folder itself, by the source's own catalog, in the source's folder or package, and anywhere
    below the folders of `search`. With `allow_empty`, an import that is nowhere gets an empty file. Raises
    OntologyError, which names all that is missing, and then nothing is written.
    """
    addition = _Addition(folder, replace)
    places = [*search]
    for source in sources:
        paths, around = _found(source)
        places.append(around)
        for path in paths:
            addition.take(path)
    missing = addition.follow(places)
    if missing and not allow_empty:
        raise missing[0].with_others(missing[1:])
    addition.check()
    return addition.write([error.iri for error in missing])


@dataclass
class _Addition:
    """The files to write, before any is written."""

    folder: Path
    replace: bool
    files: dict[str, OntologyFile] = field(default_factory=dict)
    imported: dict[str, tuple[Path, OntologyFile]] = field(default_factory=dict)
    """By the IRI under which they are imported; each with the path that it gets."""

    def take(self, path: Path) -> None:
        """Add a file to those that come into the folder itself."""
        other = self.files.get(path.name)
        if other is not None and other.path.resolve() != path.resolve():
            raise OntologyUnreadable(
                f"{other.path} has the same name.", "Rename one of the two, or add only one.", file=path
            )
        self.files[path.name] = read_file(path)

    def follow(self, places: Sequence[Path]) -> list[OntologyImportMissing]:
        """Find all imports, those of imports too; the ones that are nowhere."""
        known = {name for file in self.files.values() for name in names_of(file)} | self._known_before()
        found: _Index | None = None
        missing = []
        waiting = list(self.files.values())
        while waiting:
            file = waiting.pop(0)
            for iri in imports_of(file):
                name = iri.value.rstrip("#/")
                if name in known:
                    continue
                known.add(name)
                found = found or _Index(places)
                target = _by_catalog(file, iri) or found.find(name)
                if target is None:
                    fix = "Name a folder that has it with --search, or give --empty-imports to go without it."
                    missing.append(OntologyImportMissing(iri.value, fix, file=file.path))
                    continue
                self.imported[iri.value] = self._import_path(target.path.name), target
                known |= names_of(target)
                waiting.append(target)
        return missing

    def check(self) -> None:
        """Raise OntologyUnreadable for all files that are there with other content."""
        clashes = [
            OntologyUnreadable(
                "There is another file of this name.", "Give --replace to replace it.", file=path
            )
            for path, file in self._targets()
            if path.exists() and path.read_bytes() != file.content
        ]
        if clashes and not self.replace:
            raise clashes[0].with_others(clashes[1:])

    def write(self, empty: Sequence[str]) -> Added:
        """Write imports before the catalog, and that before the files, so that a server never misses one."""
        catalog: dict[str, str] = {}
        written = []
        for iri, (path, file) in self.imported.items():
            _write(path, file.content)
            catalog[iri] = f"{_IMPORTS}/{path.name}"
            written.append(path)
        for number, iri in enumerate(empty, start=1):
            path = self._import_path(f"empty-{number}-{_words(iri)}.ttl")
            _write(path, f"<{iri}> a <http://www.w3.org/2002/07/owl#Ontology> .\n".encode())
            catalog[iri] = f"{_IMPORTS}/{path.name}"
        self.folder.mkdir(parents=True, exist_ok=True)
        if catalog:
            _write(self.folder / CATALOG, _extended_catalog(self.folder / CATALOG, catalog))
        for name, file in self.files.items():
            _write(self.folder / name, file.content)
        return Added(tuple(self.folder / name for name in self.files), tuple(written), tuple(empty))

    def _known_before(self) -> set[str]:
        if not self.folder.is_dir():
            return set()
        problems: list[OntologyError] = []
        files = read_folder(self.folder, dict.fromkeys(self.files), problems)
        return {name for file in files for name in names_of(file)}

    def _targets(self) -> Iterator[tuple[Path, OntologyFile]]:
        yield from self.imported.values()
        yield from ((self.folder / name, file) for name, file in self.files.items())

    def _import_path(self, name: str) -> Path:
        path = self.folder / _IMPORTS / name
        taken = {other for other, _ in self.imported.values()}
        return path if path not in taken else self._import_path(f"other-{name}")


class _Index:
    """The ontologies of some folders, by IRI. A file that cannot be read is none of them."""

    def __init__(self, places: Iterable[Path]) -> None:
        self._files: dict[str, OntologyFile] = {}
        for path in dict.fromkeys(path for place in places for path in _below(place)):
            try:
                file = read_file(path)
            except OntologyError:
                continue
            for name in names_of(file):
                self._files.setdefault(name, file)

    def find(self, name: str) -> OntologyFile | None:
        return self._files.get(name)


def _by_catalog(file: OntologyFile, iri: NamedNode) -> OntologyFile | None:
    entry = read_catalog(file.path.parent).find(iri.value)
    return read_file(entry[0]) if entry is not None and entry[0].is_file() else None


def _found(source: str) -> tuple[list[Path], Path]:
    """The files of a source, and the folder in which what they import may be."""
    path = Path(source)
    if path.is_dir():
        files = [one for one in sorted(path.iterdir()) if one.suffix in SUFFIXES and one.is_file()]
        if not files:
            raise OntologyUnreadable(f"It has no file with {_suffixes()}.", "Name another one.", file=path)
        return files, path
    if path.is_file():
        _check_suffix(path)
        return [path], path.parent
    name, _, inner = source.partition(":")
    package = _package(name)
    if package is None:
        raise OntologyUnreadable(
            f"{source} is neither a file, a folder nor an installed Python package.",
            "Correct it, or install the package.",
        )
    if inner:
        file = package / inner
        if not file.is_file():
            raise OntologyUnreadable(f"The package {name} has no file {inner}.", _choice(name, package))
        _check_suffix(file)
        return [file], package
    files = list(_below(package))
    if len(files) != 1:
        raise OntologyUnreadable(f"The package {name} has {len(files)} ontologies.", _choice(name, package))
    return files, package


def _package(name: str) -> Path | None:
    """The folder of an installed package, which is not imported."""
    spec = find_spec(name) if name.isidentifier() else None
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(folders[0]) if folders else None


def _choice(name: str, package: Path) -> str:
    files = [f"{name}:{path.relative_to(package).as_posix()}" for path in _below(package)]
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    return f"Name one of {', '.join(files[:_SHOWN])}{more}." if files else "Name another package."


def _below(place: Path) -> Iterator[Path]:
    """The files of ontologies in a folder and all below it."""
    for path in sorted(place.rglob("*")):
        if path.suffix in SUFFIXES and path.is_file() and b"Ontology" in path.read_bytes():
            yield path


def _check_suffix(path: Path) -> None:
    if path.suffix not in SUFFIXES:
        raise OntologyUnreadable(
            f"Its name does not end with {_suffixes()}.", "Convert it to Turtle or rename it.", file=path
        )


def _suffixes() -> str:
    return f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"


def _words(iri: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in iri.partition("://")[2].rstrip("#/"))


def _extended_catalog(path: Path, entries: dict[str, str]) -> bytes:
    """The catalog of a folder with these entries in place of those of the same names."""
    # Imported here: most folders have no catalog.
    from lxml import etree

    namespace = "urn:oasis:names:tc:entity:xmlns:xml:catalog"
    if path.is_file():
        parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_blank_text=True)
        root = etree.fromstring(path.read_bytes(), parser)
    else:
        root = etree.Element(f"{{{namespace}}}catalog", nsmap={None: namespace})  # type: ignore[dict-item]
    names = {iri.rstrip("#/") for iri in entries}
    for element in list(root.iter("{*}uri")):
        above = element.getparent()
        if above is not None and str(element.get("name")).rstrip("#/") in names:
            above.remove(element)
    for iri, target in entries.items():
        etree.SubElement(root, f"{{{namespace}}}uri", name=iri, uri=target)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(content)
    os.replace(partial, path)
