/* SPDX-License-Identifier: GPL-2.0 */
MAIN_ENV
INCLUDES

#include <math.h>
#include "code.h"

struct global *global;
bodyptr bodytab;
long nbody, nproc;
double dtime, eps;

double line()
{
	char text[128];

	return fgets(text, sizeof(text), stdin) ? atof(text) : 0.0;
}

void pull(b)
bodyptr b;
{
	double d[3], square, force;
	long i, k;

	for (k = 0; k < 3; k++)
		Acc(b)[k] = 0;
	for (i = 0; i < nbody; i++) {
		for (k = 0, square = eps * eps; k < 3; k++) {
			d[k] = Pos(bodytab + i)[k] - Pos(b)[k];
			square += d[k] * d[k];
		}
		force = Mass(bodytab + i) / (square * sqrt(square));
		for (k = 0; k < 3; k++)
			Acc(b)[k] += force * d[k];
	}
}

void step()
{
	bodyptr b;
	long me, i, k;

	LOCK(global->lock)
	me = global->id++;
	UNLOCK(global->lock)
	for (i = me; i < nbody; i += nproc)
		pull(bodytab + i);
	BARRIER(global->step, nproc);
	for (i = me; i < nbody; i += nproc) {
		b = bodytab + i;
		for (k = 0; k < 3; k++) {
			Vel(b)[k] += Acc(b)[k] * dtime / 2;
			Pos(b)[k] += Vel(b)[k] * dtime;
			Vel(b)[k] += Acc(b)[k] * dtime / 2;
		}
	}
	RELEASE_FENCE();
	ALOCK(global->locks, 1)
	if (++global->done == nproc) {
		CONDVARBCAST(global->done_cv);
	} else while (global->done < nproc) {
		CONDVARWAIT(global->done_cv, AGETL(global->locks, 1));
	}
	AUNLOCK(global->locks, 1)
	ACQUIRE_FENCE();
}

int main()
{
	double given[12];
	unsigned long begun, ended;
	long i, k;

	for (i = 0; i < 12; i++)
		given[i] = line();
	nbody = given[1];
	dtime = given[4];
	eps = given[5];
	nproc = given[11];
	MAIN_INITENV(,70000000,);
	global = (struct global *) G_MALLOC(sizeof(struct global));
	bodytab = (bodyptr) G_MALLOC(nbody * sizeof(body));
	LOCKINIT(global->lock);
	ALOCKINIT(global->locks, 2);
	CONDVARINIT(global->done_cv);
	BARINIT(global->step, nproc);
	srand48((long)given[2]);
	for (i = 0; i < nbody; i++) {
		Mass(bodytab + i) = 1.0 / nbody;
		for (k = 0; k < 3; k++)
			Pos(bodytab + i)[k] = drand48();
	}
	CLOCK(begun);
	SPLASH3_ROI_BEGIN();
	CREATE(step, nproc);
	WAIT_FOR_END(nproc);
	SPLASH3_ROI_END();
	CLOCK(ended);
	printf("TRACKTIME     = %12lu\n", ended - begun);
	MAIN_END;
}
