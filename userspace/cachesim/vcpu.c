// SPDX-License-Identifier: GPL-2.0
#include "vcpu.h"

#include <pthread.h>
#include <string.h>

#include "guest_kernel.h"
#include "qemu_plugin_api.h"
#include "registers.h"

#define KERNEL_ADDRESS (1ull << 63)

/* Blocks between two checks that `env` still tells the vCPU. */
#define CHECK_INTERVAL 4096u

struct vcpu vcpu;

static uint64_t bases[CACHESIM_MAX_CPUS];	/* by CPU */
static uintptr_t envs[CACHESIM_MAX_CPUS + 1];	/* by vCPU; 0: not seen yet */
static unsigned int known;
static pthread_t thread;
static bool have_thread;

void vcpu_reset(void)
{
	memset(&vcpu, 0, sizeof(vcpu));
	memset(envs, 0, sizeof(envs));
	have_thread = false;
}

void vcpu_created(void)
{
	const char *missing;

	if (have_thread && !pthread_equal(thread, pthread_self()))
		die("vCPUs run in several threads", "start QEMU with -accel tcg,thread=single");
	thread = pthread_self();
	if (have_thread)
		return;
	missing = registers_find();
	if (missing)
		die(missing, "this QEMU does not tell this register; " USE_ANOTHER_QEMU);
	have_thread = true;
}

void vcpu_learn(void)
{
	if (!memory_read(kernel_address(PER_CPU_OFFSET), bases, sim.cpus * sizeof(bases[0])))
		die("the guest's table of per-CPU offsets cannot be read",
		    "system_map= must be of the kernel that runs");
	known = sim.cpus;
	vcpu.env = 0;
}

static unsigned int linux_cpu(void)
{
	/* The kernel's base is in use in the kernel, and set aside in a program. */
	uint64_t base = register_read(REGISTER_GS_BASE);

	if (!(base & KERNEL_ADDRESS))
		base = register_read(REGISTER_K_GS_BASE);
	for (unsigned int cpu = 0; cpu < known; cpu++)
		if (bases[cpu] == base)
			return cpu;
	die("a vCPU executes that is none of Linux's CPUs",
	    "the guest must start all its CPUs before the clock begins");
}

/* The vCPU that has shown this env before, or sim.cpus + 1. */
static unsigned int known_vcpu(uintptr_t env)
{
	unsigned int vcpus = sim.cpus + 1;

	/* Mostly the next one has its turn. */
	for (unsigned int i = 1; HOST_TELLS_ENV && i <= vcpus; i++)
		if (envs[(vcpu.number + i) % vcpus] == env)
			return (vcpu.number + i) % vcpus;
	return vcpus;
}

bool vcpu_recognise(bool burner, uintptr_t env)
{
	unsigned int number = env == vcpu.env ? sim.cpus + 1 : known_vcpu(env);
	bool another;

	if (number > sim.cpus || burner != (number == sim.cpus)) {
		number = burner ? sim.cpus : linux_cpu();
		vcpu.until_check = CHECK_INTERVAL;
		envs[number] = env;
	}
	another = number != vcpu.number;
	if (env == vcpu.env && another)
		die("QEMU switched vCPUs unseen",
		    "this QEMU's generated code is not as expected; " USE_ANOTHER_QEMU);
	vcpu.number = number;
	vcpu.env = env;
	return another;
}

const uint64_t *vcpu_bases(void)
{
	return bases;
}

bool vcpu_has_program_state(void)
{
	return !(register_read(REGISTER_GS_BASE) & KERNEL_ADDRESS);
}
