// SPDX-License-Identifier: GPL-2.0
#include "events.h"

#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct counter_name counter_names[COUNTERS] = {
	[CYCLES] = { "cycles", "cycles" },
	[INSTRUCTIONS] = { "instructions", "instructions" },
	[L2_REFERENCES] = { "l2_references", "references" },
	[L2_MISSES] = { "l2_misses", "misses" },
	[L3_REFERENCES] = { "l3_references", "references" },
	[L3_MISSES] = { "l3_misses", "misses" },
	[BUS_REQUESTS] = { "bus_requests", "requests" },
	[CACHE_TO_CACHE] = { "cache_to_cache", "transfers" },
	[CONTEXT_SWITCHES] = { "context_switches", "switches" },
	[MIGRATIONS] = { "migrations", "migrations" },
	[TASK_CLOCK] = { "task_clock", "ns" },
	[PAGE_FAULTS] = { "page_faults", "faults" },
};

/* A word that stands for several. */
static const struct {
	const char *name;
	unsigned int set;
} groups[] = {
	{ "all", ALL_COUNTERS },
	{ "hardware", ALL_HARDWARE },
	{ "software", ALL_SOFTWARE },
};

static unsigned int word_set(const char *word, size_t length)
{
	for (int i = 0; i < COUNTERS; i++)
		if (strlen(counter_names[i].name) == length &&
		    !strncmp(counter_names[i].name, word, length))
			return COUNTER_BIT(i);
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (strlen(groups[i].name) == length && !strncmp(groups[i].name, word, length))
			return groups[i].set;
	return 0;
}

unsigned int counters_parse(const char *list, char *bad, size_t size)
{
	unsigned int set = 0;

	for (;; list++) {
		size_t length = strcspn(list, ",");
		unsigned int more = word_set(list, length);

		if (!more) {
			snprintf(bad, size, "%.*s", (int)length, list);
			return 0;
		}
		set |= more;
		list += length;
		if (!*list)
			return set;
	}
}

#define MAX_PMUS 6

/*
 * A row is for CPUs whose events have the same names. A cell's event is the
 * kernel's when it begins with perf::, else the CPU's own.
 */
struct row {
	const char *pmus[MAX_PMUS];
	struct cell {
		const char *event;
		const char *why_not;
	} cells[HARDWARE_COUNTERS];
};

#define EVENT(name) { .event = name }
#define NONE(reason) { .why_not = reason }

/* The kernel programs these two right on every CPU it knows. */
#define KERNEL_CYCLES [CYCLES] = EVENT("perf::PERF_COUNT_HW_CPU_CYCLES")
#define KERNEL_INSTRUCTIONS [INSTRUCTIONS] = EVENT("perf::PERF_COUNT_HW_INSTRUCTIONS")

/* Loads, stores and instruction fetches; no prefetches. */
#define INTEL_L2 \
	[L2_REFERENCES] = EVENT("L2_RQSTS:ALL_DEMAND_REFERENCES"), \
	[L2_MISSES] = EVENT("L2_RQSTS:ALL_DEMAND_MISS")

/* The architectural LONGEST_LAT_CACHE:REFERENCE and :MISS on every Intel CPU. */
#define INTEL_L3 \
	[L3_REFERENCES] = EVENT("perf::PERF_COUNT_HW_CACHE_REFERENCES"), \
	[L3_MISSES] = EVENT("perf::PERF_COUNT_HW_CACHE_MISSES")

#define ZEN_L2_STATUS "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS"
#define ZEN_L2 \
	[L2_REFERENCES] = EVENT(ZEN_L2_STATUS \
				":IC_FILL_MISS:IC_FILL_HIT_S:IC_FILL_HIT_X" \
				":LS_RD_BLK_C:LS_RD_BLK_X:LS_RD_BLK_C_S" \
				":LS_RD_BLK_L_HIT_S:LS_RD_BLK_L_HIT_X"), \
	[L2_MISSES] = EVENT(ZEN_L2_STATUS ":IC_FILL_MISS:LS_RD_BLK_C")

/* Where a line that came into the L1D came from: masks whose names change with the CPU. */
#define ZEN_FILLS(complex, caches, memory) \
	[L3_REFERENCES] = EVENT("ANY_DATA_CACHE_FILLS_FROM_SYSTEM" complex caches memory), \
	[L3_MISSES] = EVENT("ANY_DATA_CACHE_FILLS_FROM_SYSTEM" caches memory), \
	[BUS_REQUESTS] = EVENT("ANY_DATA_CACHE_FILLS_FROM_SYSTEM" caches memory), \
	[CACHE_TO_CACHE] = EVENT("ANY_DATA_CACHE_FILLS_FROM_SYSTEM" caches)

#define OLD_ZEN "the core does not say whose cache a line came from, and the counters of the L3 " \
	"belong to a core complex, not to a thread"

