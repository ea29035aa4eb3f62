#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Debian's libhwloc-dev 2.9.0 (12) and 2.12.0 (13): its static library cannot be linked by what its pkg-config file says
#
# libhwloc-dev has libhwloc.a, and hwloc.pc says what a static program needs besides it.
# A good guess: gcc -static with `pkg-config --static --libs hwloc` links a program, once the packages are there that
#   these libraries come from.
# Seen: hwloc.pc asks for libudev, and libudev-dev has that as a shared library alone. The linker finds no libudev.a,
#   though the few functions that hwloc calls serve what is optional: it runs where there is no udev.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
fail() { echo "$2" >&2; exit "$1"; }

download() { apt-get -qq -o APT::Sandbox::User=root download "$@" 2>/dev/null; }
download libhwloc-dev=2.9.0-1 libudev-dev=252.39-1~deb12u2 pkgconf-bin=1.8.1-1 libpkgconf3=1.8.1-1 ||
	download libhwloc-dev=2.12.0-4 libudev-dev=257.13-1~deb13u1 pkgconf-bin=1.8.1-4 libpkgconf3=1.8.1-4 ||
	fail 2 "cannot be tried: Debian's mirror has other versions of libhwloc-dev, libudev-dev and pkgconf (Debian 12, 13)"
for package in *.deb; do dpkg -x "$package" .; done
lib=$tmp/usr/lib/x86_64-linux-gnu

echo '#include <hwloc.h>
int main(void) { hwloc_topology_t t; return hwloc_topology_init(&t); }' >program.c
flags=$(LD_LIBRARY_PATH=$lib PKG_CONFIG_LIBDIR=$lib/pkgconfig usr/bin/pkgconf --static --libs hwloc)
echo "what hwloc.pc asks for: $flags"
[[ " $flags " == *" -ludev "* ]] || fail 1 "this has changed: it does not ask for libudev"
[[ -e $lib/libhwloc.a ]] || fail 1 "this has changed: there is no libhwloc.a"
echo "of libudev there is: $(cd "$lib" && echo libudev.*) (expected: libudev.a, too)"
[[ ! -e $lib/libudev.a ]] || fail 1 "this has changed: there is a libudev.a"
# shellcheck disable=SC2086
if said=$(gcc -static -Iusr/include program.c -L"$lib" $flags -o program 2>&1); then
	fail 1 "this has changed: the program links"
fi
grep -q -- "-ludev" <<<"$said" || fail 1 "this has changed: the linker says $said"
echo "gcc -static: $(grep -- -ludev <<<"$said" | head -1)"
