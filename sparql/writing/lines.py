"""Files of N-Triples and N-Quads screened on their way to the engine's own parser, for bulk loads.

The engine reads a file several times as fast as Python can look at what is in it: Python looks at half a
million lines a second where it is handed them as terms, and at three million as bytes. So a bulk load passes
on plain lines as they are in the file, and of the others what is admitted of them after they were parsed and
judged. Memory does not grow with the files.

A plain line breaks no rule of the syntax, of IRIs and of language tags, and its literal is in the lexical
space of its datatype; much that is right is not plain all the same (a test compares both).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Protocol

import numpy
from numpy.typing import NDArray
from pyoxigraph import BlankNode, NamedNode, Quad, Triple

from geo.vocabulary import GEOMETRY_LITERALS, WKT_LITERAL
from sparql.model.vocabulary import GRAPH, RDF, XSD

# RFC 3987 without what is rare in it: ports and users, brackets; of other scripts Latin and Greek letters.
_USUAL = r"[A-Za-z0-9\-._~!$&'()*+,;=:@/?]*+"
_IN_IRI = rf"{_USUAL}(?:(?:%[0-9A-Fa-f]{{2}}|[\xc3-\xce][\x80-\xbf]){_USUAL})*+"
_IRI_TEXT = rf"[a-z][a-z0-9+.-]*+:(?://[A-Za-z0-9._-]++(?=[/?#>])|(?=[A-Za-z0-9])){_IN_IRI}(?:#{_IN_IRI})?>"
_IRI_PATTERN = f"<{_IRI_TEXT}"
_BLANK = "_:[A-Za-z0-9]++"
_TEXT = r'"(?:[^"\\\n\r]++|\\[tbnrf"\x27\\])*+"'
_LANGUAGE = "@[a-zA-Z]{2,3}(?:-[A-Z]{2})?+"
_DAY = r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])"
_ZONE = r"(?:Z|[+-](?:0\d|1[0-3]):[0-5]\d)?+"
_NUMBER = r"[+-]?+\d++(?:\.\d++)?+"
_LONGITUDE = r"-?+(?:1[0-7]\d|\d\d?+)(?:\.\d{1,20}+)?+"
_LATITUDE = r"-?+(?:[0-8]\d|\d)(?:\.\d{1,20}+)?+"
_FORMS = {
    XSD.string.value: r'(?:[^"\\\n\r]++|\\[tbnrf"\x27\\])*+',
    XSD.integer.value: r"[+-]?+\d++",
    XSD.nonNegativeInteger.value: r"\d++",
    XSD.positiveInteger.value: r"[1-9]\d*+",
    XSD.int.value: r"[+-]?+\d{1,9}+",
    XSD.long.value: r"[+-]?+\d{1,18}+",
    XSD.decimal.value: _NUMBER,
    XSD.double.value: rf"{_NUMBER}(?:[eE][+-]?+\d++)?+",
    XSD.float.value: rf"{_NUMBER}(?:[eE][+-]?+\d++)?+",
    XSD.boolean.value: "true|false",
    XSD.gYear.value: r"\d{4}",
    XSD.date.value: _DAY + _ZONE,
    XSD.dateTime.value: rf"{_DAY}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d++)?+{_ZONE}",
    WKT_LITERAL.value: rf"POINT ?\({_LONGITUDE} {_LATITUDE}\)",
}
_JUDGED = (XSD.iri, RDF.iri, *sorted(one.value for one in GEOMETRY_LITERALS))
"""How IRIs of datatypes begin of which not every text is a value."""


@cache
def plain_lines(*, graphs: bool, blank_nodes: bool) -> re.Pattern[bytes]:
    """Matches as many plain lines as there are from a position on, possibly none.

    `graphs` is for N-Quads: the graph of a plain line is not a system graph. With `blank_nodes` a plain
    line may have some.
    """
    node = f"(?:{_IRI_PATTERN}|{_BLANK})" if blank_nodes else _IRI_PATTERN
    forms = "|".join(rf'"(?:{form})"\^\^<{re.escape(datatype)}>' for datatype, form in _FORMS.items())
    others = "|".join(re.escape(start) for start in _JUDGED)
    literal = rf"(?:{_TEXT}(?:{_LANGUAGE}|\^\^<(?!{others}){_IRI_TEXT}|(?!\^\^|@))|{forms})"
    graph = rf"(?:(?!<{re.escape(GRAPH.iri)}){node} )?+" if graphs else ""
    line = rf"{node} {_IRI_PATTERN} (?:{node}|{literal}) {graph}\.\r?+\n"
    return re.compile(f"(?:{line})*+".encode("latin-1"))


_PLACES_BITS = 22
_MIXED = numpy.uint64(0x9E3779B97F4A7C15)
_TAIL = 8
"""The bytes before the end of a subject by which lines are compared with known subjects."""


class LineFile(Protocol):
    """A file with one statement a line. Whatever cannot be read or parsed raises an error that says where."""

    @property
    def names_graphs(self) -> bool:
        """Whether it is N-Quads."""

    def pieces(self) -> Iterator[bytes]:
        """The file's bytes in order; about a megabyte each is best."""

    def statements(self, lines: Sequence[bytes], numbers: Sequence[int]) -> list[Quad]:
        """What these lines state, in order, with blank nodes by their names; `numbers` say where they are."""


