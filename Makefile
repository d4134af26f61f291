# `make` or `make help` lists the targets. Everything that is installed goes into .venv.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup test check claims export messages conformance engines libraries defects evidence brute formal fuzz draws cards bounded oracle inferences certificates w3c texts arq bench papers spark cluster s3 mutants site site-test pyodide lock release clean

PY := .venv/bin/python
PIP := -m pip --disable-pip-version-check --no-input --quiet
INSTALL := $(PY) $(PIP) install --no-compile --no-deps --require-hashes
# Bytecode is written even where the environment says not to: the tests start some hundred Pythons, of which each would
# compile all that it imports. A third process uses a core while another one waits for Java or Node.
PYTEST := PYTHONDONTWRITEBYTECODE= $(PY) -m pytest -n 3 --dist loadgroup -q -ra
EVIDENCE := ../shared/data
READY := .venv/installed.stamp
EXTRAS := suite spark zst jelly re2 completion
# $(call group,NAME): prints the requirements of a dependency group of pyproject.toml, one on each line
group = "$$python" -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["$(1)"], sep="\n")'

# $(call find_python,target,candidates,condition,its words): sets $$python to the first candidate that fits and has venv,
# by its base interpreter, since an activated .venv would remove itself.
define find_python
python=; for name in $(2); do \
  python=$$("$$name" -c 'import sys; print(sys._base_executable if $(3) else "")' 2>/dev/null) || python=; \
  [ -z "$$python" ] || break; \
done; \
[ -n "$$python" ] || { echo "$(1): needs Python $(4), found none as $(2); name one with PYTHON=..." >&2; exit 1; }; \
"$$python" -c 'import ensurepip, venv' 2>/dev/null || \
  { echo "$(1): $$python lacks the venv module; install it (on Debian and Ubuntu: python3-venv)" >&2; exit 1; }
endef

