#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# QEMU 10.0.13 (11.1.3 is the same): PAUSE gives a vCPU's whole turn away
#
# With -accel tcg,thread=single the vCPUs run in turn. vCPU 1 spins until vCPU 0 has counted to 100 million, and
# counts how often it looks.
# A good guess: PAUSE is a hint, so the waiter looks about as often with PAUSE as with NOP in its place. With -icount,
#   instructions are the clock, and the two loops have equally many.
# Seen: with NOP the waiter looks tens of millions of times, with PAUSE less than 1,000 times. PAUSE ends the turn at
#   once, and a look takes as long as a turn of the other vCPU. A lock that is to look 100 times before it sleeps
#   spins for 100 turns.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
fail() { echo "$2" >&2; exit "$1"; }
# shellcheck source=findings/debian-qemu
. "$here/debian-qemu"

debian_qemu 1:10.0.13+ds-0+deb13u1 trixie

for hint in nop pause; do
	# The guest is a firmware of 64 KiB: the second CPU begins at its first byte, the first CPU at 0x100.
	as --32 -o guest.o - <<EOF
	.code16
look:	incl %ds:0x510
	$hint
	cmpw \$0, %ds:0x500; je look
halt:	hlt; jmp halt
	.org 0x100
	movl \$0x1b, %ecx; rdmsr; orw \$0x400, %ax; wrmsr				# x2APIC
	movl \$0x830, %ecx; xorl %edx, %edx; movl \$0xc46f0, %eax; wrmsr	# start the second CPU
begun:	cmpl \$0, %ds:0x510; je begun
	movl \$100000000, %ecx
count:	decl %ecx; jnz count
	incw %ds:0x500
	movl %ds:0x510, %eax
	movw \$4, %cx
byte:	outb %al, \$0xe9; shrl \$8, %eax; loop byte
off:	movb \$0xfe, %al; outb %al, \$0x64; jmp off				# reset
	.org 0xfff0
	ljmp \$0xf000, \$0x100
	.org 0x10000
EOF
	objcopy -O binary -j .text guest.o guest.bin
	qemu </dev/null -accel tcg,thread=single -icount shift=0,sleep=off -smp 2 -cpu max -bios guest.bin -no-reboot \
		-debugcon file:looks || fail 2 "cannot be tried: QEMU fails"
	looks=$(od -An -tu4 looks | tr -d ' ')
	echo "$hint: the waiter looks $looks times (expected: with pause about as often as with nop)"
	case $hint in
	nop) ((looks > 10000000)) || fail 1 "this has changed" ;;
	pause) ((looks < 1000)) || fail 1 "this has changed" ;;
	esac
done
