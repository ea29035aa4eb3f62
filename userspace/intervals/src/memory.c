// SPDX-License-Identifier: LGPL-2.1-or-later
/* Memory of intervals and edges, and the model of a runtime. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "worker.h"

#define BLOCK_BYTES(type) ((sizeof(type) + 63) / 64 * 64)

/* NULL: the caller is no worker of the model's runtime. */
static struct ivl_worker *own_worker(const struct ivl_model *model)
{
	struct ivl_worker *worker = ivl_self();

	return worker && worker->runtime == model->runtime ? worker : NULL;
}

static int node_of(const struct ivl_worker *own)
{
	return own ? own->place->node : -1;
}

struct ivl_interval *ivl_interval_get(struct ivl_model *model)
{
	struct ivl_worker *own = own_worker(model);

	return ivl_block_get(&model->intervals, own ? &own->intervals : NULL, node_of(own));
}

void ivl_interval_put(struct ivl_interval *interval)
{
	struct ivl_model *model = interval->model;
	struct ivl_worker *own = own_worker(model);

	ivl_block_put(&model->intervals, own ? &own->intervals : NULL, interval);
}

struct ivl_edge *ivl_edge_get(struct ivl_model *model)
{
	struct ivl_worker *own = own_worker(model);

	return ivl_block_get(&model->edges, own ? &own->edges : NULL, node_of(own));
}

void ivl_edge_put(struct ivl_model *model, struct ivl_edge *edge)
{
	struct ivl_worker *own = own_worker(model);

	ivl_block_put(&model->edges, own ? &own->edges : NULL, edge);
}

int ivl_model_create(ivl_runtime *runtime, void **result)
{
	struct ivl_model *model = aligned_alloc(IVL_LINE, sizeof(*model));

	if (!model)
		return ENOMEM;
	memset(model, 0, sizeof(*model));
	model->runtime = runtime;
	model->root.model = model;
	model->root.jump = &model->root;
	model->root.started = true;
	model->root.end.is_end = true;
	atomic_store_explicit(&model->root.start.out, IVL_CLOSED, memory_order_relaxed);
	atomic_store_explicit(&model->root.end.left, IVL_OPEN, memory_order_relaxed);
	atomic_store_explicit(&model->root.refs, 1, memory_order_relaxed);
	pthread_mutex_init(&model->lock, NULL);
	ivl_depot_init(&model->intervals, BLOCK_BYTES(struct ivl_interval));
	ivl_depot_init(&model->edges, sizeof(struct ivl_edge) * 2);
	*result = model;
	return 0;
}

void ivl_model_destroy(void *opaque)
{
	struct ivl_model *model = opaque;

	ivl_depot_destroy(&model->intervals);
	ivl_depot_destroy(&model->edges);
	pthread_mutex_destroy(&model->lock);
	free(model);
}
