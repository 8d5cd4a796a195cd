"""What is compiled and kept rests on its own file alone: numba notices changes there and nowhere else."""

import ast
from pathlib import Path

import pytest

import geo

FILES = sorted(
    path
    for path in Path(geo.__file__).parent.rglob("*.py")
    if "from geo.kernel.numba_options import" in path.read_text("utf-8")
)


def test_there_are_compiled_files() -> None:
    assert [path.stem for path in FILES] == ["border_boxes", "border_kernel", "border_reading"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_compiled_function_uses_nothing_of_another_file(path: Path) -> None:
    module = ast.parse(path.read_text("utf-8"))
    foreign = {
        alias.asname or alias.name
        for one in module.body
        if isinstance(one, ast.ImportFrom | ast.Import)
        for alias in one.names
        if alias.name not in ("numpy", "Final", "NDArray")
    }
    functions = [one for one in module.body if isinstance(one, ast.FunctionDef)]
    assert functions
    for function in functions:
        names = {node.id for line in function.body for node in ast.walk(line) if isinstance(node, ast.Name)}
        assert not names & foreign, function.name
        decorator = function.decorator_list[0]
        assert isinstance(decorator, ast.Call)
        assert ast.unparse(decorator.func) == "compiled"
