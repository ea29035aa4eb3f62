// SPDX-License-Identifier: GPL-2.0
/*
 * Threads of several processes hand locks over in every way, while all that a policy looks at
 * changes: the policy and its knobs, CPUs on and off line, affinities, classes, priorities,
 * cpusets and their partitions, features of the scheduler. For kernels that check themselves.
 *
 *	policy_stress SECONDS SEED
 *
 * Ends with one JSON object: how often each change was made and was refused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES 3
#define THREADS 5
#define LOCKS 3
/* One may become a partition; of another the cpuset changes. */
#define PARTITION 0
#define CHANGING 1
#define GROUPS 2

#define SETTINGS "/sys/kernel/debug/sched/fast/"
#define FEATURES "/sys/kernel/debug/sched/features"
#define CPU_ONLINE "/sys/devices/system/cpu/cpu%d/online"
#define CGROUPS "/cgroups"
#define STRING_(x) #x
#define STRING(x) STRING_(x)
#define GROUP(number) CGROUPS "/" STRING(number)

#ifndef PR_SET_SCHED_FAST
#define PR_SET_SCHED_FAST 0x53465354
#endif

/* Of one process or of all. The last lock inherits priorities. */
struct locks {
	struct lock {
		pthread_mutex_t mutex;
		uint64_t acquired;	/* under it */
		atomic_ulong counted;	/* by the threads, each when it ends */
	} all[LOCKS];
	pthread_cond_t changed;		/* of the first */
	sem_t tokens;
};

struct shared {
	atomic_bool stop;
	struct locks locks;
	atomic_int tids[PROCESSES * THREADS];
};

struct thread {
	struct shared *shared;
	struct locks *own;		/* its process's */
	unsigned int number, seed;
	pthread_t id;
};

static int n_cpus;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static unsigned int below(unsigned int *seed, unsigned int n)
{
	return (unsigned int)rand_r(seed) % n;
}

static struct timespec in_a_millisecond(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void compute(unsigned int turns)
{
	for (volatile unsigned int i = 0; i < turns; i++)
		;
}

/* Under the lock. */
static void section(struct locks *locks, struct lock *lock, unsigned int *seed)
{
	const struct timespec limit = in_a_millisecond();

	lock->acquired++;
	compute(below(seed, 500));
	if (lock == locks->all && !below(seed, 8))
		pthread_cond_timedwait(&locks->changed, &lock->mutex, &limit);
	else if (lock == locks->all && !below(seed, 2))
		pthread_cond_signal(&locks->changed);
	else if (lock == locks->all)
		pthread_cond_broadcast(&locks->changed);
	if (!below(seed, 64))
		usleep(100);
}

static void *nothing(void *unused)
{
	return unused;
}

static void wait_otherwise(struct locks *locks, unsigned int *seed)
{
	const struct timespec limit = in_a_millisecond();
	pthread_t thread;

	if (below(seed, 2))
		sem_timedwait(&locks->tokens, &limit);
	else
		sem_post(&locks->tokens);
	if (!below(seed, 32) && !pthread_create(&thread, NULL, nothing, NULL))
		pthread_join(thread, NULL);
}

static void acquire_one(struct locks *locks, unsigned int *seed, unsigned long *counted)
{
	/* One of them is everybody's. */
	unsigned int i = below(seed, 2) ? 0 : below(seed, LOCKS);
	struct lock *lock = &locks->all[i];

	if (pthread_mutex_lock(&lock->mutex))
		abort();
	section(locks, lock, seed);
	counted[i]++;
	if (pthread_mutex_unlock(&lock->mutex))
		abort();
	compute(below(seed, 1000));
	if (!below(seed, 4))
		wait_otherwise(locks, seed);
}

static void count(struct locks *locks, const unsigned long *counted)
{
	for (unsigned int i = 0; i < LOCKS; i++)
		atomic_fetch_add(&locks->all[i].counted, counted[i]);
}

/* None was held by two at once, and all have been held. */
static bool are_whole(struct locks *locks)
{
	bool whole = true;

	for (unsigned int i = 0; i < LOCKS; i++) {
		struct lock *lock = &locks->all[i];

		whole = whole && lock->acquired && lock->acquired == atomic_load(&lock->counted);
	}
	return whole;
}

static void *work(void *argument)
{
	struct thread *t = argument;
	struct shared *s = t->shared;
	unsigned long own[LOCKS] = { 0 }, all[LOCKS] = { 0 };

	atomic_store(&s->tids[t->number], gettid());
	while (!atomic_load_explicit(&s->stop, memory_order_relaxed)) {
		if (below(&t->seed, 4))
			acquire_one(t->own, &t->seed, own);
		else
			acquire_one(&s->locks, &t->seed, all);
	}
	count(t->own, own);
	count(&s->locks, all);
	return NULL;
}

static void init_locks(struct locks *locks, int pshared)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t cond;

	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, pshared);
	pthread_condattr_init(&cond);
	pthread_condattr_setpshared(&cond, pshared);
	for (unsigned int i = 0; i < LOCKS; i++) {
		if (i == LOCKS - 1)
			pthread_mutexattr_setprotocol(&mutex, PTHREAD_PRIO_INHERIT);
		pthread_mutex_init(&locks->all[i].mutex, &mutex);
	}
	pthread_cond_init(&locks->changed, &cond);
	sem_init(&locks->tokens, pshared == PTHREAD_PROCESS_SHARED, 0);
}

