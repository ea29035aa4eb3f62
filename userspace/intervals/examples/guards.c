// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Guards: transfers between accounts. Each transfer holds the guards of its two
 * accounts, which are known only when the program runs. No transfer blocks a worker, and no
 * transfers wait for each other in a cycle.
 */
#include <stdio.h>
#include <stdlib.h>

#include <intervals.h>

#define ACCOUNTS 10
#define TRANSFERS 1000

static struct account {
	ivl_guard *guard;
	long cents;
} accounts[ACCOUNTS];

static struct transfer {
	struct account *from, *to;
	long cents;
} transfers[TRANSFERS];

static int transfer(ivl_interval *self, void *arg)
{
	struct transfer *t = arg;

	(void)self;
	t->from->cents -= t->cents;
	t->to->cents += t->cents;
	return 0;
}

static int transfer_all(ivl_interval *self, void *arg)
{
	int error = 0;

	(void)arg;
	for (int i = 0; i < TRANSFERS && !error; i++) {
		ivl_interval *interval = ivl_create(self, NULL, transfer, &transfers[i], NULL);

		if (!interval)
			return -1;
		error = ivl_add_guard(interval, transfers[i].from->guard);
		if (!error)
			error = ivl_add_guard(interval, transfers[i].to->guard);
		ivl_release(interval);
	}
	return error;
}

int main(void)
{
	ivl_runtime *runtime;
	long sum = 0;
	int error = ivl_start(NULL, &runtime);

	if (error) {
		fprintf(stderr, "%s\n", ivl_last_error());
		return 1;
	}
	for (int i = 0; i < ACCOUNTS; i++) {
		accounts[i].guard = ivl_guard_create(runtime, "account");
		accounts[i].cents = 10000;
		if (!accounts[i].guard)
			return 1;
	}
	for (int i = 0; i < TRANSFERS; i++)
		transfers[i] = (struct transfer){
			&accounts[rand() % ACCOUNTS], &accounts[rand() % ACCOUNTS], rand() % 1000,
		};

	error = ivl_run(runtime, transfer_all, NULL);

	for (int i = 0; i < ACCOUNTS; i++) {
		printf("account %d: %ld\n", i, accounts[i].cents);
		sum += accounts[i].cents;
		ivl_guard_release(accounts[i].guard);
	}
	printf("together: %ld\n", sum);
	ivl_stop(runtime);
	return error || sum != ACCOUNTS * 10000 ? 1 : 0;
}
