# SPDX-License-Identifier: GPL-2.0
"""A kernel source in miniature: the targets, scripts and messages that a build relies on."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

MAKEFILE = r"""
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 117
EXTRAVERSION =
src := $(CURDIR)
objs := $(patsubst $(src)/kernel/%.c,$(O)/%.o,$(wildcard $(src)/kernel/*.c))
.DELETE_ON_ERROR:

tinyconfig:
	@printf '# CONFIG_SMP is not set\nCONFIG_TINY=y\n' > $(O)/.config

olddefconfig:
	@sh $(src)/scripts/olddefconfig.sh $(src)/Kconfig $(O)/.config
	@cmp -s $(O)/.config $(O)/auto.conf || cp $(O)/.config $(O)/auto.conf

vmlinux: $(O)/vmlinux

$(O)/%.o: $(src)/kernel/%.c $(O)/auto.conf
	@echo "  CC      kernel/$*.o"
	@$(CC) -c -o $@ $<
	@if grep -q DISK_IS_FULL $<; then cat $@ > /dev/full; fi

$(O)/vmlinux: $(objs) $(O)/auto.conf FORCE
	@echo "  LD      vmlinux"
	@cat $(objs) $(O)/auto.conf > $@
	@env | grep ^KBUILD_ | sort >> $@
	@env | grep -E '^(ARCH|KCFLAGS)=' >> $@ || true
	@echo symbols > $(O)/System.map

FORCE:

# Like dpkg-buildpackage the shell does not hand a signal on to the make that it runs.
bindeb-pkg:
	@+sh -c '"$$@"; exit $$?' sh $(MAKE) vmlinux
	@cp $(O)/.config $(O)/../linux-image-6.12.117-fast.deb
	@touch $(O)/../linux-libc-dev_6.12.117-1_amd64.deb $(O)/../linux-upstream.changes
"""

# Kconfig in a few lines of awk: the last value wins, unknown symbols vanish.
OLDDEFCONFIG = """
awk 'FNR == NR { known[$2] = 1; next }
     { name = $0; sub(/^# /, "", name); sub(/[= ].*/, "", name); sub(/^CONFIG_/, "", name) }
     name in known { line[name] = $0 }
     END { for (name in line) print line[name] }' "$1" "$2" | sort > "$2.new"
mv "$2.new" "$2"
"""

MERGE = """#!/bin/sh
# merge_config.sh -m -O DIR CONFIG FRAGMENT...
out=$3; shift 4
# Like the kernel's own, which keeps their names in a variable.
fragments=$*
cat $fragments >> "$out/.config"
"""

SYMBOLS = ("KERNEL_ZSTD", "SMP", "TINY", "FUTEX", "DEBUG", "LOCALVERSION")
KCONFIG = "".join(f"config {name}\n" for name in SYMBOLS)

PATCH = """Subject: [PATCH] sched/fast: add it

---
diff --git a/Kconfig b/Kconfig
--- a/Kconfig
+++ b/Kconfig
@@ -4,3 +4,4 @@
 config FUTEX
 config DEBUG
 config LOCALVERSION
+config SCHED_FAST
diff --git a/kernel/fast.c b/kernel/fast.c
new file mode 100644
--- /dev/null
+++ b/kernel/fast.c
@@ -0,0 +1 @@
+int fast = 1;
"""

SIMULATOR_PATCH = """Subject: [PATCH] fork: as the simulator needs it

---
diff --git a/kernel/fork.c b/kernel/fork.c
--- a/kernel/fork.c
+++ b/kernel/fork.c
@@ -1 +1 @@
-int fork = 1;
+int fork = 2;
"""

CATALOGUE = """
[series."6.12"]
primary = true
debian_package = "linux-source-6.12"
debian_tarball = "{tarball}"
debian_suite = ""
url = "{url}"
sha256 = "{sha256}"
objects = 3
fragments = []
[variants.baseline]
patches = []
fragments = ["base"]
[variants.fast]
patches = ["simulator", "series"]
fragments = ["base", "fast"]
"""


def make_source(root: Path) -> Path:
    """A source tree with the objects fork.o, futex.o and sched.o."""
    for name in ("kernel", "scripts/kconfig"):
        (root / name).mkdir(parents=True)
    (root / "Makefile").write_text(MAKEFILE)
    (root / "Kconfig").write_text(KCONFIG)
    (root / "scripts/olddefconfig.sh").write_text(OLDDEFCONFIG)
    merge = root / "scripts/kconfig/merge_config.sh"
    merge.write_text(MERGE)
    merge.chmod(0o755)
    for name in ("fork", "futex", "sched"):
        (root / f"kernel/{name}.c").write_text(f"int {name} = 1;\n")
    # As in a tarball, all is older than any build.
    for folder, _, files in os.walk(root):
        for name in files:
            os.utime(Path(folder, name), (1_500_000_000, 1_500_000_000))
    return root


def pack(source: Path, tarball: Path) -> Path:
    """The source as an .xz tarball with one top directory, as Debian and kernel.org pack it."""
    subprocess.run(["tar", "-cJf", tarball, "-C", source.parent, source.name], check=True)
    return tarball


def make_project(root: Path, tarball: Path, url: str = "file:///none", sha256: str = "0") -> Path:
    """A project with the two variants, their fragments and a patch in each of two folders."""
    kbuild, folder = root / "Kbuild", root / "kernel-patches/6.12"
    kbuild.mkdir(parents=True)
    folder.mkdir(parents=True)
    (kbuild / "kernels.toml").write_text(CATALOGUE.format(tarball=tarball, url=url, sha256=sha256))
    (kbuild / "base.config").write_text("CONFIG_SMP=y\nCONFIG_FUTEX=y\n")
    (kbuild / "fast.config").write_text("CONFIG_SCHED_FAST=y\n")
    (kbuild / "release.config").write_text('CONFIG_LOCALVERSION="-fast"\n')
    (kbuild / "deb.config").write_text('CONFIG_SYSTEM_TRUSTED_KEYS=""\n')
    (kbuild / "debug-locking.config").write_text("CONFIG_DEBUG=y\n")
    (folder / "0001-fast.patch").write_text(PATCH)
    (folder / "series").write_text("0001-fast.patch\n")
    simulator = kbuild / "patches/6.12/simulator"
    simulator.mkdir(parents=True)
    (simulator / "0001-fork.patch").write_text(SIMULATOR_PATCH)
    (simulator / "series").write_text("0001-fork.patch\n")
    return root


def bin_without(directory: Path, *missing: str) -> Path:
    """A directory of links to all tools of the host except the `missing`, to be the PATH."""
    directory.mkdir()
    for folder in os.environ["PATH"].split(":"):
        for tool in Path(folder).glob("*") if Path(folder).is_dir() else ():
            link = directory / tool.name
            if tool.name not in missing and not link.is_symlink() and shutil.which(tool):
                link.symlink_to(tool)
    return directory