static pid_t start_process(struct shared *s, unsigned int number, unsigned int seed)
{
	static struct locks own;
	struct thread threads[THREADS];
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	init_locks(&own, PTHREAD_PROCESS_PRIVATE);
	for (unsigned int i = 0; i < THREADS; i++) {
		struct thread *t = &threads[i];

		*t = (struct thread){ s, &own, number * THREADS + i, seed + number * THREADS + i, 0 };
		if (pthread_create(&t->id, NULL, work, t))
			die("pthread_create");
	}
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i].id, NULL);
	_exit(are_whole(&own) ? 0 : 1);
}

static struct shared *make_shared(void)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED)
		die("mmap");
	init_locks(&s->locks, PTHREAD_PROCESS_SHARED);
	return s;
}

/* 0, or -1 with errno. */
static __attribute__((format(printf, 2, 3))) int put(const char *path, const char *format, ...)
{
	char text[128];
	va_list ap;
	int fd, length;
	ssize_t written;

	va_start(ap, format);
	length = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -1;
	written = write(fd, text, (size_t)length);
	close(fd);
	return written < 0 ? -1 : 0;
}

static int read_all(const char *path)
{
	char text[4096];
	int fd = open(path, O_RDONLY);
	ssize_t got;

	if (fd < 0)
		return -1;
	do
		got = read(fd, text, sizeof(text));
	while (got > 0);
	close(fd);
	return got < 0 ? -1 : 0;
}

/* A thread that changes what the policies look at. */
struct changer {
	struct shared *shared;
	pid_t pids[PROCESSES];
	unsigned int seed;
};

static int pick(struct changer *c, int n)
{
	return (int)below(&c->seed, (unsigned int)n);
}

static pid_t any_thread(struct changer *c)
{
	return atomic_load(&c->shared->tids[pick(c, PROCESSES * THREADS)]);
}

static int policy(struct changer *c)
{
	static const char *const names[] = { "off", "strict", "soft", "adaptive", "adaptive" };

	return put(SETTINGS "policy", "%s", names[pick(c, 5)]);
}

static int depth(struct changer *c)
{
	return put(SETTINGS "depth", "%d", 1 + pick(c, 64));
}

static int opt_in(struct changer *c)
{
	if (prctl(PR_SET_SCHED_FAST, pick(c, 2), 0, 0, 0))
		return -1;
	return put(SETTINGS "opt_in", "%d", !pick(c, 4));
}

/* One goes and comes. */
static int hotplug(struct changer *c)
{
	char path[64];

	snprintf(path, sizeof(path), CPU_ONLINE, n_cpus - 2);
	return put(path, "%d", pick(c, 2));
}

/*
 * Always with a CPU that neither goes nor is the partition's: Linux 6.12 itself warns where a thread
 * that has none left changes its group (cpuset_attach_task()).
 */
static int affinity(struct changer *c)
{
	int mask = pick(c, 1 << n_cpus) | 1 << pick(c, n_cpus - 2);
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = 0; cpu < n_cpus; cpu++)
		if (mask & 1 << cpu)
			CPU_SET(cpu, &set);
	return sched_setaffinity(any_thread(c), sizeof(set), &set);
}

static int class(struct changer *c)
{
	static const int classes[] = { SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_OTHER };
	struct sched_param param = { 0 };
	int one = classes[pick(c, 5)];

	if (one == SCHED_FIFO)
		param.sched_priority = 1;
	return sched_setscheduler(any_thread(c), one, &param);
}

static int priority(struct changer *c)
{
	return setpriority(PRIO_PROCESS, (id_t)any_thread(c), pick(c, 40) - 20);
}

static int feature(struct changer *c)
{
	static const char *const names[] = { "DELAY_DEQUEUE", "NEXT_BUDDY", "TTWU_QUEUE" };

	return put(FEATURES, "%s%s", pick(c, 2) ? "" : "NO_", names[pick(c, 3)]);
}

