// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Health (BOTS): a country's health system, day by day. Villages form a tree. Inhabitants fall ill,
 * wait in their village's hospital, are assessed, and are sent home, treated, or handed up to the
 * next village's hospital. A village's day follows the days of all villages below it.
 *
 * Each village draws its own random numbers, so the villages' order does not change the result.
 */
#include "theses.h"

#define INHABITANTS 20		/* of a smallest village; higher levels have more */
#define MOST_LEVELS 8
#define ASSESSMENT 3		/* days */
#define TREATMENT 10
/* In thousands. */
#define FALL_ILL 2
#define IS_TREATED 100
#define IS_HANDED_UP 300

struct patient {
	struct patient *next;
	struct bench_village *home;
	unsigned int days;		/* until the assessment or treatment is over */
	unsigned int waited;		/* in all */
};

/* A queue of patients, first in, first out. */
struct list {
	struct patient *first, **last;
};

struct bench_village {
	struct bench_village *first, *next;	/* of those below; beside */
	unsigned int level;			/* the smallest: 1 */
	uint32_t state;
	unsigned int staff;			/* that is free */
	struct list home, waiting, assessed, treated, handed_up;
	struct patient *patients;		/* that live here */
	unsigned int inhabitants;
};

struct bench_health bench_health;

static struct bench_village *villages;
static size_t village_count;
static unsigned int levels;
static uint64_t expected;

static void join(struct list *list, struct patient *patient)
{
	patient->next = NULL;
	*list->last = patient;
	list->last = &patient->next;
}

static void empty(struct list *list)
{
	list->first = NULL;
	list->last = &list->first;
}

/* Empties the list; patients that stay are added again. */
static struct patient *take_all(struct list *list)
{
	struct patient *first = list->first;

	empty(list);
	return first;
}

static bool happens(struct bench_village *village, unsigned int thousandths)
{
	village->state = village->state * 1664525 + 1013904223;
	return (uint64_t)village->state * 1000 >> 32 < thousandths;
}

static void treat(struct bench_village *village)
{
	for (struct patient *p = take_all(&village->treated), *next; p; p = next) {
		next = p->next;
		if (--p->days) {
			join(&village->treated, p);
			continue;
		}
		village->staff++;
		join(&p->home->home, p);
	}
}

static void assess(struct bench_village *village)
{
	for (struct patient *p = take_all(&village->assessed), *next; p; p = next) {
		next = p->next;
		if (--p->days) {
			join(&village->assessed, p);
		} else if (happens(village, IS_TREATED)) {
			p->days = TREATMENT;
			join(&village->treated, p);
		} else {
			bool up = village->level < levels && happens(village, IS_HANDED_UP);

			village->staff++;
			join(up ? &village->handed_up : &p->home->home, p);
		}
	}
}

static void begin_to_assess(struct bench_village *village)
{
	for (struct patient *p = take_all(&village->waiting), *next; p; p = next) {
		next = p->next;
		if (!village->staff) {
			p->waited++;
			join(&village->waiting, p);
			continue;
		}
		village->staff--;
		p->days = ASSESSMENT;
		join(&village->assessed, p);
	}
}

static void fall_ill(struct bench_village *village)
{
	for (struct patient *p = take_all(&village->home), *next; p; p = next) {
		next = p->next;
		join(happens(village, FALL_ILL) ? &village->waiting : &village->home, p);
	}
}

void health_day(struct bench_village *village)
{
	for (struct bench_village *v = village->first; v; v = v->next)
		for (struct patient *p = take_all(&v->handed_up), *next; p; p = next) {
			next = p->next;
			join(&village->waiting, p);
		}
	treat(village);
	assess(village);
	begin_to_assess(village);
	fall_ill(village);
}

struct bench_village *health_first_below(const struct bench_village *village)
{
	return village->first;
}

struct bench_village *health_next(const struct bench_village *village)
{
	return village->next;
}

