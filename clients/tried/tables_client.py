"""pandas and DuckDB: answers as tables, straight from the address."""

from pathlib import Path
from urllib.parse import urlencode

import duckdb
import duckdb_extension_httpfs
import pandas
from checks import MUSEUMS, NAMES, SPARQL, run, same

CSV = f"{SPARQL}?{urlencode({'query': MUSEUMS, 'format': 'csv'})}"
TSV = f"{SPARQL}?{urlencode({'query': MUSEUMS, 'format': 'tsv'})}"
JSON = f"{SPARQL}?{urlencode({'query': MUSEUMS, 'format': 'json'})}"


def bindings() -> None:
    answer = pandas.read_json(JSON, typ="series")
    same(list(pandas.json_normalize(answer["results"]["bindings"])["name.value"]), NAMES)


def frame() -> None:
    table = pandas.read_csv(CSV)
    same((list(table.columns), list(table["name"])), (["name", "museum"], NAMES))


def sql(call: str, column: str = "name") -> None:
    same([row[0] for row in duckdb.sql(f"SELECT {column} FROM {call} ORDER BY 1").fetchall()], NAMES)


def over_http() -> None:
    (extension,) = Path(duckdb_extension_httpfs.__path__[0]).rglob("httpfs.duckdb_extension")
    duckdb.load_extension(str(extension))
    sql(f"read_csv('{CSV}')")


def from_frame() -> None:
    museums = pandas.read_csv(CSV)
    duckdb.register("museums", museums)
    sql("museums")


run(
    "pandas",
    pandas.__version__,
    {
        "read_csv of an address": frame,
        "read_csv of an address, TSV": lambda: same(len(pandas.read_csv(TSV, sep="\t")), 2),
        "read_json and json_normalize": bindings,
    },
)
run(
    "DuckDB",
    duckdb.__version__,
    {
        "read_csv of an address": over_http,
        "SQL over a table of pandas": from_frame,
    },
)
