// SPDX-License-Identifier: LGPL-2.1-or-later
#include "other_libraries.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "gomp.h"

/* Defined by GCC's, LLVM's and Intel's library. */
#define NAME "GOMP_parallel"

static atomic_bool used, told;

/* glibc has relocated some addresses of the dynamic section. */
static const void *there(const struct dl_phdr_info *info, ElfW(Addr) address)
{
	return (const void *)(address < info->dlpi_addr ? info->dlpi_addr + address : address);
}

/* NULL: no such entry. */
static const void *entry(const struct dl_phdr_info *info, ElfW(Sxword) tag)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const ElfW(Dyn) *dynamic = (const void *)(info->dlpi_addr + header->p_vaddr);

		for (; header->p_type == PT_DYNAMIC && dynamic->d_tag != DT_NULL; dynamic++)
			if (dynamic->d_tag == tag)
				return there(info, dynamic->d_un.d_ptr);
	}
	return NULL;
}

/* The hash of DT_GNU_HASH. */
static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

/* Not dlsym(), which would wait for a thread that loads a library and may wait for this one. */
static bool defines(const struct dl_phdr_info *info, const char *name)
{
	const ElfW(Sym) *symbols = entry(info, DT_SYMTAB);
	const char *strings = entry(info, DT_STRTAB);
	const uint32_t *table = entry(info, DT_GNU_HASH);
	const uint32_t hash = hash_of(name);
	const uint32_t *buckets, *chain;
	uint32_t i;

	if (!symbols || !strings || !table || !table[0])
		return false;
	/* Header: number of buckets, first symbol, words of the filter; then the filter. */
	buckets = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof(*table));
	chain = buckets + table[0];
	i = buckets[hash % table[0]];
	for (; i >= table[1]; i++) {
		const uint32_t here = chain[i - table[1]];

		if ((here | 1) == (hash | 1) && symbols[i].st_shndx != SHN_UNDEF &&
		    !strcmp(strings + symbols[i].st_name, name))
			return true;
		if (here & 1)
			break;
	}
	return false;
}

static bool is_ours(const struct dl_phdr_info *info)
{
	const ElfW(Addr) address = (ElfW(Addr))&told;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const ElfW(Addr) begin = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_LOAD && address >= begin &&
		    address - begin < header->p_memsz)
			return true;
	}
	return false;
}

static int find(struct dl_phdr_info *info, size_t bytes, void *path)
{
	(void)bytes;
	if (!*info->dlpi_name || is_ours(info) || !defines(info, NAME))
		return 0;
	snprintf(path, PATH_MAX, "%s", info->dlpi_name);
	return 1;
}

void gomp_warn_of_other_libraries(void)
{
	char path[PATH_MAX];

	atomic_store_explicit(&used, true, memory_order_relaxed);
	if (!dl_iterate_phdr(find, path) || atomic_exchange(&told, true))
		return;
	fprintf(stderr,
		"libintervals-gomp: a second OpenMP library is in this process: %s. It has its "
		"own threads and locks; code linked with it may be run partly by each, with wrong "
		"results. Run the program without libintervals-gomp (LD_PRELOAD), "
		"or with packages that use the system's libgomp, as Debian's do and wheels do "
		"not.\n", path);
}

__attribute__((destructor)) static void tell_at_end(void)
{
	if (atomic_load_explicit(&used, memory_order_relaxed))
		gomp_warn_of_other_libraries();
}
