// SPDX-License-Identifier: LGPL-2.1-or-later
#define IVL_DYNAMIC_SLOTS 2
#define NODE_BITS 4
#include "queue_model.hpp"
#include "queue/dynamic.c"

#define IVL_MODEL_OPS ivl_dynamic_ops
#include "queue_suites.hpp"

int main(int argc, char **argv)
{
	return ivl_model<IVL_QUEUE_SUITES>::main(argc, argv, {});
}