#define NO_ROW "fast-stat's table has no row for this CPU, and the kernel no name for such an event"

static const struct row rows[] = {
	{
		.pmus = { "hsw", "hsw_ep", "bdw", "bdw_ep" },
		.cells = {
			KERNEL_CYCLES, KERNEL_INSTRUCTIONS, INTEL_L2, INTEL_L3,
			/* What comes in was asked for; upgrades and write-backs are not seen. */
			[BUS_REQUESTS] = EVENT("L2_LINES_IN:ALL"),
			[CACHE_TO_CACHE] = EVENT("MEM_LOAD_UOPS_L3_HIT_RETIRED:XSNP_HITM"),
		},
	}, {
		.pmus = { "skl", "skx", "clx", "icl", "icx" },
		.cells = {
			KERNEL_CYCLES, KERNEL_INSTRUCTIONS, INTEL_L2, INTEL_L3,
			[BUS_REQUESTS] = EVENT("OFFCORE_REQUESTS:ALL_REQUESTS"),
			[CACHE_TO_CACHE] = EVENT("MEM_LOAD_L3_HIT_RETIRED:XSNP_HITM"),
		},
	}, {
		.pmus = { "spr", "emr", "gnr" },
		.cells = {
			KERNEL_CYCLES, KERNEL_INSTRUCTIONS, INTEL_L2, INTEL_L3,
			[BUS_REQUESTS] = EVENT("OFFCORE_REQUESTS:ALL_REQUESTS"),
			[CACHE_TO_CACHE] = EVENT("MEM_LOAD_L3_HIT_RETIRED:XSNP_FWD"),
		},
	}, {
		.pmus = { "amd64_fam17h_zen1", "amd64_fam17h_zen2" },
		.cells = {
			KERNEL_CYCLES, KERNEL_INSTRUCTIONS, ZEN_L2,
			[L3_REFERENCES] = NONE(OLD_ZEN),
			[L3_MISSES] = NONE(OLD_ZEN),
			[BUS_REQUESTS] = NONE(OLD_ZEN),
			[CACHE_TO_CACHE] = NONE(OLD_ZEN),
		},
	}, {
		.pmus = { "amd64_fam19h_zen3" },
		.cells = {
			KERNEL_CYCLES, KERNEL_INSTRUCTIONS, ZEN_L2,
			ZEN_FILLS(":INT_CACHE", ":EXT_CACHE_LCL:EXT_CACHE_RMT",
				  ":MEM_IO_LCL:MEM_IO_RMT"),
		},
	}, {
		.pmus = { "amd64_fam19h_zen4" },
		.cells = {
			KERNEL_CYCLES, KERNEL_INSTRUCTIONS, ZEN_L2,
			ZEN_FILLS(":LOCAL_CCX", ":NEAR_CACHE_NEAR_FAR:FAR_CACHE_NEAR_FAR",
				  ":DRAM_IO_NEAR:DRAM_IO_FAR:ALT_MEM_NEAR_FAR"),
		},
	}, {
		.pmus = { "amd64_fam1ah_zen5" },
		.cells = {
			KERNEL_CYCLES, KERNEL_INSTRUCTIONS, ZEN_L2,
			ZEN_FILLS(":LOCAL_CCX", ":NEAR_FAR_CACHE_NEAR:NEAR_FAR_CACHE_FAR",
				  ":DRAM_IO_NEAR:DRAM_IO_FAR:ALT_MEM_NEAR_FAR"),
		},
	}, {
		.pmus = { "arm_n1", "arm_n2", "arm_n3", "arm_v1", "arm_v2", "arm_v3" },
		.cells = {
			KERNEL_CYCLES, KERNEL_INSTRUCTIONS,
			[L2_REFERENCES] = EVENT("L2D_CACHE"),
			[L2_MISSES] = EVENT("L2D_CACHE_REFILL"),
			/* Most systems have no L3 in the cluster, but one in the interconnect. */
			[L3_REFERENCES] = EVENT("LL_CACHE_RD"),
			[L3_MISSES] = EVENT("LL_CACHE_MISS_RD"),
			[BUS_REQUESTS] = EVENT("BUS_ACCESS"),
			[CACHE_TO_CACHE] = NONE("a Neoverse core does not say whose cache a line "
						"came from"),
		},
	}, {
		.pmus = { "generic" },
		.cells = {
			KERNEL_CYCLES, KERNEL_INSTRUCTIONS,
			[L2_REFERENCES] = NONE(NO_ROW),
			[L2_MISSES] = NONE(NO_ROW),
			[L3_REFERENCES] = EVENT("perf::PERF_COUNT_HW_CACHE_LL:READ:ACCESS"),
			[L3_MISSES] = EVENT("perf::PERF_COUNT_HW_CACHE_LL:READ:MISS"),
			[BUS_REQUESTS] = NONE(NO_ROW),
			[CACHE_TO_CACHE] = NONE(NO_ROW),
		},
	},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))
