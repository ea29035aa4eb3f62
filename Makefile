# SPDX-License-Identifier: GPL-2.0
# make            install what is needed, build the programs and the plugin
# make demo       that, then build two kernels, run the first experiment, write its report
# make test       everything in `scripts/run-tests`
# make test-full  and what takes too long for every day
# make clean      remove what was built here (not the kernels: see `scripts/fast kernel list`)

VENV := build/venv
USER := build/user

all: programs

demo: programs
	scripts/fast run experiments/demo.toml

test: programs
	scripts/run-tests

test-full: programs
	scripts/run-tests --full

clean:
	rm -rf build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

programs: deps $(VENV)/installed $(USER)/build.ninja
	ninja -C $(USER)

deps:
	@scripts/install-deps

# The stamp, not the directory: a set-up that was interrupted is made again.
$(VENV)/installed: pyproject.toml | deps
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "make: $$(command -v python3) is older than Python 3.11, which Debian 12 has" >&2; exit 1; }
	@echo "installing the Python packages of pyproject.toml into $(VENV)"
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

$(USER)/build.ninja: | deps
	meson setup $(USER)

.PHONY: all demo test test-full clean programs deps
