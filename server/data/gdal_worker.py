"""A process that reads one file with GDAL, with only the drivers for files of this name.

GDAL chooses a driver by a file's content, and some drivers follow references in it: to other files of the
machine (VRT and GDALG, which are XML and JSON), or to other hosts (WFS, `/vsicurl`). So all other drivers are
switched off before GDAL starts, which only a new process can do reliably; the kernel refuses it every socket;
and damaged or hostile content can only harm this process, not the server.

`python -m server.data.gdal_worker drivers` prints the names of all drivers, as JSON. With `layers
FILE DRIVER ...` it prints the layers; with `read FILE LAYER SIZE GEOMETRY DRIVER ...` one line of JSON and
then the features as an Arrow stream. An error is the last line of standard error, as JSON, and the exit
status 1.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

_UNUSED = ("geopandas", "pandas", "pyproj", "shapely")
"""What pyogrio imports where it can, and needs for other ways of reading; a third of the start."""


def main(arguments: Sequence[str]) -> int:
    """Run one command."""
    from sparql.workers.limits import forbid_network

    forbid_network()
    command, *rest = arguments
    for name in _UNUSED if command == "read" else (*_UNUSED, "pyarrow"):
        sys.modules[name] = None  # type: ignore[assignment]
    # GDAL loads its drivers and reads the environment when this is imported.
    import pyogrio

    if command == "drivers":
        _print(sorted(pyogrio.list_drivers()))
        return 0
    try:
        if command == "layers":
            file, *drivers = rest
            _check_drivers(pyogrio, drivers)
            with _local(pyogrio, Path(file)) as name:
                _print(list(_layers(pyogrio, name)))
        else:
            file, layer, size, geometry, *drivers = rest
            _check_drivers(pyogrio, drivers)
            with _local(pyogrio, Path(file)) as name:
                _read(name, layer, int(size), with_geometry=geometry == "geometry")
    except (pyogrio.errors.DataSourceError, pyogrio.errors.DataLayerError, OSError, ValueError) as error:
        sys.stderr.write("\n" + json.dumps(str(error)) + "\n")
        return 1
    return 0


def _check_drivers(pyogrio: Any, drivers: Sequence[str]) -> None:
    """Raise ValueError where GDAL has more drivers than allowed, or lacks one."""
    found = set(pyogrio.list_drivers())
    if found != set(drivers):
        differing = ", ".join(sorted(found ^ set(drivers)))
        raise ValueError(f"GDAL cannot be limited to the drivers for this file ({differing})")


@contextmanager
def _local(pyogrio: Any, file: Path) -> Iterator[str]:
    """The file under a name that GDAL reads as a local file.

    `!`, `;` and a leading `/vsi` have other meanings for it, and beside a GML file it writes what it found in
    it: such a file, with those beside it that have the same stem, is linked in a temporary folder.
    """
    name = str(file)
    is_plain = pyogrio.util.vsi_path(name) == name and not name.startswith("/vsi")
    if is_plain and file.suffix.lower() != ".gml":
        yield name
        return
    with TemporaryDirectory() as folder:
        stem = "".join(one if one.isalnum() or one in " -_." else "_" for one in file.stem)
        for beside in file.parent.iterdir():
            if beside.stem == file.stem:
                Path(folder, stem + beside.suffix).symlink_to(beside)
        yield str(Path(folder, stem + file.suffix))


def _layers(pyogrio: Any, name: str) -> Iterator[dict[str, Any]]:
    for layer in pyogrio.list_layers(name)[:, 0]:
        info = pyogrio.read_info(name, layer=str(layer))
        yield {
            "name": str(layer),
            "fields": [str(field) for field in info["fields"]],
            "features": int(info["features"]),
            "geometry_type": info.get("geometry_type"),
            "crs": info.get("crs"),
        }


def _read(name: str, layer: str, size: int, *, with_geometry: bool) -> None:
    import pyarrow
    from pyogrio import raw

    with raw.open_arrow(
        name, layer=layer, batch_size=size, use_pyarrow=True, read_geometry=with_geometry
    ) as (meta, reader):
        _print(meta["geometry_name"] or "wkb_geometry")
        try:
            with pyarrow.ipc.new_stream(sys.stdout.buffer, reader.schema) as stream:
                for batch in reader:
                    stream.write_batch(batch)
        except pyarrow.ArrowException as error:
            raise OSError(str(error)) from error
        sys.stdout.buffer.flush()


def _print(value: object) -> None:
    sys.stdout.buffer.write(json.dumps(value).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
