// SPDX-License-Identifier: LGPL-2.1-or-later
#include "queue_model.hpp"
#include "queue/ring.c"
#include "queue/locked_ring.c"
#include "queue/shared.c"

#define IVL_MODEL_OPS ivl_shared_ops
#include "queue_suites.hpp"

int main(int argc, char **argv)
{
	return ivl_model<IVL_QUEUE_SUITES>::main(argc, argv, {});
}