static size_t count_villages(unsigned int of_levels)
{
	size_t count = 0;

	for (size_t row = 1; of_levels--; row *= HEALTH_BRANCHES)
		count += row;
	return count;
}

/* Village 0 is the capital; those below village i are i * HEALTH_BRANCHES + 1 and so on. */
static bool make_villages(void)
{
	size_t row_begin = 0, row = 1;
	unsigned int level = levels;

	for (size_t i = 0; i < village_count; i++) {
		struct bench_village *village = &villages[i];
		size_t below = i * HEALTH_BRANCHES + 1;

		if (i == row_begin + row) {
			row_begin += row;
			row *= HEALTH_BRANCHES;
			level--;
		}
		village->level = level;
		village->inhabitants = INHABITANTS << level;
		village->patients = calloc(village->inhabitants, sizeof(*village->patients));
		if (!village->patients)
			return false;
		if (below < village_count)
			village->first = &villages[below];
		if (i % HEALTH_BRANCHES)
			village->next = &villages[i + 1];
	}
	return true;
}

static void begin(void)
{
	for (size_t i = 0; i < village_count; i++) {
		struct bench_village *village = &villages[i];

		village->state = (uint32_t)(i + 1) * 2654435761U;
		village->staff = village->level;
		empty(&village->home);
		empty(&village->waiting);
		empty(&village->assessed);
		empty(&village->treated);
		empty(&village->handed_up);
		for (unsigned int k = 0; k < village->inhabitants; k++) {
			struct patient *patient = &village->patients[k];

			*patient = (struct patient){ .home = village };
			join(&village->home, patient);
		}
	}
}

/* Mixes a list's patients into the digest; returns their number. */
static size_t digest_list(const struct list *list, uint64_t *digest)
{
	size_t count = 0;

	for (const struct patient *p = list->first; p; p = p->next, count++) {
		uint64_t who = (uint64_t)(p->home - villages) << 32 |
			       (uint64_t)(p - p->home->patients);

		*digest = (*digest ^ who ^ (uint64_t)p->waited << 16 ^ (uint64_t)p->days << 24) *
			  UINT64_C(0x100000001b3);
	}
	*digest = (*digest ^ count) * UINT64_C(0x100000001b3);
	return count;
}

/* Of where each patient is. 0: a patient or staff is lost, or counted twice. */
static uint64_t digest(void)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);
	size_t inhabitants = 0, found = 0, busy;

	for (size_t i = 0; i < village_count; i++) {
		struct bench_village *village = &villages[i];

		inhabitants += village->inhabitants;
		busy = digest_list(&village->assessed, &sum);
		busy += digest_list(&village->treated, &sum);
		if (village->staff + busy != village->level)
			return 0;
		found += busy + digest_list(&village->home, &sum);
		found += digest_list(&village->waiting, &sum);
		found += digest_list(&village->handed_up, &sum);
	}
	return found == inhabitants ? sum : 0;
}

/* Without a tree: from the last village, which is a smallest one, to the capital. */
static uint64_t simulate_rows(void)
{
	begin();
	for (unsigned int day = 0; day < HEALTH_DAYS; day++)
		for (size_t i = village_count; i--; )
			health_day(&villages[i]);
	return digest();
}

static int prepare(unsigned int size)
{
	if (size > MOST_LEVELS)
		return EINVAL;
	if (levels != size) {
		levels = size;
		village_count = count_villages(size);
		villages = calloc(village_count, sizeof(*villages));
		if (!villages || !make_villages())
			return ENOMEM;
		bench_health.capital = villages;
		expected = simulate_rows();
	}
	begin();
	return 0;
}

static bool check(void)
{
	return expected && digest() == expected;
}

const struct bench_kernel bench_kernel_health = {
	.name = "health", .size = 6, .quick_size = 3, .warmups = 0, .repeats = 3,
	.prepare = prepare, .check = check,
};
