// SPDX-License-Identifier: GPL-2.0
#include "simulation.h"

#include <stdio.h>
#include <unistd.h>

struct simulation sim;

void say(const char *message)
{
	fprintf(stderr, "cachesim: %s\n", message);
}

/* Without exit handlers: in a vCPU's thread they could wait for that thread. */
void die(const char *what, const char *why)
{
	fprintf(stderr, "cachesim: %s: %s\n", what, why);
	_exit(1);
}

void die_without_memory(void)
{
	die("what is counted by name", "out of memory; give the host more and run again");
}
