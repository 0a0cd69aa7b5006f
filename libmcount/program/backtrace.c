/*
 * backtrace(3) and _Unwind_Backtrace(), interposed so that their results contain no functions of
 * the probe.
 */
#include <errno.h>
#include <execinfo.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unwind.h>

#include "libmcount/program/backtrace.h"
#include "libmcount/program/interpose.h"
#include "libmcount/hot/probe.h"

/*
 * Unwinders walk correctly through replaced return slots (arch/x86_64/stubs.S), but find two frames
 * of the return trampoline for each slot. These frames are removed, and so are the frames of the
 * functions in this file.
 *
 * A signal handler may call backtrace() or _Unwind_Backtrace(). So the probe's versions allocate
 * only by mmap(2). The only lock that these versions take is the dynamic linker's lock, at the
 * first call of _Unwind_Backtrace().
 */
EXPORTED int backtrace(void **addresses, int size);
EXPORTED _Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn visit, void *arg);

typedef int backtrace_fn(void **addresses, int size);
typedef _Unwind_Reason_Code walk_fn(_Unwind_Trace_Fn visit, void *arg);
typedef _Unwind_Ptr get_ip_fn(struct _Unwind_Context *context);

/*
 * The largest number of frames that a walk over @size frames of the program meets. Two frames of
 * the trampoline may follow each frame, and a few frames belong to the probe.
 */
#define FRAMES_MET(size) ((size_t)(size)*3 + 8)

static void *next_backtrace;

void backtrace_setup(void)
{
	interposed(&next_backtrace, "backtrace");
}

/*
 * Copies at most @size addresses from @from to @to. Leaves out the addresses in the probe. Returns
 * the number of copied addresses. @from may be @to.
 */
static int leave_out_ours(void **to, int size, void **from, int nr)
{
	int kept = 0;

	for (int i = 0; i < nr && kept < size; i++) {
		if (!interpose_is_own((uint64_t)from[i]))
			to[kept++] = from[i];
	}
	return kept;
}

int backtrace(void **addresses, int size)
{
	backtrace_fn *next = interposed(&next_backtrace, "backtrace");
	int nr = next ? next(addresses, size) : 0;
	int kept = leave_out_ours(addresses, size, addresses, nr);

	if (kept == nr || nr < size || size > INT32_MAX / 4)
		return kept;

	/*
	 * Frames of the probe may have taken the space of other frames. Walk again with more space.
	 */
	size_t bytes = FRAMES_MET(size) * sizeof(*addresses);
	int saved_errno = errno;
	void **room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved_errno;
	if (room == MAP_FAILED)
		return kept;
	kept = leave_out_ours(addresses, size, room, next(room, (int)FRAMES_MET(size)));
	munmap(room, bytes);
	return kept;
}

struct visitor {
	_Unwind_Trace_Fn visit;
	void *arg;
	get_ip_fn *get_ip;
};

static _Unwind_Reason_Code visit_unless_ours(struct _Unwind_Context *context, void *arg)
{
	const struct visitor *v = arg;

	return interpose_is_own(v->get_ip(context)) ? _URC_NO_REASON : v->visit(context, v->arg);
}

/*
 * Finds the unwinder's function @name that the program would call without the probe. If libgcc was
 * loaded only for a library that the program has opened by dlopen(3), the usual search does not
 * find the function. In this case the function is searched in libgcc itself.
 */
static void *find_in_unwinder(void **cache, const char *name)
{
	void *fn = interposed(cache, name);
	void *libgcc = fn ? NULL : dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (libgcc) {
		fn = dlsym(libgcc, name);
		__atomic_store_n(cache, fn, __ATOMIC_RELAXED);
	}
	return fn;
}

_Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn visit, void *arg)
{
	static void *next_walk, *next_get_ip;
	walk_fn *walk = find_in_unwinder(&next_walk, "_Unwind_Backtrace");
	struct visitor visitor = {
		.visit = visit,
		.arg = arg,
		.get_ip = find_in_unwinder(&next_get_ip, "_Unwind_GetIP"),
	};

	if (!walk)
		return _URC_END_OF_STACK;
	return visitor.get_ip ? walk(visit_unless_ours, &visitor) : walk(visit, arg);
}
