// SPDX-License-Identifier: GPL-2.0
/*
 * Minimum degree on a quotient graph, with the approximate degrees of P. R. Amestoy,
 * T. A. Davis, I. S. Duff, "An Approximate Minimum Degree Ordering Algorithm" (SIAM J.
 * Matrix Analysis 17, 1996).
 *
 * An eliminated variable becomes an element, which stands for the clique that its
 * elimination makes of its neighbours: the element lists them, and each of them lists
 * the element. Elements that a new one covers are absorbed by it. Variables with the
 * same neighbours are merged and eliminated together.
 *
 * A variable's lists never grow: a new element takes the place of the pivot or of an
 * element that it absorbed. So they stay where the matrix put them.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/splash.h"
#include "order.h"

#define NONE UINT32_MAX

struct node {
	uint32_t *list;		/* elements, then variables; an element's: variables only */
	uint32_t elements;	/* how many of the list; a variable's only */
	uint32_t length;
	uint32_t weight;	/* variables merged into this one, itself included; 0: it is gone */
	uint32_t degree;	/* a variable's, at most; an element's: its list's weight */
	uint32_t next, prev;	/* variables of the same degree, or hash */
	uint32_t last, follower;	/* merged or eliminated together: a chain */
	uint64_t stamp;		/* when it was last met */
	uint64_t outside;	/* an element's weight outside the new element */
	uint32_t hash;
	bool element;
	bool pivotal;		/* in the new element */
};

struct graph {
	struct node *nodes;
	uint32_t *storage;
	uint32_t *heads;	/* by degree */
	uint32_t *hashed;	/* by hash */
	uint32_t n, eliminated, least;
	uint64_t now;
};

static void unlink_degree(struct graph *g, uint32_t i)
{
	struct node *v = &g->nodes[i];

	if (v->next != NONE)
		g->nodes[v->next].prev = v->prev;
	if (v->prev != NONE)
		g->nodes[v->prev].next = v->next;
	else
		g->heads[v->degree] = v->next;
}

static void link_degree(struct graph *g, uint32_t i)
{
	struct node *v = &g->nodes[i];

	v->prev = NONE;
	v->next = g->heads[v->degree];
	if (v->next != NONE)
		g->nodes[v->next].prev = i;
	g->heads[v->degree] = i;
	if (v->degree < g->least)
		g->least = v->degree;
}

static void build(struct graph *g, const struct matrix *a)
{
	uint64_t entries = a->start[a->n] - a->n;
	uint32_t *free_place;

	g->n = a->n;
	g->nodes = splash_alloc(g->n, sizeof(*g->nodes));
	g->heads = splash_alloc(g->n, sizeof(*g->heads));
	g->hashed = splash_alloc(g->n, sizeof(*g->hashed));
	g->storage = splash_alloc(2 * entries, sizeof(*g->storage));
	for (uint32_t j = 0; j < g->n; j++)
		for (uint64_t e = a->start[j] + 1; e < a->start[j + 1]; e++) {
			g->nodes[j].degree++;
			g->nodes[a->row[e]].degree++;
		}
	free_place = g->storage;
	for (uint32_t i = 0; i < g->n; i++) {
		struct node *v = &g->nodes[i];

		v->list = free_place;
		free_place += v->degree;
		v->weight = 1;
		v->last = i;
		v->follower = NONE;
		g->heads[i] = NONE;
		g->hashed[i] = NONE;
	}
	for (uint32_t j = 0; j < g->n; j++)
		for (uint64_t e = a->start[j] + 1; e < a->start[j + 1]; e++) {
			struct node *v = &g->nodes[j], *u = &g->nodes[a->row[e]];

			v->list[v->length++] = a->row[e];
			u->list[u->length++] = j;
		}
	for (uint32_t i = 0; i < g->n; i++)
		link_degree(g, i);
}

/* `i` is eliminated right after `to` and all that already follow that. */
static void follow(struct graph *g, uint32_t to, uint32_t i)
{
	struct node *v = &g->nodes[to];

	g->nodes[v->last].follower = i;
	v->last = g->nodes[i].last;
	v->weight += g->nodes[i].weight;
	g->nodes[i].weight = 0;
}

static uint32_t pop_least(struct graph *g)
{
	uint32_t pivot;

	while (g->heads[g->least] == NONE)
		g->least++;
	pivot = g->heads[g->least];
	unlink_degree(g, pivot);
	return pivot;
}

static void join_element(struct graph *g, struct node *element, uint32_t i)
{
	struct node *v = &g->nodes[i];

	if (!v->weight || v->element || v->pivotal)
		return;
	unlink_degree(g, i);
	v->pivotal = true;
	element->degree += v->weight;
	element->list[element->length++] = i;
}

static void absorb(struct node *element)
{
	free(element->list);
	element->list = NULL;
	element->weight = 0;
}

/* The pivot becomes an element of all its neighbours. */
static void make_element(struct graph *g, uint32_t pivot)
{
	struct node *p = &g->nodes[pivot];
	const uint32_t *old = p->list;
	uint32_t elements = p->elements, length = p->length;
	uint64_t most = length;

	for (uint32_t k = 0; k < elements; k++)
		most += g->nodes[old[k]].length;
	p->list = splash_alloc(most < g->n ? most : g->n, sizeof(*p->list));
	p->element = true;
	p->length = 0;
	p->degree = 0;
	for (uint32_t k = 0; k < length; k++) {
		struct node *e = &g->nodes[old[k]];

		if (k >= elements) {
			join_element(g, p, old[k]);
			continue;
		}
		for (uint32_t l = 0; l < e->length; l++)
			join_element(g, p, e->list[l]);
		absorb(e);
	}
}

