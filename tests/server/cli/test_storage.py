"""Load, dump, backup, restore and optimize as an operator types them, on a folder and through a server."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pyoxigraph
import pytest
from pyoxigraph import DefaultGraph, NamedNode, Quad
from typer.testing import CliRunner

from server.cli.app import command_line
from server.data.rdf_files import LoadError, rdf_files
from server.problem_map import USER_ERRORS
from tests.support.running_server import RunningServer

EX = "http://example.org/"
DATA = f"""<{EX}a> <{EX}p> <{EX}b> .\n<{EX}a> <{EX}label> "Ä"@de .\n"""
NAMED = f"<{EX}c> <{EX}p> _:x <{EX}graph> .\n"


def urbankg(data: Path, *arguments: object, code: int = 0) -> str:
    """Run a command on a folder with an empty ontology and no shapes; what it wrote to standard output."""
    nothing = data.parent / "nothing"
    nothing.mkdir(exist_ok=True)
    flags = ["--data", str(data), "--ontology", str(nothing), "--shapes", str(nothing)]
    done = CliRunner().invoke(command_line(), [*flags, *map(str, arguments)])
    if code == 2:
        assert isinstance(done.exception, USER_ERRORS)
        return str(done.exception)
    assert done.exit_code == code, done.output + repr(done.exception)
    return done.stdout


def quads_of(text: str) -> set[Quad]:
    return set(pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.N_QUADS))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    (folder / "deeper").mkdir(parents=True)
    (folder / "plain.nt").write_text(DATA)
    (folder / "deeper" / "named.nq.gz").write_bytes(gzip.compress(NAMED.encode()))
    (folder / "readme.txt").write_text("no RDF")
    return folder


def test_a_folder_a_pattern_and_a_file_mean_their_rdf_files(files: Path):
    assert [f.path.name for f in rdf_files([files])] == ["named.nq.gz", "plain.nt"]
    assert [f.path.name for f in rdf_files([files / "*.nt"])] == ["plain.nt"]
    assert [f.path.name for f in rdf_files([files / "**" / "*.gz", files])] == ["named.nq.gz", "plain.nt"]


@pytest.mark.parametrize("name", ["readme.txt", "missing.ttl", "*.owl"])
def test_a_name_that_means_no_rdf_is_reported(files: Path, name: str):
    with pytest.raises(LoadError, match=name.replace("*", r"\*")):
        rdf_files([files / name])


def test_a_broken_file_is_reported_with_its_line(files: Path):
    (files / "broken.nt.gz").write_bytes(gzip.compress(DATA.encode() + b"nonsense\n"))
    with pytest.raises(LoadError, match=r"broken\.nt\.gz, line 3"):
        list(rdf_files([files / "broken.nt.gz"])[0].quads())
    (files / "cut.nt.gz").write_bytes(gzip.compress(DATA.encode())[:-9])
    with pytest.raises(LoadError, match=r"cut\.nt\.gz"):
        list(rdf_files([files / "cut.nt.gz"])[0].quads())


def test_bytes_read_add_up_to_the_size_of_the_file(files: Path):
    for file in rdf_files([files]):
        read: list[int] = []
        list(file.quads(read.append))
        assert sum(read) == file.size


def test_what_was_loaded_is_dumped_backed_up_and_restored(files: Path, tmp_path: Path):
    data, again, kept = tmp_path / "data", tmp_path / "again", tmp_path / "kept"
    urbankg(data, "load", files)
    dumped = quads_of(urbankg(data, "dump"))
    assert {q.graph_name for q in dumped} == {DefaultGraph(), NamedNode(EX + "graph")}
    assert len(dumped) == 3
    urbankg(data, "dump", tmp_path / "out.ttl.gz")
    assert "Ä" in gzip.decompress((tmp_path / "out.ttl.gz").read_bytes()).decode()
    reported = json.loads(urbankg(data, "backup", kept))
    assert reported["revision"] > 0
    urbankg(again, "restore", kept)
    urbankg(again, "optimize")
    assert quads_of(urbankg(again, "dump")) == dumped
    assert "not empty" in urbankg(again, "restore", kept, code=2)


def test_a_bulk_load_says_that_the_gate_is_deferred(files: Path, tmp_path: Path):
    data = tmp_path / "data"
    urbankg(data, "load", "--bulk", files)
    assert len(quads_of(urbankg(data, "dump"))) == 3


def test_a_name_that_means_nothing_stops_the_command_with_what_to_do(files: Path, tmp_path: Path):
    assert "readme.txt" in urbankg(tmp_path / "data", "load", files / "readme.txt", code=2)
    assert "no graph" in urbankg(tmp_path / "data", "dump", code=2)


@pytest.mark.slow
def test_a_running_server_that_holds_the_folder_does_it(files: Path, tmp_path: Path):
    data, kept, again = tmp_path / "data", tmp_path / "kept", tmp_path / "again"
    nothing = str(tmp_path / "nothing")
    (tmp_path / "nothing").mkdir()
    with RunningServer(data, "--ontology", nothing, "--shapes", nothing):
        urbankg(data, "load", files / "plain.nt")
        urbankg(data, "load", files / "deeper", "--bulk")
        dumped = quads_of(urbankg(data, "dump"))
        assert len(dumped) == 3
        urbankg(data, "backup", kept)
        urbankg(data, "optimize")
        assert "exists" in urbankg(data, "backup", kept, code=2)
    urbankg(again, "restore", kept)
    assert quads_of(urbankg(again, "dump")) == dumped


def test_a_bulk_load_opens_no_index_and_no_reader_and_prints_its_peak_memory(tmp_path: Path, files: Path):
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    script = (
        "from server.cli.entry import main\nfrom server.services import Services\n"
        "Services.start = None\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    print(ended.code or 0)\nelse:\n    print(0)\n"
    )
    flags = [*("--ontology", str(nothing)), *("--shapes", str(nothing))]
    load = ["load", "--data", str(tmp_path / "data"), "--bulk", str(files)]
    large = bytearray(500 * 2**20)
    done = subprocess.run(
        [sys.executable, "-c", script, *flags, *load], capture_output=True, text=True, check=False
    )
    del large
    assert done.stdout.splitlines()[-1:] == ["0"], done.stderr
    [line] = [line for line in done.stderr.splitlines() if line.startswith("Peak memory: ")]
    assert 10 < float(line.split()[2]) < 400, "what started the command does not count"
    assert NamedNode(EX + "a") in {quad.subject for quad in quads_of(urbankg(tmp_path / "data", "dump"))}
