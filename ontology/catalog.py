"""The catalog of a folder: the files of imported ontologies, so that nothing is fetched from a network.

The file is `catalog-v001.xml` in OASIS XML Catalogs 1.1 format (section 6), as Protege writes it: `uri`
entries, also inside `group`, with `xml:base`. Only file references are followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ontology.errors import OntologySyntaxError

__all__ = ["CATALOG", "Catalog", "read_catalog"]

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