#define GENERIC (&rows[ROWS - 1])

#define IN_KERNEL "it happens in the kernel, and only user space is counted"
/* Its event does not heed exclude_kernel. */
#define KERNEL_TIME "it has the kernel's time in it, too, and only user space is counted"

static const struct software {
	const char *event;
	const char *not_user;	/* why it cannot be had of user space only; NULL: it can */
} software[COUNTERS] = {
	[CONTEXT_SWITCHES] = { "perf::PERF_COUNT_SW_CONTEXT_SWITCHES", IN_KERNEL },
	[MIGRATIONS] = { "perf::PERF_COUNT_SW_CPU_MIGRATIONS", IN_KERNEL },
	[TASK_CLOCK] = { "perf::PERF_COUNT_SW_TASK_CLOCK", KERNEL_TIME },
	[PAGE_FAULTS] = { "perf::PERF_COUNT_SW_PAGE_FAULTS", NULL },
};

const char *events_pmu(unsigned int index)
{
	for (size_t row = 0; row < ROWS; row++)
		for (int i = 0; i < MAX_PMUS && rows[row].pmus[i]; i++)
			if (!index--)
				return rows[row].pmus[i];
	return NULL;
}

static const struct row *row_of(const char *pmu)
{
	for (size_t row = 0; row < ROWS; row++)
		for (int i = 0; i < MAX_PMUS && rows[row].pmus[i]; i++)
			if (!strcmp(rows[row].pmus[i], pmu))
				return &rows[row];
	return NULL;
}

/* The core PMU that libpfm finds here; only one whose events the table has is of use. */
static const char *this_cpu(void)
{
	for (int pmu = PFM_PMU_NONE; pmu < PFM_PMU_MAX; pmu++) {
		pfm_pmu_info_t info = { .size = sizeof(info) };

		if (pfm_get_pmu_info(pmu, &info) == PFM_SUCCESS && info.is_present &&
		    info.type == PFM_PMU_TYPE_CORE && row_of(info.name))
			return info.name;
	}
	return GENERIC->pmus[0];
}

/* -1: out of memory. */
static int encode(struct event *event, const char *pmu, const char *name, bool user_only)
{
	char text[256], *full = NULL;
	pfm_perf_encode_arg_t arg = {
		.attr = &event->attr,
		.fstr = &full,
		.size = sizeof(arg),
	};
	int status;

	if (strstr(name, "::"))
		snprintf(text, sizeof(text), "%s", name);
	else
		snprintf(text, sizeof(text), "%s::%s", pmu, name);
	status = pfm_get_os_event_encoding(text, user_only ? PFM_PLM3 : PFM_PLM0 | PFM_PLM3,
					   PFM_OS_PERF_EVENT, &arg);
	free(full);
	if (status == PFM_ERR_NOMEM)
		return -1;
	if (status != PFM_SUCCESS) {
		if (asprintf(&event->refused, "libpfm cannot encode %s: %s", text,
			     pfm_strerror(status)) < 0)
			event->refused = NULL;
		event->why_not = event->refused;
		return event->refused ? 0 : -1;
	}
	event->attr.size = sizeof(event->attr);
	event->name = strdup(text);
	return event->name ? 0 : -1;
}

static int resolve(struct events *events, const char *pmu)
{
	const struct row *row = row_of(pmu);

	snprintf(events->cpu, sizeof(events->cpu), "%s", pmu);
	for (int i = 0; i < COUNTERS; i++) {
		const struct cell *cell = i < HARDWARE_COUNTERS ? &row->cells[i] : NULL;
		struct event *event = &events->of[i];

		if (cell && !cell->event)
			event->why_not = cell->why_not;
		else if (!cell && software[i].not_user && events->user_only)
			event->why_not = software[i].not_user;
		else if (encode(event, pmu, cell ? cell->event : software[i].event,
				events->user_only))
			return -1;
	}
	return 0;
}

int events_resolve(struct events *events, const char *pmu, bool user_only, char *error, size_t size)
{
	int status = pfm_initialize();

	*events = (struct events){ .user_only = user_only };
	if (status != PFM_SUCCESS) {
		snprintf(error, size, "libpfm does not start: %s", pfm_strerror(status));
		return -1;
	}
	status = resolve(events, pmu ?: this_cpu());
	pfm_terminate();
	if (status) {
		snprintf(error, size, "out of memory");
		events_free(events);
	}
	return status;
}

void events_free(struct events *events)
{
	for (int i = 0; i < COUNTERS; i++) {
		free(events->of[i].name);
		free(events->of[i].refused);
	}
}
