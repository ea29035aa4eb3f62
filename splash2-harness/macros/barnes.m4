divert(-1)
# SPDX-License-Identifier: GPL-2.0
#
# After parmacs.m4, for Barnes: it prints nothing that could be checked. At its end the
# bodies go into the report: mass, position, velocity, and the acceleration of the last
# force phase. The names are the program's.
define(`MAIN_END', `{
	long parmacs_i;

	for (parmacs_i = 0; parmacs_i < nbody; parmacs_i++) {
		bodyptr parmacs_b = bodytab + parmacs_i;

		parmacs_report("body %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n",
			(double)Mass(parmacs_b),
			(double)Pos(parmacs_b)[0], (double)Pos(parmacs_b)[1],
			(double)Pos(parmacs_b)[2],
			(double)Vel(parmacs_b)[0], (double)Vel(parmacs_b)[1],
			(double)Vel(parmacs_b)[2],
			(double)Acc(parmacs_b)[0], (double)Acc(parmacs_b)[1],
			(double)Acc(parmacs_b)[2]);
	}
	exit(0);
}')
divert(0)dnl
