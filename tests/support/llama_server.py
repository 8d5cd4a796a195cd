"""A real llama.cpp server in its own process, by default with packaged weights and shipped adapter."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from extractors.models.local.weights import ADAPTER_PATH, find_weights

_PROGRAM = """
import sys, xllamacpp
weights, adapter, key = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = weights
params.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(adapter, 1.0)] if adapter else []
params.n_ctx, params.n_parallel, params.port = 4096, 2, 0
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.warmup, params.ui, params.verbosity = False, False, -1
params.api_keys = [key]
server = xllamacpp.Server(params)
print("listening", server.listening_address, flush=True)
sys.stdin.read()
"""


@contextmanager
def llama_server(
    api_key: str, weights: Path | None = None, adapter: Path | None = ADAPTER_PATH
) -> Iterator[str]:
    """Run the server and give its address; weights with the adapter computed into them take no adapter."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(weights or find_weights()), str(adapter or ""), api_key],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("listening "):
                yield line.split()[1]
                return
        raise AssertionError(f"the server ended with status {process.wait()}")
    finally:
        process.kill()
        process.communicate()
