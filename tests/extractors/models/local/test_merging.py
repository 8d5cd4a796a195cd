"""Weights with the adapter in them: made once, and only where they can be kept."""

from __future__ import annotations

import os
from pathlib import Path

import gguf
import numpy
import pytest

from extractors.models.local.weights import cache_folder, merged_weights

WEIGHT = "blk.0.attn_q.weight"
OTHER = "blk.0.attn_norm.weight"
WIDTH, RANK = 64, 4


def write(path: Path, tensors: dict[str, numpy.ndarray], **fields: float) -> Path:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_array("tokenizer.ggml.tokens", ["a", "b"])
    writer.add_uint32("llama.block_count", 1)
    for name, value in fields.items():
        writer.add_float32(name.replace("_", "."), value)
    for name, tensor in tensors.items():
        writer.add_tensor(name, tensor.astype("float32"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    random = numpy.random.default_rng(1)
    weights = write(
        tmp_path / "weights.gguf", {WEIGHT: random.normal(size=(WIDTH, WIDTH)), OTHER: numpy.arange(WIDTH)}
    )
    adapter = write(
        tmp_path / "adapter.gguf",
        {
            f"{WEIGHT}.lora_a": random.normal(size=(RANK, WIDTH)),
            f"{WEIGHT}.lora_b": random.normal(size=(WIDTH, RANK)),
        },
        adapter_lora_alpha=8.0,
    )
    return weights, adapter


def tensors_of(path: Path) -> dict[str, numpy.ndarray]:
    return {
        one.name: gguf.quants.dequantize(one.data, one.tensor_type) for one in gguf.GGUFReader(path).tensors
    }


def test_the_adapter_is_in_the_merged_weights_and_all_else_is_as_it_was(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    path = merged_weights(*files, tmp_path / "cache")
    assert path is not None
    base, added, merged = tensors_of(files[0]), tensors_of(files[1]), tensors_of(path)
    wanted = base[WEIGHT] + 8 / RANK * added[f"{WEIGHT}.lora_b"] @ added[f"{WEIGHT}.lora_a"]
    numpy.testing.assert_allclose(merged[WEIGHT], wanted, atol=abs(wanted).max() / 100)
    numpy.testing.assert_array_equal(merged[OTHER], base[OTHER])
    fields = gguf.GGUFReader(path).fields
    assert fields["tokenizer.ggml.tokens"].contents() == ["a", "b"]
    assert fields["llama.block_count"].contents() == 1
    assert fields["general.architecture"].contents() == "llama"


def test_they_are_made_once_and_again_for_another_adapter(files: tuple[Path, Path], tmp_path: Path) -> None:
    weights, adapter = files
    cache = tmp_path / "cache"
    first = merged_weights(weights, adapter, cache)
    assert first is not None
    first.write_bytes(b"as it was")
    assert merged_weights(weights, adapter, cache) == first
    assert first.read_bytes() == b"as it was"
    other = tmp_path / "other.gguf"
    other.write_bytes(adapter.read_bytes() + b"\0")
    assert merged_weights(weights, other, cache) != first
    assert sorted(one.suffix for one in cache.iterdir()) == [".gguf", ".gguf"]


def test_what_a_killed_process_left_is_removed(files: tuple[Path, Path], tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    left, at_work = cache / "left.part", cache / "at-work.part"
    left.touch()
    at_work.touch()
    os.utime(left, (0, 0))
    assert merged_weights(*files, cache) is not None
    assert sorted(one.suffix for one in cache.iterdir()) == [".gguf", ".part"]
    assert not left.exists()


def test_where_they_cannot_be_kept_there_are_none(files: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    assert merged_weights(*files, tmp_path / "file" / "cache") is None


def test_an_adapter_for_other_weights_is_not_merged(files: tuple[Path, Path], tmp_path: Path) -> None:
    weights, _ = files
    foreign = write(
        tmp_path / "foreign.gguf",
        {"blk.9.x.lora_a": numpy.ones((RANK, WIDTH)), "blk.9.x.lora_b": numpy.ones((WIDTH, RANK))},
        adapter_lora_alpha=8.0,
    )
    cache = tmp_path / "cache"
    assert merged_weights(weights, foreign, cache) is None
    assert list(cache.iterdir()) == []


def test_the_folder_is_that_of_the_users_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "urbankg"