# The stamps go first: what is left of an interrupted removal must not look ready.
remove_venv = rm -f .venv/*.stamp && rm -rf .venv

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: $(READY) ## make .venv from requirements.lock (PYTHON=... chooses another interpreter)
	@echo "setup: .venv is ready"

# Without its stamp, or with one older than the lock, .venv is made anew: half-made or outdated ones are never trusted.
.venv/locked.stamp: requirements.lock
	@$(call find_python,setup,$(or $(PYTHON),python3 python3.13 python3.12 python3.11),sys.version_info.minor >= 11,3.11 or newer); \
	echo "setup: .venv with $$("$$python" -V)"; \
	$(remove_venv) && "$$python" -m venv .venv
	@echo "setup: packages of requirements.lock (the first time some 550 MB)"
	@# Python compiles a module when it is first imported. To compile all packages here would take as long again as to install them.
	@# pyspark is published as source (450 MB). It is built while the other packages are installed. The lock names every package.
	@awk '/^[a-z]/ { is_spark = /^pyspark==/ } is_spark' $< > .venv/spark.lock
	@awk '/^[a-z]/ { is_spark = /^pyspark==/ } !is_spark' $< > .venv/others.lock
	@$(INSTALL) -r .venv/spark.lock & spark=$$!; \
	if $(INSTALL) -r .venv/others.lock; then wait $$spark; else kill $$spark; exit 1; fi
	@touch $@

$(READY): .venv/locked.stamp pyproject.toml
	@echo "setup: this project, editable"
	@$(PY) $(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

test: $(READY) ## run the tests
	@$(PYTEST)

check: $(READY) ## hold the code to the format, the linter and the types (half a minute)
	@$(PY) -m ruff format --check
	@$(PY) -m ruff check
	@$(PY) -m mypy

claims: $(READY) ## hold each claim of the pages, or those with NAME=... in them, to what its command prints (docs/trust.md; an hour or more)
	@export CSRBENCH="$(or $(CSRBENCH),$(wildcard $(EVIDENCE)/csrbench))" SECRET="$(or $(SECRET),$(wildcard $(EVIDENCE)/secret))" \
	  W3C="$(W3C)" TEXTS="$(TEXTS)"; exec $(PY) -m tools.claims $(if $(NAME),"$(NAME)")

conformance: $(READY) ## judge CSRBench: the fixture, or the recordings in DIR=...
	@$(PY) -m conformance csrbench $${DIR:+"$$DIR"}

export: $(READY) ## export the suite to build/suite, hold all of it to its shapes and schemas, and run it in JavaScript (needs Node.js 20 and RSP-JS; some minutes)
	@rm -rf build/suite && $(PY) -m conformance export build/suite --engine rsp-js
	@$(PY) -m pytest -q tests/whole_export.py

engines: $(READY) ## install engines: RSP-JS (Node.js 20), Kafka Streams and Esper (a JDK 17, Maven), Polars, pandas
	@$(PY) -m conformance engines install rsp-js kafka-streams esper polars pandas

# Libraries with windows, whose tests are not in `make test`.
LIBRARIES := duckdb duckdb-frames sqlite quix quix-partition quix-sliding beam beam-late pathway pathway-updates csp bytewax flink flink-late flink-purging kafka-streams-close kafka-streams-suppressed kafka-streams-update kafka-streams-sessions kafka-streams-session-updates polars-rolling polars-window pandas-rolling pandas-start pandas-start-day pandas-end spark-update spark-sessions esper-rolling esper-sessions esper-lengths

libraries: $(READY) ## install libraries with windows and hold each to the suite windows: all, or NAME=... (20 minutes)
	@for name in $(filter-out sqlite,$(or $(NAME),$(LIBRARIES))); do $(PY) -m conformance engines install $$name; done; \
	status=0; for name in $(or $(NAME),$(LIBRARIES)); do \
	  $(PY) -m pytest conformance/ --engine=$$name -q || status=1; \
	done; exit $$status

defects: $(READY) ## diagnose an engine with each of its defects and with PAIRS=... pairs (needs Node.js 20; a quarter of an hour)
	@$(PY) -m tools.diagnose_defects $(if $(PAIRS),--pairs $(PAIRS)) $(if $(SEED),--seed $(SEED))

evidence: $(READY) ## judge the recordings and vectors kept beside the checkout
	@status=0; for suite in csrbench secret; do \
	  if [ -d "$(EVIDENCE)/$$suite" ]; then \
	    data=; [ $$suite != csrbench ] || data=--data; \
	    echo "evidence: $$suite"; $(PY) -m conformance $$suite $$data "$(EVIDENCE)/$$suite" || status=1; \
	  else \
	    echo "evidence: $$suite left out, there is no $(EVIDENCE)/$$suite"; \
	  fi; \
	done; exit $$status

brute: $(READY) ## compare the engine with the enumeration, at length
	@REFENGINE_HYPOTHESIS_PROFILE=full $(PYTEST) tests/core/test_enumeration.py tests/core/test_each_window.py

formal: $(READY) ## check the formal definitions and their theorems with Coq, and compare the program they are extracted to on 100,000 draws (docs/formal.md; half an hour)
	@command -v coqc >/dev/null && command -v ocamlfind >/dev/null || { echo "formal: needs Coq and OCaml (on Debian and Ubuntu: coq, ocaml, ocaml-findlib)" >&2; exit 1; }
	@REFENGINE_HYPOTHESIS_PROFILE=full $(PYTEST) tests/core/test_formal_program.py tests/core/test_formal_sentences.py --durations=0

fuzz: $(READY) ## try the laws on 20,000 draws each, the round trip of each dialect and each pair of dialects on 5,000, 2,000 mistakes in query texts, and 1,000 hostile bodies
	@REFENGINE_HYPOTHESIS_PROFILE=fuzz $(PYTEST) tests/core/test_laws.py tests/dialects tests/sparql/test_hostile.py -rP -k 'holds or reads_back or rendered_or or hostile_body or place_of_a_mistake'

# What is drawn in other files than those of brute, fuzz, bounded and oracle.
DRAWN := tests/joins tests/bench/test_metrics.py tests/bench/test_shifted_answers.py \
  tests/bench/test_yabench.py \
  tests/command_line/test_provenance.py tests/core/test_consumption.py tests/core/test_equivalences.py \
  tests/core/test_push.py tests/harness/test_client.py tests/harness/test_heartbeat.py \
  tests/harness/test_zero_engine.py tests/incremental tests/model tests/oracle tests/rdf \
  tests/spark/test_formats.py::test_lines_of_pieces_are_those_of_the_file \
  tests/spark/test_ground_truth.py::test_parts_of_blocks_are_the_whole \
  tests/spark/test_judging.py::test_the_mismatch_is_that_of_the_definition \
  tests/spark/test_streaming.py::test_micro_batches_are_the_batch \
  tests/suite/test_diagnosis.py::test_a_habit_is_found

draws: $(READY) ## try every other property on new draws, up to eight times as many as `make test` (an hour or more)
	@REFENGINE_HYPOTHESIS_PROFILE=long $(PYTEST) $(DRAWN) --durations=10

cards: $(READY) ## ask the reference engine under each profile for its card, through its harness (a quarter of an hour)
	@$(PY) -m pytest -q tests/every_profile_card.py --durations=0

bounded: $(READY) ## hold joins with bounded memory to their definition and to the continuous query, on 10,000 drawn streams (minutes)
	@REFENGINE_HYPOTHESIS_PROFILE=full $(PYTEST) tests/joins/test_bounded_definition.py tests/joins/test_bounded_memories.py --durations=0

oracle: $(READY) ## try the laws of the oracle on 20,000 draws each, and print the verdicts (half an hour)
	@REFENGINE_HYPOTHESIS_PROFILE=fuzz $(PYTEST) tests/oracle/test_oracle_laws.py tests/oracle/test_beginnings.py tests/oracle/test_stated_windows_drawn.py tests/oracle/test_t0_classes.py -rP

inferences: $(READY) ## hold inference to DRAWS=... drawn semantics, and to the recordings of CSRBench in DATA=... (minutes)
	@$(PY) -m tools.inferences --draws $(or $(DRAWS),500) --seed $(or $(SEED),1) $(if $(DATA),--csrbench "$(DATA)")

certificates: $(READY) ## hold the checker of certificates to 10,000 mutated ones, and write and check those of the corpus (a minute)
	@PYTHONPATH=tests $(PY) tests/oracle/test_certificate_mutations.py 10000
	@$(PYTEST) conformance/ --engine=reference --certificates=build/certificates
	@$(PY) -m conformance check build/certificates/*.json || [ $$? -eq 3 ]

w3c: $(READY) ## hold R2R to W3C's SPARQL tests in FOLDER=... (sparql/ of a checkout of w3c/rdf-tests; half a minute)
	@[ -n "$(FOLDER)" ] || { echo "w3c: give FOLDER=..., sparql/ of a checkout of w3c/rdf-tests" >&2; exit 2; }
	@$(PY) -m tools.w3c "$(FOLDER)" $(if $(VERBOSE),--verbose)

messages: $(READY) ## hold logs of RDF messages to the interoperability tests in FILE=... (spec/messages-tests.bs of a checkout of w3c-cg/rsp; seconds)
	@[ -n "$(FILE)" ] || { echo "messages: give FILE=..., spec/messages-tests.bs of a checkout of w3c-cg/rsp" >&2; exit 2; }
	@$(PY) -m tools.messages "$(FILE)"

texts: $(READY) ## read the published query texts of tools/published_texts.csv in FOLDER=... (checkouts named OWNER+NAME; seconds)
	@[ -n "$(FOLDER)" ] || { echo "texts: give FOLDER=..., a folder of checkouts" >&2; exit 2; }
	@$(PY) -m tools.published_texts "$(FOLDER)" $(if $(VERBOSE),--verbose)

JARS := build/arq/jars

$(JARS)/ready.stamp: tools/arq/pom.xml
	@command -v mvn >/dev/null || { echo "arq: needs mvn (Maven, and Java 17 or newer)" >&2; exit 1; }
	@rm -rf $(JARS)
	@echo "arq: Apache Jena ARQ, with mvn (the first time some 15 MB)"
	@mvn -q -B -f tools/arq/pom.xml dependency:copy-dependencies -DoutputDirectory="$(CURDIR)/$(JARS)"
	@touch $@

arq: $(READY) $(JARS)/ready.stamp ## hold our SPARQL against Apache Jena ARQ on DRAWS=... queries (needs Java 17 and Maven)
	@$(PY) -m tools.arq --draws $(or $(DRAWS),10000) --seed $(or $(SEED),1)

bench: $(READY) ## run the benchmarks, or those in NAME="..." (WORK=... keeps their streams, up to 1.5 GB; OUT=... gets the table and drawing of by-hand)
	@$(PY) -m tools.bench $(NAME) $(if $(WORK),--work "$(WORK)") $(if $(OUT),--out "$(OUT)")

papers: $(READY) ## run the benchmarks, or those in NAME="...", at the papers' scale on ENGINE=...; CSRBench if DATA=... has its stream (hours; goes on where it ended)
	@for name in $(or $(NAME),citybench lsbench srbench yabench $(if $(DATA),csrbench)); do \
	  data=; [ $$name != csrbench ] || data="--data $(DATA)"; \
	  $(PY) -m conformance bench $$name --scale paper $$data $(foreach one,$(or $(ENGINE),reference rsp-js),--engine $(one)) --resume -o build/papers/$$name || exit 1; \
	done

spark: $(READY) ## run the tests of `shard` and of the command `truth` on a classic Spark, and on Spark Connect (some minutes; needs Java)
	@for mode in classic connect; do \
	  echo "spark: $$mode"; CONFORMANCE_SPARK=$$mode $(PYTEST) tests/spark/test_shard.py tests/spark/test_truth.py || exit 1; \
	done

cluster: $(READY) ## kill executors, a worker and the driver of a Spark cluster on this machine in the middle of runs, and run spark-submit (some minutes; needs Java)
	@$(PY) -m pytest -q tests/killed_processes.py tests/packed_environment.py

S3 := build/s3

$(S3)/ready.stamp: tools/s3/pom.xml
	@command -v mvn >/dev/null || { echo "s3: needs mvn (Maven, and Java 17 or newer)" >&2; exit 1; }
	@rm -rf $(S3) && mkdir -p $(S3)
	@echo "s3: hadoop-aws with what it needs of the SDK of AWS, with mvn (18 MB), and moto"
	@mvn -q -B -f tools/s3/pom.xml dependency:copy-dependencies -DoutputDirectory="$(CURDIR)/$(S3)/jars"
	@$(PY) -m venv $(S3)/venv && $(S3)/venv/bin/python $(PIP) install 'moto[s3,server]==5.2.5'
	@touch $@

s3: $(READY) $(S3)/ready.stamp ## compute ground truth from and to an S3 server on this machine, over s3a (a minute; needs Java and Maven)
	@$(PY) -m pytest -q tests/object_storage.py

mutants: $(READY) ## mutate the code, or OF="core oracle.judge", and list what no test notices (hours; EVERY=10 tries a tenth; docs/evidence/mutation.md)
	@$(PY) -m tools.mutate $(OF) $(if $(EVERY),--every $(EVERY)) $(if $(SKIP),--skip $(SKIP)) $(if $(JOBS),--jobs $(JOBS)) $(if $(ANEW),--anew)

SITE_PY := .venv-site/bin/python
SITE_READY := .venv-site/locked.stamp site/node_modules/.package-lock.json

.venv-site/locked.stamp: requirements-site.lock
	@$(call find_python,site,$(or $(PYTHON),python3 python3.13 python3.12 python3.11),sys.version_info.minor >= 11,3.11 or newer); \
	echo "site: .venv-site with $$("$$python" -V)"; \
	rm -rf .venv-site && "$$python" -m venv .venv-site
	@$(SITE_PY) $(PIP) install --no-deps --require-hashes -r $<
	@touch $@

site/node_modules/.package-lock.json: site/package-lock.json
	@command -v npm >/dev/null || { echo "site: needs Node.js 20 with npm" >&2; exit 1; }
	@echo "site: the packages of site/package-lock.json, with npm (the first time some 40 MB)"
	@cd site && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

site: $(SITE_READY) ## build the site with the playground into build/site (a minute; needs Node.js 20)
	@$(SITE_PY) -m tools.site build/site

site-test: $(READY) site ## drive the playground in Chromium, with no network but this machine's (minutes)
	@$(PY) -m pytest -q tests/site_in_chromium.py

PYODIDE := build/pyodide
# The newest versions without compiled code. What needs numpy, or pyoxigraph as the only witness, is left out.
PURE := pytest==9.2.0 hypothesis==6.155.7 jsonschema==4.17.3 rdflib==7.6.0 lark==1.3.1 sortedcontainers==2.4.0 pyparsing==3.3.3

$(PYODIDE)/ready.stamp: Makefile
	@rm -rf $(PYODIDE)
	@$(PY) $(PIP) install --target $(PYODIDE) --platform any --implementation py --abi none --python-version 3.14 --only-binary=:all: $(PURE)
	@touch $@

pyodide: $(READY) site/node_modules/.package-lock.json $(PYODIDE)/ready.stamp ## run the engine's tests, or those in OF=..., as in a browser, under Pyodide (an hour; needs Node.js 20)
	@cd site && node run_tests.mjs "$(CURDIR)" "$(CURDIR)/$(PYODIDE)" $(or $(OF),tests/model tests/core tests/oracle tests/incremental) -q \
	  -p no:cacheprovider -p no:refengine_conformance_plugin -W ignore::hypothesis.errors.HypothesisWarning \
	  --ignore tests/model/test_held.py --deselect tests/core/test_engine.py::test_a_blank_node_of_another_stream_has_a_time_of_its_own

# On 3.11, the oldest Python supported: a newer one would leave out what the older needs.
lock: ## regenerate both locks from pyproject.toml (UPGRADE=1: with the newest versions)
	@$(call find_python,lock,$(or $(PYTHON),python3.11 python3),sys.version_info.minor == 11,3.11); \
	dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && trap 'exit 130' INT TERM && \
	echo "lock: pip-tools, in a throwaway environment" && \
	"$$python" -m venv "$$dir/venv" && "$$dir/venv/bin/python" $(PIP) install 'pip-tools>=7.5,<8' && \
	compile() { \
	  echo "lock: $$1" && cp "$$1" "$$dir/$$1" && \
	  "$$dir/venv/bin/pip-compile" --quiet --strip-extras $$3 --generate-hashes $(if $(UPGRADE),--upgrade) \
	    --no-emit-find-links --no-emit-index-url --no-emit-trusted-host --no-header --no-annotate \
	    --output-file "$$dir/$$1" pyproject.toml "$$dir/$$2.in" && \
	  cat "$$dir/$$1" > "$$1"; \
	} && \
	$(call group,dev) > "$$dir/dev.in" && compile requirements.lock dev "$(EXTRAS:%=--extra %)" && \
	$(call group,site) > "$$dir/site.in" && compile requirements-site.lock site ""

# The wheel is built from the sdist, so that the sdist is known to be complete.
release: ## build and check what is published: sdist, wheel, their page, an SBOM, the wheel in an empty environment (publishes nothing)
	@$(call find_python,release,$(or $(PYTHON),python3 python3.13 python3.12 python3.11),sys.version_info.minor >= 11,3.11 or newer); \
	rm -rf build/release dist && "$$python" -m venv build/release/tools && "$$python" -m venv build/release/empty && \
	$(call group,release) > build/release/tools.in && \
	build/release/tools/bin/python $(PIP) install -r build/release/tools.in && \
	build/release/tools/bin/python -m build --outdir dist . && \
	build/release/tools/bin/python -m twine check --strict dist/* && \
	build/release/empty/bin/python $(PIP) install dist/*.whl && \
	build/release/tools/bin/cyclonedx-py environment --output-reproducible --of JSON -o build/release/refengine.cdx.json build/release/empty/bin/python && \
	build/release/empty/bin/refengine --version && \
	echo "release: dist/ is ready to be published, build/release/refengine.cdx.json has what the wheel brings along"

clean: ## remove .venv and everything else that was made
	@$(remove_venv)
	@rm -rf .venv-site site/node_modules build dist results .mypy_cache .ruff_cache .pytest_cache .hypothesis .mutmut-cache *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
