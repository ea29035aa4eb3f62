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
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
fail() { echo "$2" >&2; exit "$1"; }

# QEMU and what it needs, from Debian, beside what is installed and without root.
version=1:11.1.3+ds-1~bpo13+1
export APT_CONFIG=$tmp/apt.conf
cat >apt.conf <<EOF
Dir::State "$tmp/apt"; Dir::State::status "/dev/null"; Dir::Cache "$tmp/apt";
Dir::Etc::sourcelist "$tmp/sources"; Dir::Etc::sourceparts "/dev/null"; Dir::Etc::preferencesparts "/dev/null";
APT::Architecture "amd64"; APT::Install-Recommends "false"; APT::Sandbox::User "root";
EOF
printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian %s main\n' \
	trixie trixie-backports >sources
mkdir -p apt/lists/partial apt/archives/partial
{ apt-get -qq update && apt-get -qq -y -d install -t trixie-backports "qemu-system-x86=$version" >/dev/null; } ||
	fail 2 "cannot be tried: there is no qemu-system-x86 $version to be had"
for package in apt/archives/*.deb; do dpkg -x "$package" root; done
libraries=$tmp/root/usr/lib/x86_64-linux-gnu
qemu() {
	QEMU_MODULE_DIR=$libraries/qemu timeout 300 "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" \
		root/usr/bin/qemu-system-x86_64 -L root/usr/share/seabios -m 16 -nodefaults -display none "$@"
}

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
