// SPDX-License-Identifier: GPL-2.0
#include "burner.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOCAL_APIC 0xfee00000u
#define APIC_SIZE 0x1000u
#define APIC_INTERRUPT_COMMAND 0x300
#define ALL_OTHERS 0xc0000u
#define ASSERT 0x4000u
/* It begins in real mode at page * 0x1000. A CPU that runs already ignores it. */
#define START_UP(page) (0x600u | (page) >> 12)

/*
 * The page, in 16-bit code: runs of no-ops, each ended by a jump to the next, since QEMU ends
 * a block there. A turn of the burner that is not needed wastes a block, so blocks are short.
 */
#define NOP 0x90
#define RUN 16u
static const uint8_t to_next[] = { 0xeb, 0x00 }, to_begin[] = { 0xe9, 0x00, 0xf0 };

static void write_no_ops(uint8_t *page)
{
	memset(page, NOP, BURNER_SIZE);
	for (uint8_t *end = page + RUN; end < page + BURNER_SIZE; end += RUN)
		memcpy(end - sizeof(to_next), to_next, sizeof(to_next));
	memcpy(page + BURNER_SIZE - sizeof(to_begin), to_begin, sizeof(to_begin));
}

static void *map_physical(unsigned int address, size_t size)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	void *map;

	if (fd < 0)
		return MAP_FAILED;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, address);
	close(fd);
	return map;
}

const char *burner_start(void)
{
	uint8_t *page = map_physical(BURNER_PAGE, BURNER_SIZE);
	volatile uint32_t *apic = map_physical(LOCAL_APIC, APIC_SIZE);

	if (page == MAP_FAILED)
		return "/dev/mem: the burner's page";
	if (apic == MAP_FAILED)
		return "/dev/mem: the local APIC";
	write_no_ops(page);
	apic[APIC_INTERRUPT_COMMAND / sizeof(*apic)] = ALL_OTHERS | ASSERT | START_UP(BURNER_PAGE);
	return NULL;
}
