// SPDX-License-Identifier: LGPL-2.1-or-later
/* One put uses the tags of every array but the first up. */
#define IVL_TAG_BEGIN (LAST_TAG - 1)
#include "queue_model.hpp"
#include "queue/ring.c"
#include "queue/anchored.c"
#include "queue/idempotent_lifo.c"

#define IVL_MODEL_OPS ivl_idempotent_lifo_ops
#include "queue_suites.hpp"

int main(int argc, char **argv)
{
	return ivl_model<IVL_QUEUE_SUITES, ivl_comes_back>::main(
		argc, argv, {}, { IVL_ANCHORED_UNNEEDED });
}
