"""The adapter computed into the weights, once: a text then takes a quarter less of the processor.

An adapter beside the weights is two small products more for each of 210 matrices and each token. The weights
alone are kept in 4 bits, which would round most of the adapter away again: the merged ones have 8 (145 MB).
"""

from __future__ import annotations

import logging
import os
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from extractors.models.local.weights import sha256_of

__all__ = ["cache_folder", "merged_weights"]

_log = logging.getLogger(__name__)

_ALPHA: Final = "adapter.lora.alpha"
_DOWN, _UP = ".lora_a", ".lora_b"
_ENDING: Final = "q8_0.gguf"
_HOUR: Final = 3600.0
_KEPT_DAYS: Final = 30
"""An adapter that is still in use after so long is merged anew when another one is."""


def cache_folder() -> Path | None:
    """Where merged weights are kept: `urbankg` in the user's folder of caches, if the user has a home."""
    own = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(own) if own else Path.home() / ".cache") / "urbankg"
    except RuntimeError:
        return None


def merged_weights(weights: Path, adapter: Path, folder: Path) -> Path | None:
    """Find the weights with the adapter in them, or make them, which takes some seconds.

    None where they cannot be kept, or the files are of a kind that cannot be merged: both do as they are.
    """
    path = folder / f"{sha256_of(weights)[:12]}-{sha256_of(adapter)[:12]}-{_ENDING}"
    if path.is_file():
        return path
    made: Path | None = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _clear(folder)
        handle, name = tempfile.mkstemp(dir=folder, suffix=".part")
        os.close(handle)
        made = Path(name)
        _merge(weights, adapter, made)
        with made.open("rb") as written:
            os.fsync(written.fileno())
        made.replace(path)  # atomic, also with concurrent writers
    except (OSError, ValueError, LookupError, NotImplementedError) as error:
        _log.warning(
            "the embedded model is slower than it could be: %s holds no merged weights (%s)", folder, error
        )
        if made is not None:
            made.unlink(missing_ok=True)
        return None
    return path


def _clear(folder: Path) -> None:
    """Remove what a process that was killed at it has left, and weights that nobody has made for long."""
    for pattern, seconds in (("*.part", _HOUR), (f"*-{_ENDING}", _KEPT_DAYS * 24 * _HOUR)):
        for path in folder.glob(pattern):
            if time.time() - path.stat().st_mtime > seconds:
                path.unlink(missing_ok=True)


def _merge(weights: Path, adapter: Path, into: Path) -> None:
    """W + alpha / rank * B A for every matrix that the adapter changes; all else is copied."""
    import gguf  # a quarter of a second, once

    dequantize, kind = gguf.quants.dequantize, gguf.GGMLQuantizationType.Q8_0
    base, added = gguf.GGUFReader(weights), gguf.GGUFReader(adapter)
    alpha = float(added.fields[_ALPHA].contents())
    parts = {tensor.name: tensor for tensor in added.tensors}
    unknown = {name.removesuffix(_DOWN).removesuffix(_UP) for name in parts} - {t.name for t in base.tensors}
    if unknown:
        raise ValueError(f"the weights have no {min(unknown)}")
    writer = gguf.GGUFWriter(into, base.fields["general.architecture"].contents())
    _copy_fields(gguf, base, writer)
    for tensor in base.tensors:
        down, up = parts.get(tensor.name + _DOWN), parts.get(tensor.name + _UP)
        if down is None or up is None:
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
            continue
        a, b = (dequantize(part.data, part.tensor_type) for part in (down, up))
        changed = dequantize(tensor.data, tensor.tensor_type) + alpha / len(a) * (b @ a)
        quantized = gguf.quants.quantize(changed.astype("float32"), kind)
        writer.add_tensor(tensor.name, quantized, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _copy_fields(gguf: Any, base: Any, writer: Any) -> None:
    for name, field in base.fields.items():
        # What the format says of itself, and what the writer has said already.
        if name.startswith("GGUF.") or name == "general.architecture":
            continue
        of_items = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(name, field.contents(), field.types[0], sub_type=of_items)