/* How much of each element near the new one lies outside it. */
static void measure_outside(struct graph *g, const struct node *p)
{
	g->now++;
	for (uint32_t k = 0; k < p->length; k++) {
		const struct node *v = &g->nodes[p->list[k]];

		for (uint32_t l = 0; l < v->elements; l++) {
			struct node *e = &g->nodes[v->list[l]];

			if (!e->weight)
				continue;
			if (e->stamp != g->now) {
				e->stamp = g->now;
				e->outside = e->degree;
			}
			e->outside -= v->weight;
		}
	}
}

/*
 * Drops from a variable's lists what the new element covers, puts that in, and sums
 * what is outside of it. False: nothing is, and the variable can be eliminated as well.
 */
static bool update_variable(struct graph *g, uint32_t pivot, uint32_t i)
{
	struct node *v = &g->nodes[i];
	uint32_t kept = 0, elements, hash = pivot;
	uint64_t degree = 0;

	for (uint32_t l = 0; l < v->elements; l++) {
		struct node *e = &g->nodes[v->list[l]];

		if (!e->weight)
			continue;
		if (!e->outside) {
			absorb(e);
			continue;
		}
		degree += e->outside;
		hash += v->list[l];
		v->list[kept++] = v->list[l];
	}
	elements = kept;
	for (uint32_t l = v->elements; l < v->length; l++) {
		const struct node *u = &g->nodes[v->list[l]];

		if (!u->weight || u->element || u->pivotal)
			continue;
		degree += u->weight;
		hash += v->list[l];
		v->list[kept++] = v->list[l];
	}
	if (!kept)
		return false;
	v->list[kept] = v->list[elements];
	v->list[elements] = pivot;
	v->elements = elements + 1;
	v->length = kept + 1;
	v->degree = degree < g->n ? (uint32_t)degree : g->n;
	v->hash = hash % g->n;
	return true;
}

/* The same elements and variables, in any order. */
static bool same_lists(struct graph *g, const struct node *v, const struct node *u)
{
	if (v->length != u->length || v->elements != u->elements)
		return false;
	g->now++;
	for (uint32_t l = 0; l < v->length; l++)
		g->nodes[v->list[l]].stamp = g->now;
	for (uint32_t l = 0; l < u->length; l++)
		if (g->nodes[u->list[l]].stamp != g->now)
			return false;
	return true;
}

/* Adds a variable to its hash's list, or merges it into a variable with the same lists. */
static void find_twin(struct graph *g, uint32_t i)
{
	struct node *v = &g->nodes[i];

	for (uint32_t k = g->hashed[v->hash]; k != NONE; k = g->nodes[k].next)
		if (same_lists(g, v, &g->nodes[k])) {
			follow(g, k, i);
			return;
		}
	v->next = g->hashed[v->hash];
	g->hashed[v->hash] = i;
}

/* Variables that go with the pivot, or are merged into another, leave the element. */
static void finish_element(struct graph *g, uint32_t pivot)
{
	struct node *p = &g->nodes[pivot];
	uint32_t kept = 0;

	for (uint32_t k = 0; k < p->length; k++) {
		uint32_t i = p->list[k];
		struct node *v = &g->nodes[i];

		v->pivotal = false;
		if (!v->weight)
			continue;
		g->hashed[v->hash] = NONE;
		p->list[kept++] = i;
	}
	p->length = kept;
	for (uint32_t k = 0; k < kept; k++) {
		struct node *v = &g->nodes[p->list[k]];
		uint32_t rest = g->n - g->eliminated - v->weight;
		uint64_t degree = (uint64_t)v->degree + p->degree - v->weight;

		v->degree = degree < rest ? (uint32_t)degree : rest;
		link_degree(g, p->list[k]);
	}
}

static void eliminate(struct graph *g, uint32_t pivot)
{
	struct node *p = &g->nodes[pivot];

	make_element(g, pivot);
	measure_outside(g, p);
	for (uint32_t k = 0; k < p->length; k++) {
		uint32_t i = p->list[k];

		if (!update_variable(g, pivot, i)) {
			p->degree -= g->nodes[i].weight;
			follow(g, pivot, i);
		}
	}
	for (uint32_t k = 0; k < p->length; k++)
		if (g->nodes[p->list[k]].weight)
			find_twin(g, p->list[k]);
	g->eliminated += p->weight;
	finish_element(g, pivot);
}

uint32_t *order_minimum_degree(const struct matrix *a)
{
	struct graph g = { 0 };
	uint32_t *order, done = 0;

	build(&g, a);
	order = splash_alloc(g.n, sizeof(*order));
	while (done < g.n) {
		uint32_t pivot = pop_least(&g);

		eliminate(&g, pivot);
		for (uint32_t i = pivot; i != NONE; i = g.nodes[i].follower)
			order[done++] = i;
	}
	for (uint32_t i = 0; i < g.n; i++)
		if (g.nodes[i].element)
			free(g.nodes[i].list);
	free(g.nodes);
	free(g.storage);
	free(g.heads);
	free(g.hashed);
	return order;
}
