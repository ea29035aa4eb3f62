// SPDX-License-Identifier: GPL-2.0
#include "scheduler.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The compiled scx_fast.bpf.c. */
static const unsigned char bpf_object[] __attribute__((aligned(8))) = {
#include "scx_fast.bpf.h"
};

/* CPUs in a list of /sys that is of this one: `*first` is the first, `*second` the next, if any. */
static bool read_list(u32 *first, u32 *second, const char *sys, u32 cpu, const char *list)
{
	char path[512];
	FILE *file;
	int n;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%u/%s", sys, cpu, list);
	file = fopen(path, "re");
	if (!file)
		return false;
	n = fscanf(file, "%u%*c%u", first, second);
	fclose(file);
	return n >= 1;
}

/* The lowest CPU of those that share the CPU's last level cache; 0 where no cache is told. */
static u32 cache_of(const char *sys, u32 cpu)
{
	u32 first = 0, second;
	char list[64];

	/* The last is the one of the highest level. */
	for (int i = 0; i < 8; i++) {
		snprintf(list, sizeof(list), "cache/index%d/shared_cpu_list", i);
		if (!read_list(&first, &second, sys, cpu, list))
			break;
	}
	return first;
}

/* Another CPU of the core, or the CPU itself. */
static u32 sibling_of(const char *sys, u32 cpu)
{
	u32 first = cpu, second = cpu;

	read_list(&first, &second, sys, cpu, "topology/thread_siblings_list");
	return (first == cpu ? second : first) % MAX_CPUS;
}

void settings_of_machine(struct settings *settings, const char *sys)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	u32 cache[MAX_CPUS], n = 0;
	int scale = 1;

	settings->nr_cpus = cpus < MAX_CPUS ? (s32)cpus : MAX_CPUS;
	for (u32 cpu = 0; cpu < (u32)settings->nr_cpus; cpu++) {
		cache[cpu] = cache_of(sys, cpu);
		settings->sibling[cpu] = sibling_of(sys, cpu);
	}
	for (u32 of = 0; of < (u32)settings->nr_cpus; of++) {
		const u32 first = n;

		for (u32 cpu = 0; cpu < (u32)settings->nr_cpus; cpu++)
			if (cache[cpu] == of)
				settings->cpus[n++] = cpu;
		for (u32 i = first; i < n; i++) {
			settings->llc_first[settings->cpus[i]] = first;
			settings->llc_end[settings->cpus[i]] = n;
		}
	}
	/* kernel/sched/fair.c, sysctl_sched_base_slice and get_update_sysctl_factor(). */
	for (long n_cpus = cpus < 8 ? cpus : 8; n_cpus > 1; n_cpus /= 2)
		scale++;
	settings->slice_ns = 700000ULL * (unsigned int)scale;
}

static int attach(struct bpf_object *object)
{
	struct bpf_program *program;
	struct bpf_map *map;

	bpf_object__for_each_program(program, object)
		if (bpf_program__type(program) == BPF_PROG_TYPE_TRACING &&
		    bpf_program__autoload(program) && !bpf_program__attach(program))
			return errno;
	bpf_object__for_each_map(map, object)
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS &&
		    !bpf_map__attach_struct_ops(map))
			return errno;
	return 0;
}

/* The kernel's value of an `enum scx_ops_flags`, 0 where it has none of this name. */
static u64 flag(const struct btf *kernel, const char *name)
{
	const struct btf_type *t;
	int id = btf__find_by_name_kind(kernel, "scx_ops_flags", BTF_KIND_ENUM64);

	if (id < 0)
		id = btf__find_by_name_kind(kernel, "scx_ops_flags", BTF_KIND_ENUM);
	t = btf__type_by_id(kernel, id > 0 ? (u32)id : 0);
	for (int i = 0; t && i < btf_vlen(t); i++) {
		const bool wide = btf_is_enum64(t);
		u32 at = wide ? btf_enum64(t)[i].name_off : btf_enum(t)[i].name_off;

		if (!strcmp(btf__name_by_offset(kernel, at), name))
			return wide ? btf_enum64_value(&btf_enum64(t)[i]) :
				      (u64)btf_enum(t)[i].val;
	}
	return 0;
}

static void set_hook(struct bpf_object *object, const char *name, bool needed)
{
	bpf_program__set_autoload(bpf_object__find_program_by_name(object, name), needed);
}

int scheduler_load(struct scheduler *scheduler, enum mode mode, bool everything)
{
	struct bpf_object *object = bpf_object__open_mem(bpf_object, sizeof(bpf_object), NULL);
	struct btf *kernel = btf__load_vmlinux_btf();
	struct settings *settings;
	struct sched_ext_ops *ops;
	struct bpf_map *map;
	void *shared;
	size_t size;
	int error;

	if (!object)
		return errno;
	settings = bpf_map__initial_value(bpf_object__find_map_by_name(object, ".rodata.settings"),
					  &size);
	settings_of_machine(settings, "/sys");
	settings->mode = mode;
	/*
	 * A wake-up is left to the CPU that it is for, as the kernel's own scheduler does where
	 * CPUs share no cache: the waker is quicker. But ops.select_cpu() is not asked then about
	 * a waiter that is still going to sleep, so it could not be placed.
	 */
	ops = bpf_map__initial_value(bpf_object__find_map_by_name(object, "fast_ops"), &size);
	ops->flags = (mode == MODE_OFF ? flag(kernel, "SCX_OPS_ALLOW_QUEUED_WAKEUP") : 0) |
		     (everything ? 0 : flag(kernel, "SCX_OPS_SWITCH_PARTIAL"));
	/* A hook is a detour: a mode has those that it needs. */
	set_hook(object, "marked", mode != MODE_OFF);
	set_hook(object, "woken", mode != MODE_OFF);
	btf__free(kernel);
	error = -bpf_object__load(object);
	/* libbpf maps it from version 1.5 on, and for skeletons only before. */
	map = bpf_object__find_map_by_name(object, ".bss.shared");
	shared = error ? MAP_FAILED : mmap(NULL, sizeof(struct shared), PROT_READ, MAP_SHARED,
					   bpf_map__fd(map), 0);
	if (!error && shared == MAP_FAILED)
		error = errno;
	if (!error)
		error = attach(object);
	if (error) {
		bpf_object__close(object);
		return error;
	}
	*scheduler = (struct scheduler){ object, shared };
	return 0;
}

void scheduler_unload(struct scheduler *scheduler)
{
	munmap((void *)scheduler->shared, sizeof(struct shared));
	bpf_object__close(scheduler->object);
}
