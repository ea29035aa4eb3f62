// SPDX-License-Identifier: LGPL-2.1-or-later
/* One queue on its kind of array: meson.build says which, and what is particular about it. */
/* One put uses the tags of every array but the first up. */
#define IVL_TAG_BEGIN (LAST_TAG - 1)
#include "queue_model.hpp"
#include "queue/ring.c"
#include IVL_MODEL_ARRAY
#include IVL_MODEL_QUEUE
#include "queue_suites.hpp"

int main(int argc, char **argv)
{
#ifdef IVL_MODEL_ANCHORED
	return ivl_model<IVL_QUEUE_SUITES, ivl_comes_back>::main(
		argc, argv, {}, { IVL_ANCHORED_UNNEEDED });
#else
	return ivl_model<IVL_QUEUE_SUITES>::main(argc, argv, {});
#endif
}
