/*
 * dlopen(3) and dlsym(3) act for the module of their caller ($ORIGIN, RUNPATH, RTLD_NEXT). These
 * functions find the module by their return address. With a return address in the probe, their
 * results would differ. So dlopen(3) and dlsym(3) return to a return instruction in the caller's
 * module, and that instruction returns to the probe.
 */
#include "libmcount/program/caller.h"

#include <link.h>
#include <unistd.h>

#include "libmcount/hot/frames.h"
#include "libmcount/system/undo.h"

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

void *caller_pretend(void *fn, const void *a, uint64_t b, const void *caller, uint64_t lazy)
{
	struct segment s = { .address = (uint64_t)caller };
	const void *through = NULL;

	if (dl_iterate_phdr(find_segment, &s))
		through = arch_find_return(caller, s.end);
	/*
	 * If the caller's module has no return instruction, @fn returns through a return
	 * instruction of the probe.
	 */
	if (!through)
		through = arch_find_return(arch_return_trampoline, (const void *)UINT64_MAX);
	return arch_call_returning_through(fn, a, b, through, lazy);
}

/* Returns the program's own return address for the call with return slot @slot. */
static uint64_t true_return(uint64_t slot)
{
	const struct thread *t = self;
	uint64_t ret = *(const uint64_t *)slot;

	if (ret != (uint64_t)arch_return_trampoline)
		return ret;
	if (t && t->top->slot == slot && t->top->ret != ret && !frame_is_kept(t->top))
		return t->top->ret;
	return frames_find_return(slot);
}

void *caller_call(const void *a, uint64_t b, struct call_site *site, uint64_t lazy)
{
	uint64_t slot = (uint64_t)__builtin_frame_address(0) + sizeof(uint64_t);
	void *fn = (void *)__atomic_load_n(&site->target, __ATOMIC_RELAXED);

	undo_enter();

	void *result = caller_pretend(fn, a, b, (const void *)true_return(slot), lazy);

	undo_exit();
	return result;
}
