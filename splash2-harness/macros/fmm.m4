divert(-1)
# SPDX-License-Identifier: GPL-2.0
#
# After parmacs.m4, for FMM: it prints positions with five digits and no force. At its
# end the particles go into the report: number, charge over mass, charge, position,
# velocity, and the acceleration of the last step. The names are the program's.
define(`MAIN_END', `{
	long parmacs_i, parmacs_j;

	for (parmacs_i = 0; parmacs_i < Number_Of_Processors; parmacs_i++) {
		for (parmacs_j = 0; parmacs_j < Local[parmacs_i].Num_Particles; parmacs_j++) {
			particle *parmacs_p = Local[parmacs_i].Particles[parmacs_j];

			parmacs_report("particle %ld %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n",
				(long)parmacs_p->id, (double)(parmacs_p->charge / parmacs_p->mass),
				(double)parmacs_p->charge,
				(double)parmacs_p->pos.x, (double)parmacs_p->pos.y,
				(double)parmacs_p->vel.x, (double)parmacs_p->vel.y,
				(double)parmacs_p->acc.x, (double)parmacs_p->acc.y);
		}
	}
	exit(0);
}')
divert(0)dnl
