# SPDX-License-Identifier: GPL-2.0
# make            install what is needed, build the programs and the plugin
# make demo       that, then build two kernels, run the first experiment, write its report
# make test       everything in `scripts/run-tests`, which tests one door, too
# make test-full  and what takes too long for every day
# make docs       the pages of both doors as HTML, in build/docs
# make install    the `fast` command for all users: PREFIX (default: /usr/local), DESTDIR
# make install-intervals  the runtime and its OpenMP library, for other programs, into PREFIX
# make install-scx        FAST as a scheduler that is loaded, and its systemd unit, into PREFIX
# make wheel      the OpenMP library for Python, in build/wheel
# make clean      remove what was built here (not the kernels: see `scripts/fast kernel list`)

VENV := build/venv
USER := build/user
LIBRARY := build/library
DOCS := $(wildcard Documentation userspace/intervals/Documentation)
PREFIX ?= /usr/local
SHARE = $(DESTDIR)$(PREFIX)/share
# What `fast` needs beside its package: it builds programs and kernels of these.
SOURCES := Kbuild kernel-patches subprojects userspace microbench splash2-harness experiments scripts
FILES := meson.build pyproject.toml
# Also where there is no `make` yet, as when a Debian package is built.
PYTHON := $(firstword $(wildcard $(VENV)/bin/python) python3)

# What Python and Meson have made names the place where it was made.
$(if $(wildcard build),$(shell scripts/forget-moved $(VENV) $(USER) $(LIBRARY) >&2))

all: programs

demo: programs
	scripts/fast run experiments/demo.toml

test: programs
	scripts/run-tests

test-full: programs
	scripts/run-tests --full

# A warning, such as a link that leads nowhere, is an error, also in a page that has not changed.
docs: $(VENV)/complete
	for pages in $(DOCS); do \
		$(VENV)/bin/python -m sphinx -q -E -W --keep-going $$pages build/docs/$$pages || exit; \
	done

# All users may read what is installed, whatever umask the installation or the checkout was made
# with. The manual is first: it says what is missing. Files of an older version are removed. The
# file `installed` marks the folder as no checkout, and changes with its files.
install:
	umask 022 && $(PYTHON) scripts/make-manual $(SHARE)
	rm -rf $(SHARE)/fastlab
	umask 022 && install -d $(SHARE)/fastlab $(DESTDIR)$(PREFIX)/bin
	tar -c --mode=u=rwX,go=rX --exclude=__pycache__ --exclude='*.egg-info' --exclude=.gitignore \
		--exclude=scripts/tests --exclude=scripts/run-tests \
		--exclude=scripts/forget-moved \
		$(SOURCES) $(FILES) | \
		(umask 022 && tar -x --no-same-owner -C $(SHARE)/fastlab)
	umask 022 && cd $(SHARE)/fastlab && find . -type f ! -name installed -exec sha256sum {} + | sort > installed
	ln -sf ../share/fastlab/scripts/fast $(DESTDIR)$(PREFIX)/bin/fast

# Without tests: what the project measures is in no other program's way, and what that needs is not
# installed for it. Meson says what is missing.
install-intervals: $(LIBRARY)/build.ninja
	meson configure $(LIBRARY) -Dopenmp=enabled --prefix=$(abspath $(PREFIX))
	meson install -C $(LIBRARY) --strip

wheel: $(VENV)/complete
	$(VENV)/bin/python userspace/intervals/openmp/python/make-wheel build/wheel

# It needs neither the laboratory nor a build of the kernel. Nothing is started.
install-scx: $(USER)/build.ninja
	meson configure $(USER) --prefix=$(abspath $(PREFIX))
	ninja -C $(USER) userspace/scx/scx_fast
	meson install -C $(USER) --no-rebuild --tags scx

clean:
	rm -rf build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

programs: deps $(VENV)/complete $(USER)/build.ninja
	ninja -C $(USER)

# The tests load scx_fast where it can be built, and are skipped elsewhere.
deps:
	@scripts/install-deps
	$(if $(filter test test-full,$(MAKECMDGOALS)),-@scripts/install-deps --scx)

# The stamp, not the directory: a set-up that was interrupted is made again.
$(VENV)/complete: pyproject.toml | deps
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "make: $$(command -v python3) is older than Python 3.11, which Debian 12 has" >&2; exit 1; }
	@echo "installing the Python packages of pyproject.toml into $(VENV)"
	scripts/make-venv pyproject.toml $(VENV) dev dask

$(USER)/build.ninja: | deps
	meson setup $(USER)

$(LIBRARY)/build.ninja:
	meson setup -Dtests=disabled $(LIBRARY) userspace/intervals

.PHONY: all demo docs install install-intervals install-scx wheel test test-full clean programs deps
