/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CHOLESKY_ASSIGN_H
#define CHOLESKY_ASSIGN_H

#include "symbolic.h"

#define SHARED UINT32_MAX

/* The worker of each panel and block. */
struct assignment {
	uint32_t *domain;	/* panel -> the one worker of its subtree, or SHARED */
	uint32_t *rank;		/* a shared panel's number among these */
	uint32_t *owner;	/* block -> worker */
	uint32_t shared_blocks;
};

struct assignment assign(const struct factor *f, unsigned int threads);

/* The owner of a block of shared panels, whether or not it is there. */
uint32_t assign_owner(const struct assignment *as, uint32_t row_panel, uint32_t panel);

#endif
