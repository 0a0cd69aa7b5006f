/* dlopen(3), interposed: the recorder must know of modules that come late. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include "libmcount/interpose.h"
#include "libmcount/modules.h"
#include "libmcount/probe.h"

EXPORTED void *dlopen(const char *file, int mode);

struct segment {
	uint64_t address;
	const void *end;
};

static int find_segment(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct segment *s = arg;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type != PT_LOAD || (ph->p_flags & (PF_X | PF_R)) != (PF_X | PF_R))
			continue;
		if (s->address >= start && s->address < start + ph->p_memsz) {
			s->end = (const void *)(start + ph->p_memsz);
			return 1;
		}
	}
	return 0;
}

/*
 * dlopen() takes the module of its caller for $ORIGIN, RUNPATH and the name space, and knows it by the return address.
 * Calling it from here would load other libraries than the program asked for.
 */
static void *real_dlopen(void *fn, const char *file, int mode, const void *caller)
{
	struct segment s = { .address = (uint64_t)caller };
	const void *through = NULL;

	if (dl_iterate_phdr(find_segment, &s))
		through = arch_find_return(caller, s.end);
	if (through)
		return arch_call_returning_through(fn, file, mode, through);
	return ((void *(*)(const char *, int))fn)(file, mode);
}

void *dlopen(const char *file, int mode)
{
	static void *next;
	void *fn = interposed(&next, "dlopen");
	uint64_t begin_ns = probe.ready ? clock_kernel_ns() : 0;

	if (!fn)
		return NULL; /* with dlerror() set by dlsym() */

	void *handle = real_dlopen(fn, file, mode, __builtin_return_address(0));

	if (handle && probe.ready)
		modules_after_dlopen(begin_ns);
	return handle;
}
