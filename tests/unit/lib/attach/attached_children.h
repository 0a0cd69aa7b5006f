/* Children of a test that play attached processes. */
#ifndef UTRAIL_TESTS_UNIT_WORLDS_H
#define UTRAIL_TESTS_UNIT_WORLDS_H

#include "tests/unit/lib/unit.h"

#include <link.h>

#include "cmds/record/attach/attached.h"

/* Finds the addresses of this process' C library, which are the child's, too. */
static inline int find_libc(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint64_t *range = arg;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X) &&
		    strstr(info->dlpi_name, "/libc.so")) {
			range[0] = start;
			range[1] = start + info->dlpi_phdr[i].p_memsz;
			return 1;
		}
	}
	return 0;
}

static inline void open_stopped_child(struct attached *w, pid_t pid)
{
	uint64_t range[2] = { 0 };

	assert_int_equal(attached_open(w, pid, NULL), 0);
	assert_int_equal(dl_iterate_phdr(find_libc, range), 1);
	assert_int_equal(attached_find_gadgets(w, range[0], range[1], NULL), 0);
}

static inline struct attached_thread *main_thread(struct attached *w)
{
	for (size_t i = 0; i < w->nr; i++) {
		if (w->threads[i]->tid == w->pid)
			return w->threads[i];
	}
	return NULL;
}

#endif
