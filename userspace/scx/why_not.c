// SPDX-License-Identifier: GPL-2.0
#include "why_not.h"

#include <bpf/btf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool points_to(const struct btf *btf, unsigned int type, const char *name)
{
	const struct btf_type *t = btf__type_by_id(btf, type);

	if (!t || !btf_is_ptr(t))
		return false;
	t = btf__type_by_id(btf, t->type);
	return t && btf_is_struct(t) && !strcmp(btf__name_by_offset(btf, t->name_off), name);
}

/* The hook reads its second argument as a struct futex_q. */
static const char *look_at_hook(const struct btf *btf)
{
	const struct btf_type *t;
	const struct btf_param *parameters;
	int id = btf__find_by_name_kind(btf, "futex_wake_mark", BTF_KIND_FUNC);

	if (id < 0)
		return "the kernel's futexes have no futex_wake_mark(), at which hand-offs are seen: "
		       "it is no Linux of 6.12 to 7.3, or its compiler has inlined it";
	t = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
	parameters = btf_params(t);
	if (btf_vlen(t) != 2 || !points_to(btf, parameters[0].type, "wake_q_head") ||
	    !points_to(btf, parameters[1].type, "futex_q"))
		return "the kernel's futex_wake_mark() has other arguments than a wake_q_head and a "
		       "futex_q: this scx_fast is too old for it";
	return NULL;
}

const char *why_not(const char *sys)
{
	char path[512], state[16] = "";
	const char *reason;
	struct btf *btf;
	FILE *file;

	snprintf(path, sizeof(path), "%s/kernel/sched_ext/state", sys);
	file = fopen(path, "re");
	if (!file)
		return "this kernel has no sched_ext (CONFIG_SCHED_CLASS_EXT): Linux 6.12 or newer can "
		       "have it, Debian's of trixie-backports do";
	if (!fgets(state, sizeof(state), file))
		*state = '\0';
	fclose(file);
	if (strcmp(state, "disabled\n") != 0)
		return "another sched_ext scheduler is loaded (/sys/kernel/sched_ext/root/ops): end it "
		       "first";
	snprintf(path, sizeof(path), "%s/kernel/btf/vmlinux", sys);
	btf = btf__parse_raw(path);
	if (!btf)
		return "this kernel does not tell its types (CONFIG_DEBUG_INFO_BTF)";
	reason = look_at_hook(btf);
	btf__free(btf);
	if (!reason && geteuid() != 0)
		reason = "it takes root to load a scheduler";
	return reason;
}

#define LOOK_US 200000

/* The CPUs' idle time, and all of it. A text of another form has none. */
static bool cpu_time(const char *stat, uint64_t *idle, uint64_t *all)
{
	uint64_t user, nice, system, waiting;

	if (sscanf(stat, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &user, &nice,
		   &system, idle, &waiting) != 5)
		return false;
	*idle += waiting;
	*all = user + nice + system + *idle;
	return true;
}

bool are_busy(const char *before, const char *after)
{
	uint64_t idle[2], all[2];

	return cpu_time(before, &idle[0], &all[0]) && cpu_time(after, &idle[1], &all[1]) &&
	       (all[1] - all[0]) * 3 > (idle[1] - idle[0]) * 4;
}

static void read_stat(const char *proc, char text[256])
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/stat", proc);
	file = fopen(path, "re");
	if (!file || !fgets(text, 256, file))
		*text = '\0';
	if (file)
		fclose(file);
}

const char *why_not_beside(const char *proc)
{
	char before[256], after[256];

	read_stat(proc, before);
	usleep(LOOK_US);
	read_stat(proc, after);
	return are_busy(before, after) ?
	       "the CPUs are busy with other programs, which would come first: --all schedules them, "
	       "too" : NULL;
}
