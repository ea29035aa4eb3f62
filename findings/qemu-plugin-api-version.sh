#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# QEMU 11.1.3: a plugin for another version of the API is refused, be it one version older
#
# QEMU tells a plugin a range of API versions, min to cur, and reads the version that the plugin says.
# A good guess: a plugin that was built for version 4 still loads, as one for version 2 does in QEMU 10.0.13, where the
#   range is 2 to 4. Additions raise cur; old plugins go on.
# Seen: in 11.1.3 min and cur are both 7. The plugin of version 4 is refused, and 6, too. A plugin is for one
#   range of releases, and a distribution's update of QEMU puts it out of use.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
fail() { echo "$2" >&2; exit "$1"; }
# shellcheck source=findings/debian-qemu
. "$here/debian-qemu"

debian_qemu 1:11.1.3+ds-1~bpo13+1 trixie trixie-backports

for api in 4 6 7; do
	gcc -shared -fPIC "-DAPI=$api" -o plugin.so -x c - <<'EOF'
#include <stdint.h>
#include <stdio.h>
int qemu_plugin_version = API;
struct info { const char *target; struct { int min, cur; } version; };
int qemu_plugin_install(uint64_t id, const struct info *info, int argc, char **argv)
{
	printf("loaded, range %d to %d\n", info->version.min, info->version.cur);
	fflush(stdout);
	return 0;
}
EOF
	seen=$(echo quit | qemu -M none -monitor stdio -plugin ./plugin.so 2>&1 |
		grep -o -e 'loaded.*' -e 'requires.*') || true
	echo "plugin of version $api: $seen (expected: loaded)"
	case $api:$seen in
	7:"loaded, range 7 to 7") ;;
	[46]:"requires API version $api, but this QEMU supports only a minimum version of 7") ;;
	*) fail 1 "this has changed" ;;
	esac
done
