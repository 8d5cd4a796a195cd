"""The functions and aggregates of GeoSPARQL 1.1 and the eight tools, for the engine's custom functions.

    store.query(text, custom_functions=FUNCTIONS, custom_aggregate_functions=AGGREGATES)

All but the DGGS ones. They replace the engine's own, which only read CRS84 WKT.

May import `geo.formats`, `geo.measure`, `geo.relate` and the modules of `geo` itself.
"""

from geo.functions.table import AGGREGATES, FUNCTIONS, FunctionTable

__all__ = ["AGGREGATES", "FUNCTIONS", "FunctionTable"]