/* Without the partition's CPU: see below. */
static int cpuset(struct changer *c)
{
	return put(GROUP(CHANGING) "/cpuset.cpus", "0-%d", pick(c, n_cpus - 1));
}

/*
 * Of a CPU that stays on line and is in no other group: Linux 6.12 itself warns of partitions whose
 * CPUs go or are another's (rebuild_sched_domains_locked()).
 */
static int partition(struct changer *c)
{
	static const char *const kinds[] = { "member", "root", "isolated" };

	return put(GROUP(PARTITION) "/cpuset.cpus.partition", "%s", kinds[pick(c, 3)]);
}

static int cgroup(struct changer *c)
{
	char path[64];
	int group = pick(c, GROUPS + 1);

	if (group == GROUPS)
		snprintf(path, sizeof(path), CGROUPS "/cgroup.procs");
	else
		snprintf(path, sizeof(path), CGROUPS "/%d/cgroup.procs", group);
	return put(path, "%d", c->pids[pick(c, PROCESSES)]);
}

static int look(struct changer *c)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/sched", any_thread(c));
	return read_all(path) ?: read_all(SETTINGS "stat");
}

static struct {
	const char *name;
	int (*make)(struct changer *c);
	unsigned long made, refused;
} changes[] = {
	{ .name = "policy", .make = policy },
	{ .name = "depth", .make = depth },
	{ .name = "opt_in", .make = opt_in },
	{ .name = "hotplug", .make = hotplug },
	{ .name = "affinity", .make = affinity },
	{ .name = "class", .make = class },
	{ .name = "priority", .make = priority },
	{ .name = "feature", .make = feature },
	{ .name = "cpuset", .make = cpuset },
	{ .name = "partition", .make = partition },
	{ .name = "cgroup", .make = cgroup },
	{ .name = "look", .make = look },
};

#define N_CHANGES (sizeof(changes) / sizeof(changes[0]))

static void make_cgroups(void)
{
	if (mkdir(CGROUPS, 0755) || mount("none", CGROUPS, "cgroup2", 0, NULL) ||
	    put(CGROUPS "/cgroup.subtree_control", "+cpuset +cpu"))
		die(CGROUPS);
	for (int i = 0; i < GROUPS; i++) {
		char path[64];

		snprintf(path, sizeof(path), CGROUPS "/%d", i);
		if (mkdir(path, 0755))
			die(path);
	}
	if (put(GROUP(PARTITION) "/cpuset.cpus", "%d", n_cpus - 1))
		die(GROUP(PARTITION));
}

static void change_until(struct changer *c, time_t end)
{
	struct timespec now;

	do {
		unsigned int which = below(&c->seed, N_CHANGES);

		if (changes[which].make(c))
			changes[which].refused++;
		else
			changes[which].made++;
		usleep((useconds_t)below(&c->seed, 4000));
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end);
}

/* So that all can end. */
static void put_back(void)
{
	char path[64];

	put(GROUP(PARTITION) "/cpuset.cpus.partition", "member");
	snprintf(path, sizeof(path), CPU_ONLINE, n_cpus - 2);
	put(path, "1");
}

static bool all_ended_well(const struct changer *c)
{
	bool well = true;

	for (int i = 0; i < PROCESSES; i++) {
		int status;

		if (waitpid(c->pids[i], &status, 0) < 0)
			die("waitpid");
		well = well && WIFEXITED(status) && !WEXITSTATUS(status);
	}
	return well && are_whole(&c->shared->locks);
}

static void tell(bool well)
{
	printf("{\"check\":\"%s\"", well ? "ok" : "failed");
	for (unsigned int i = 0; i < N_CHANGES; i++)
		printf(",\"%s\":[%lu,%lu]", changes[i].name, changes[i].made, changes[i].refused);
	printf("}\n");
}

int main(int argc, char **argv)
{
	struct changer c = { .shared = make_shared() };
	struct timespec now;
	bool well;

	if (argc != 3) {
		fprintf(stderr, "usage: policy_stress SECONDS SEED\n");
		return 2;
	}
	n_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	c.seed = (unsigned int)atoi(argv[2]);
	make_cgroups();
	for (unsigned int i = 0; i < PROCESSES; i++)
		c.pids[i] = start_process(c.shared, i, c.seed);
	clock_gettime(CLOCK_MONOTONIC, &now);
	change_until(&c, now.tv_sec + atoi(argv[1]));
	put_back();
	atomic_store(&c.shared->stop, true);
	well = all_ended_well(&c);
	tell(well);
	return well ? 0 : 1;
}
