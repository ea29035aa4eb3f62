#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# QEMU 10.0.13 (11.1.3 is the same): a plugin is told of a vCPU that does not execute
#
# A block's callback is passed the index of the vCPU that executes the block. Two vCPUs execute the same loop:
# vCPU 0 once, and then vCPU 1 3,000 times.
# A good guess: the callbacks count 1 and 3,000, however many threads QEMU runs its vCPUs in.
# Seen: with -accel tcg,thread=single they count 3,001 and 0. The index is the one of the vCPU for which the
#   block was translated, and vCPUs share translations. With thread=multi the counts are right.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
fail() { echo "$2" >&2; exit "$1"; }
# shellcheck source=findings/debian-qemu
. "$here/debian-qemu"

debian_qemu 1:10.0.13+ds-0+deb13u1 trixie

# The guest is a firmware of 64 KiB: the second CPU begins at its first byte, the first CPU at 0x100.
as --32 -o guest.o - <<'EOF'
	.code16
	movw $3000, %cx; jmp both
	.org 0x100
	movw $1, %cx; jmp both
	.org 0x200
both:	decw %cx; jnz both
	lock incw %ds:0x500; cmpw $1, %ds:0x500; jne off
	movl $0x1b, %ecx; rdmsr; orw $0x400, %ax; wrmsr				# x2APIC
	movl $0x830, %ecx; xorl %edx, %edx; movl $0xc46f0, %eax; wrmsr		# start the second CPU
idle:	pause; jmp idle
off:	movb $0xfe, %al; outb %al, $0x64; jmp off				# reset
	.org 0xfff0; ljmp $0xf000, $0x100
	.org 0x10000
EOF
objcopy -O binary -j .text guest.o guest.bin

gcc -shared -fPIC -o plugin.so -x c - <<'EOF'
#include <stdint.h>
#include <stdio.h>
int qemu_plugin_version = 4;
uint64_t qemu_plugin_tb_vaddr(const void *tb);
void qemu_plugin_register_vcpu_tb_exec_cb(void *tb, void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*)(uint64_t, void *));
static int runs[2];
static void run(unsigned vcpu, void *data) { runs[vcpu]++; }
static void translated(uint64_t id, void *tb)
{
	if ((qemu_plugin_tb_vaddr(tb) & 0xffff) == 0x200)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, run, 0, 0);
}
int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
__attribute__((destructor)) static void ended(void) { printf("%d %d\n", runs[0], runs[1]); }
EOF

for thread in multi single; do
	seen=$(qemu </dev/null -accel "tcg,thread=$thread" -smp 2 -cpu max -bios guest.bin -no-reboot -plugin ./plugin.so) ||
		fail 2 "cannot be tried: QEMU fails"
	echo "thread=$thread: vCPU 0 and 1 execute the loop $seen times (expected: 1 3000)"
	case $thread:$seen in multi:"1 3000" | single:"3001 0") ;; *) fail 1 "this has changed" ;; esac
done
