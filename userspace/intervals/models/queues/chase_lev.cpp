// SPDX-License-Identifier: LGPL-2.1-or-later
#include "queue_model.hpp"
#include "queue/ring.c"
#include "queue/open_ring.c"
#include "queue/chase_lev.c"

#define IVL_MODEL_OPS ivl_chase_lev_ops
#include "queue_suites.hpp"

int main(int argc, char **argv)
{
	/*
	 * T1. By T3, which it sees, comes before T2 in C11's one order, as happens-before
	 * does; C++20 (P0668) promises that of seq_cst alone. relacy is C11.
	 */
	return ivl_model<IVL_QUEUE_SUITES>::main(argc, argv, {}, { "steal seq_cst acq_rel" });
}
