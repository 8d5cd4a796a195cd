"""Programs of the command line: curl, roqet, ogrinfo, ogr2ogr and QGIS without a screen."""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from checks import GRAPH, MUSEUMS, NAMES, SPARQL, URL, run, same

LAYERS = f"OAPIF:{URL}/"
QGIS = """
import sys
from qgis.core import QgsApplication, QgsFeatureRequest, QgsRectangle, QgsVectorLayer
QgsApplication.setPrefixPath("/usr", True)
application = QgsApplication([], False)
application.initQgis()
layer = QgsVectorLayer(f" url='{sys.argv[1]}/' typename='Museum'", "museums", "OAPIF")
assert layer.isValid(), layer.error().message()
names = sorted(feature["label"] for feature in layer.getFeatures())
box = QgsFeatureRequest(QgsRectangle(10, 50, 10.02, 50.02))
print(names, layer.crs().authid(), [one["label"] for one in layer.getFeatures(box)])
"""


def output(*command: str) -> str:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()[-1000:]}")
    return done.stdout


def version(*command: str) -> str:
    """The first word of the output with a digit at its start."""
    try:
        return next(word.strip(",") for word in output(*command).split() if word[0].isdigit())
    except (OSError, StopIteration):
        return "not installed"


def curl(*flags: str) -> None:
    same(all(name in output("curl", "-sSf", *flags) for name in NAMES), True)


def roqet(query: str, *flags: str) -> None:
    found = output("roqet", "-q", *flags, "-p", SPARQL, "-e", query)
    same(all(name in found for name in NAMES), True)


def ogrinfo() -> None:
    names = [line.split()[1] for line in output("ogrinfo", "-so", LAYERS).splitlines() if line[:1].isdigit()]
    same({"Museum", "Park"} <= set(names), True)
    same("Feature Count: 2" in output("ogrinfo", LAYERS, "Museum", "-so"), True)
    near = output("ogrinfo", LAYERS, "Neighborhood", "-spat", "10", "50", "10.001", "50.001", "-so")
    same("Feature Count: 1" in near, True)


def ogr2ogr() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "places.geojson")
        output("ogr2ogr", str(file), LAYERS, "Museum")
        found = json.loads(file.read_text())["features"]
    same(sorted(one["properties"]["label"] for one in found), NAMES)


def qgis() -> None:
    found = output("/usr/bin/python3", "-c", QGIS, URL).strip()
    # 3.22 takes CRS84 for EPSG:4326, and east before north in both.
    same(found.replace("OGC:CRS84", "EPSG:4326"), f"{NAMES} EPSG:4326 ['Clock Museum']")


run(
    "curl",
    version("curl", "--version"),
    {
        "SELECT by GET": lambda: curl(f"{SPARQL}?{urlencode({'query': MUSEUMS})}"),
        "SELECT by POST as a form": lambda: curl("--data-urlencode", f"query={MUSEUMS}", SPARQL),
        "CONSTRUCT": lambda: curl("-H", "Accept: text/turtle", "--data-urlencode", f"query={GRAPH}", SPARQL),
    },
)
run(
    "roqet",
    version("roqet", "--version"),
    {
        "SELECT": lambda: roqet(MUSEUMS),
        "SELECT, CSV": lambda: roqet(MUSEUMS, "-r", "csv"),
        "CONSTRUCT": lambda: roqet(GRAPH, "-r", "turtle"),
    },
)
run(
    "GDAL (ogrinfo, ogr2ogr)",
    version("ogrinfo", "--version"),
    {"OAPIF: layers, count and box": ogrinfo, "OAPIF: a copy as GeoJSON": ogr2ogr},
)
run(
    "QGIS",
    version("/usr/bin/python3", "-c", "import qgis.core; print(qgis.core.Qgis.QGIS_VERSION)"),
    {"OAPIF: features of a layer, and in a box": qgis},
)