class SubjectTails:
    """Finds the lines that may speak of some known subjects, and a few more; its size is fixed."""

    def __init__(self, subjects: Iterable[object]) -> None:
        self._places = numpy.zeros(1 << _PLACES_BITS, dtype=bool)
        self._any = False
        for subject in subjects:
            # Blank nodes of a file are none that the graph knows.
            if isinstance(subject, NamedNode):
                tail = f"<{subject.value}".encode()[-_TAIL:].rjust(_TAIL, b"<")
                self._places[_place(numpy.frombuffer(tail, dtype="<u8"))] = True
                self._any = True

    def lines_of(self, lines: bytes) -> list[tuple[int, int]]:
        """Start and end of each of these whole lines that may have a known subject."""
        if not self._any or not lines:
            return []
        found = numpy.frombuffer(lines, dtype=numpy.uint8)
        ends = numpy.flatnonzero(found == ord("\n")) + 1
        starts = numpy.concatenate(([0], ends[:-1]))
        closed = numpy.flatnonzero(found == ord(">"))
        # Where a subject is a blank node, its predicate is compared.
        subjects = closed[numpy.searchsorted(closed, starts)]
        tails = found[numpy.maximum(subjects[:, None] - _TAIL + numpy.arange(_TAIL), 0)]
        known = self._places[_place(numpy.ascontiguousarray(tails).view("<u8")[:, 0])]
        which = numpy.flatnonzero(known | (subjects - starts < _TAIL))
        return list(zip(starts[which].tolist(), ends[which].tolist(), strict=True))


def _place(tails: NDArray[numpy.uint64]) -> NDArray[numpy.uint64]:
    return (tails * _MIXED) >> numpy.uint64(64 - _PLACES_BITS)


class LineScreen:
    """What is to be loaded of files of lines, as a file of N-Quads for a parser that need not check it.

    `admit` says which of some statements are loaded, and what besides; it is handed those of all lines that
    are not plain, or whose subject may be one of `tails`. Errors of a file come through `read`.
    """

    def __init__(
        self, files: Sequence[LineFile], tails: SubjectTails, admit: Callable[[list[Quad]], Iterable[Quad]]
    ) -> None:
        self.plain = 0
        """How many plain lines were passed on so far."""
        self._tails = tails
        self._admit = admit
        self._pieces = self._screened(files)
        self._current = b""
        self._position = 0

    def read(self, size: int = -1, /) -> bytes:
        """Up to so many bytes of what is to be loaded; none at its end."""
        while self._position >= len(self._current):
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._current, self._position = piece, 0
        start = self._position
        self._position = len(self._current) if size < 0 else start + size
        return self._current[start : self._position]

    def _screened(self, files: Sequence[LineFile]) -> Iterator[bytes]:
        # A blank node belongs to its file, and the engine takes all of this for one.
        alone = len(files) == 1
        for scope, file in enumerate(files):
            plain = plain_lines(graphs=file.names_graphs, blank_nodes=alone)
            number = 1
            for lines in _whole_lines(file.pieces()):
                passed: list[bytes] = []
                others: list[bytes] = []
                numbers: list[int] = []
                for run, is_plain in self._runs(lines, plain):
                    count = run.count(b"\n")
                    if is_plain:
                        passed.append(run)
                        self.plain += count
                    else:
                        others.append(run)
                        numbers.append(number)
                    number += count
                yield b"".join(passed)
                if others:
                    for quad in self._admit(file.statements(others, numbers)):
                        yield f"{quad if alone else _scoped(quad, scope)} .\n".encode()

    def _runs(self, lines: bytes, plain: re.Pattern[bytes]) -> Iterator[tuple[bytes, bool]]:
        """Whole lines as runs of plain ones (True) and others one by one."""
        sound = _is_utf8(lines)
        position = 0
        while position < len(lines):
            found = plain.match(lines, position) if sound else None
            run = lines[position : found.end()] if found else b""
            done = 0
            for start, end in self._tails.lines_of(run):
                yield run[done:start], True
                yield run[start:end], False
                done = end
            yield run[done:], True
            position += len(run)
            if position < len(lines):
                end = lines.index(b"\n", position) + 1
                yield lines[position:end], False
                position = end


def _whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes cut behind ends of lines, of which the last line has one too."""
    begun: list[bytes] = []
    for piece in pieces:
        cut = piece.rfind(b"\n") + 1
        if not cut:
            begun.append(piece)
            continue
        yield b"".join([*begun, piece[:cut]])
        begun = [piece[cut:]]
    if last := b"".join(begun):
        yield last + b"\n"


def _is_utf8(lines: bytes) -> bool:
    if lines.isascii():
        return True
    try:
        lines.decode()
    except UnicodeDecodeError:
        return False
    return True


def _scoped(quad: Quad, scope: int) -> Quad:
    """The same with names of blank nodes that no other file has."""

    def renamed(term: Any) -> Any:
        if isinstance(term, BlankNode):
            return BlankNode(f"f{scope}x{term.value}")
        if isinstance(term, Triple):
            return Triple(renamed(term.subject), term.predicate, renamed(term.object))
        return term

    return Quad(renamed(quad.subject), quad.predicate, renamed(quad.object), renamed(quad.graph_name))
