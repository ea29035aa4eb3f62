// SPDX-License-Identifier: LGPL-2.1-or-later
#include "watch/names.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "atomics.h"
#include "model.h"
#include "tunables.h"

/*
 * Symbols that are not exported: dladdr() does not know them, and most task functions are static.
 * The file has them unless it was stripped.
 */

struct elf {
	const unsigned char *bytes;
	size_t size;
};

static const void *at(const struct elf *elf, uint64_t offset, uint64_t bytes)
{
	return offset <= elf->size && bytes <= elf->size - offset ? elf->bytes + offset : NULL;
}

/* Load offset. */
static uint64_t moved_by(const struct elf *elf, const Elf64_Ehdr *header, const void *base)
{
	const Elf64_Phdr *segments = at(elf, header->e_phoff,
					(uint64_t)header->e_phnum * sizeof(*segments));

	for (unsigned int i = 0; segments && i < header->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD)
			return (uintptr_t)base - (segments[i].p_vaddr & -(uint64_t)4096);
	return (uintptr_t)base;
}

static bool find_in(const struct elf *elf, const Elf64_Shdr *table, const Elf64_Shdr *strings,
		    uint64_t address, char *name, size_t bytes)
{
	const Elf64_Sym *symbols = at(elf, table->sh_offset, table->sh_size);
	const char *text = at(elf, strings->sh_offset, strings->sh_size);

	if (!symbols || !text || !strings->sh_size || text[strings->sh_size - 1])
		return false;
	for (size_t i = 0; i < table->sh_size / sizeof(*symbols); i++) {
		const Elf64_Sym *symbol = &symbols[i];

		if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && address >= symbol->st_value &&
		    address - symbol->st_value < symbol->st_size &&
		    symbol->st_name < strings->sh_size) {
			snprintf(name, bytes, "%s", text + symbol->st_name);
			return true;
		}
	}
	return false;
}

static bool find_symbol(const struct elf *elf, const Dl_info *where, const void *function,
			char *name, size_t bytes)
{
	const Elf64_Ehdr *header = at(elf, 0, sizeof(*header));
	const Elf64_Shdr *sections;
	uint64_t address;

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	sections = at(elf, header->e_shoff, (uint64_t)header->e_shnum * sizeof(*sections));
	address = (uintptr_t)function - moved_by(elf, header, where->dli_fbase);
	for (unsigned int i = 0; sections && i < header->e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < header->e_shnum &&
		    find_in(elf, &sections[i], &sections[sections[i].sh_link], address, name,
			    bytes))
			return true;
	return false;
}

static bool look_into_file(const Dl_info *where, const void *function, char *name, size_t bytes)
{
	int file = open(where->dli_fname, O_RDONLY | O_CLOEXEC);
	struct elf elf = { NULL, 0 };
	struct stat about;
	bool found = false;
	void *mapped;

	/* The program's name may be relative to another directory. */
	if (file < 0)
		file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	if (!fstat(file, &about) && about.st_size > 0) {
		elf.size = (size_t)about.st_size;
		mapped = mmap(NULL, elf.size, PROT_READ, MAP_PRIVATE, file, 0);
		if (mapped != MAP_FAILED) {
			elf.bytes = mapped;
			found = find_symbol(&elf, where, function, name, bytes);
			munmap(mapped, elf.size);
		}
	}
	close(file);
	return found;
}

static void find_name(const void *function, char *name, size_t bytes)
{
	Dl_info where;
	const char *module;

	if (!dladdr(function, &where) || !where.dli_fname) {
		snprintf(name, bytes, "%p", function);
		return;
	}
	if (where.dli_sname && where.dli_saddr == function) {
		snprintf(name, bytes, "%s", where.dli_sname);
		return;
	}
	if (look_into_file(&where, function, name, bytes))
		return;
	module = strrchr(where.dli_fname, '/');
	snprintf(name, bytes, "%s+0x%tx", module ? module + 1 : where.dli_fname,
		 (const char *)function - (const char *)where.dli_fbase);
}

/* Names found. Slots are never cleared, so readers need no lock. */

struct named {
	const void *function;
	char name[128];
};

/* Static: there is no time to free it. An entry that loses a race stays unused. */
static struct named pool[IVL_NAMES];
static _Atomic(unsigned int) used;
static _Atomic(struct named *) table[IVL_NAMES];

static struct named *make(const void *function)
{
	unsigned int number;

	/* Checked first: the number must not wrap. */
	if (atomic_load_explicit(&used, memory_order_relaxed) >= IVL_NAMES)
		return NULL;
	number = atomic_fetch_add_explicit(&used, 1, memory_order_relaxed);
	if (number >= IVL_NAMES)
		return NULL;
	pool[number].function = function;
	find_name(function, pool[number].name, sizeof(pool[number].name));
	return &pool[number];
}

const char *ivl_function_name(const void *function)
{
	const uintptr_t hash = (uintptr_t)function / 16;

	for (unsigned int i = 0; i < IVL_NAMES; i++) {
		_Atomic(struct named *) *slot = &table[(hash + i) % IVL_NAMES];
		/* Acquire, also below: the entry. */
		struct named *there = atomic_load_explicit(slot, memory_order_acquire), *mine;

		if (!there) {
			mine = make(function);
			if (!mine)
				break;
			if (atomic_compare_exchange_strong_explicit(slot, &there, mine,
								    memory_order_acq_rel,
								    memory_order_acquire))
				return mine->name;
		}
		if (there->function == function)
			return there->name;
	}
	return "(one of many)";
}

const char *ivl_interval_name(const struct ivl_interval *interval)
{
	if (interval->name)
		return interval->name;
	return interval->body ? ivl_function_name((const void *)interval->body) : "(interval)";
}
