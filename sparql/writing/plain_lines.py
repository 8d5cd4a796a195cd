"""Lines of N-Triples and N-Quads that are surely right as they stand, found by one regular expression.

Python looks at half a million such lines a second where it is handed them as terms, and at three million as
bytes. So a bulk load passes on plain lines as they are, and has all others parsed and judged one by one.

A plain line breaks no rule of the syntax, of IRIs and of language tags, and its literal is in the lexical
space of its datatype; much that is right is not plain all the same (a test compares both).
"""

import re
from functools import cache

from geo.vocabulary import GEOMETRY_LITERALS, WKT_LITERAL
from sparql.model.vocabulary import GRAPH, RDF, XSD

# RFC 3987 without what is rare in it: ports and users, brackets; of other scripts Latin and Greek letters.
_USUAL = r"[A-Za-z0-9\-._~!$&'()*+,;=:@/?]*+"
_IN_IRI = rf"{_USUAL}(?:(?:%[0-9A-Fa-f]{{2}}|[\xc3-\xce][\x80-\xbf]){_USUAL})*+"
_IRI_TEXT = rf"[a-z][a-z0-9+.-]*+:(?://[A-Za-z0-9._-]++(?=[/?#>])|(?=[A-Za-z0-9])){_IN_IRI}(?:#{_IN_IRI})?>"
_IRI = f"<{_IRI_TEXT}"
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

    `graphs` is for N-Quads: the graph of a plain line is none of the system's. With `blank_nodes` a plain
    line may have some.
    """
    node = f"(?:{_IRI}|{_BLANK})" if blank_nodes else _IRI
    forms = "|".join(rf'"(?:{form})"\^\^<{re.escape(datatype)}>' for datatype, form in _FORMS.items())
    others = "|".join(re.escape(start) for start in _JUDGED)
    literal = rf"(?:{_TEXT}(?:{_LANGUAGE}|\^\^<(?!{others}){_IRI_TEXT}|(?!\^\^|@))|{forms})"
    graph = rf"(?:(?!<{re.escape(GRAPH.iri)}){node} )?+" if graphs else ""
    line = rf"{node} {_IRI} (?:{node}|{literal}) {graph}\.\r?+\n"
    return re.compile(f"(?:{line})*+".encode("latin-1"))
