/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's types and functions that the scheduler uses, of Linux 6.12 to 7.3. libbpf finds the
 * offsets of the members when it loads the object (CO-RE), and leaves weak functions out that the
 * kernel lacks. So one object serves all of these kernels, and no kernel's vmlinux.h is needed.
 */
#ifndef SCX_KERNEL_BPF_H
#define SCX_KERNEL_BPF_H

#include "scx_fast.h"

/* The headers of libbpf use these names. */
typedef u8 __u8;
typedef u16 __u16, __be16;
typedef u32 __u32, __be32, __wsum;
typedef u64 __u64;
typedef s32 __s32;
typedef s64 __s64;

enum {
	BPF_MAP_TYPE_TASK_STORAGE = 29,
	BPF_F_NO_PREALLOC = 1,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* Each has a body: a declaration is another kind of type, and no kfunc that takes one is found. */
struct cpumask { };
struct mm_struct { };

struct sched_ext_entity {
	u32 flags;
	u32 weight;
	u64 slice;
	u64 dsq_vtime;
};

struct task_struct {
	s32 pid;
	struct sched_ext_entity scx;
	struct mm_struct *mm;
	struct task_struct *group_leader;
	const struct cpumask *cpus_ptr;
	u16 migration_disabled;
};

struct wake_q_node { };

struct wake_q_head {
	struct wake_q_node *first;
};

struct futex_q {
	struct task_struct *task;
};

/* CO-RE takes an enumeration only for an enumeration. */
enum scx_exit_kind { SCX_EXIT_NONE };

struct scx_exit_info {
	enum scx_exit_kind kind;
	s64 exit_code;
	const char *reason;
	const char *msg;
};

#pragma clang attribute pop

struct bpf_spin_lock { u32 val; };
struct bpf_iter_num { u64 opaque[1]; } __attribute__((aligned(8)));
struct bpf_iter_scx_dsq { u64 opaque[6]; } __attribute__((aligned(8)));

/* The same in all of these kernels. */
#define SCX_DSQ_LOCAL		0x8000000000000002ULL
#define SCX_TASK_QUEUED		1
#define SCX_WAKE_FORK		0x04
#define SCX_WAKE_SYNC		0x10
#define SCX_ENQ_WAKEUP		1
#define SCX_ENQ_PREEMPT		(1ULL << 32)
#define SCX_KICK_IDLE		1

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define KFUNC __ksym __weak

/* Where there are two, Linux 6.12 has the first. */
void scx_bpf_dispatch(struct task_struct *p, u64 dsq, u64 slice, u64 flags) KFUNC;
void scx_bpf_dsq_insert(struct task_struct *p, u64 dsq, u64 slice, u64 flags) KFUNC;
void scx_bpf_dispatch_vtime(struct task_struct *p, u64 dsq, u64 slice, u64 vtime, u64 flags) KFUNC;
void scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 dsq, u64 slice, u64 vtime,
			      u64 flags) KFUNC;
bool scx_bpf_consume(u64 dsq) KFUNC;
bool scx_bpf_dsq_move_to_local(u64 dsq) KFUNC;
bool scx_bpf_dispatch_from_dsq(struct bpf_iter_scx_dsq *it__iter, struct task_struct *p, u64 dsq,
			       u64 flags) KFUNC;
bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it__iter, struct task_struct *p, u64 dsq,
		      u64 flags) KFUNC;

int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 dsq, u64 flags) KFUNC;
struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) KFUNC;
void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) KFUNC;
s32 scx_bpf_create_dsq(u64 dsq, s32 node) KFUNC;
s32 scx_bpf_task_cpu(const struct task_struct *p) KFUNC;
u32 scx_bpf_reenqueue_local(void) KFUNC;
void scx_bpf_kick_cpu(s32 cpu, u64 flags) KFUNC;
u64 scx_bpf_now(void) KFUNC;
bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *mask) KFUNC;

static inline void insert(struct task_struct *p, u64 dsq, u64 slice, u64 flags)
{
	if (bpf_ksym_exists(scx_bpf_dsq_insert))
		scx_bpf_dsq_insert(p, dsq, slice, flags);
	else
		scx_bpf_dispatch(p, dsq, slice, flags);
}

static inline void insert_by_vtime(struct task_struct *p, u64 dsq, u64 slice, u64 vtime, u64 flags)
{
	if (bpf_ksym_exists(scx_bpf_dsq_insert_vtime))
		scx_bpf_dsq_insert_vtime(p, dsq, slice, vtime, flags);
	else
		scx_bpf_dispatch_vtime(p, dsq, slice, vtime, flags);
}

static inline bool take_first(u64 dsq)
{
	return bpf_ksym_exists(scx_bpf_dsq_move_to_local) ? scx_bpf_dsq_move_to_local(dsq) :
							     scx_bpf_consume(dsq);
}

static inline bool take_this(struct bpf_iter_scx_dsq *it, struct task_struct *p)
{
	return bpf_ksym_exists(scx_bpf_dsq_move) ? scx_bpf_dsq_move(it, p, SCX_DSQ_LOCAL, 0) :
						    scx_bpf_dispatch_from_dsq(it, p, SCX_DSQ_LOCAL, 0);
}

#endif
