/* Finds a thread that can be made to call functions (see callable_thread.h). */
#include "cmds/record/attach/callable_thread.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmds/record/base/numbers.h"
#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"

const char *const callable_thread_libc_names[] = { "libc.so.", "libc-2.", NULL };
/* Before glibc 2.34, the code that waits for the dynamic linker's locks is in libpthread. */
const char *const callable_thread_threads_names[] = { "libpthread.so.", "libpthread-2.", NULL };
const char *const callable_thread_linker_names[] = { "ld-linux", "ld-2.", NULL };

/* The kernel shows the name of a memfd after the prefix "/memfd:". */
const char *const callable_thread_probe_names[] = { CALLABLE_THREAD_PROBE,
						    "memfd:" CALLABLE_THREAD_PROBE, NULL };

/*
 * The maximum number of looks at the threads of a process. After each look, the recorder waits for
 * LOOK_WAIT_US microseconds.
 */
#define LOOKS	     600
#define LOOK_WAIT_US 5000

/*
 * False when the system call is a FUTEX_WAIT without a timeout, with which threads wait for a lock
 * of the allocator or of the dynamic linker. True for any other system call.
 */
static bool waits_for_events(long nr, const uint64_t args[4])
{
	return nr != SYS_futex || (args[1] & FUTEX_CMD_MASK) != FUTEX_WAIT || args[3];
}

#define STACK_LOOK (256UL << 10)

bool callable_thread_has_interrupted(const struct attached *w, const struct maps *maps,
				     const struct attached_thread *t, uint64_t start, uint64_t end)
{
	uint64_t sp = arch_remote_sp(&t->regs) & ~(uint64_t)7;
	const struct mapping *stack = maps_find(maps, sp);
	size_t room = stack ? MIN(stack->end - sp, STACK_LOOK) : 0;
	uint64_t *words cleanup_free = malloc(room + sizeof(uint64_t));
	size_t nr = words ? attached_read(w, sp, words, room) / sizeof(*words) : 0;

	for (size_t i = 0; i + 1 < nr; i++) {
		if (words[i] != w->return_gadget)
			continue;

		uint64_t pc = arch_remote_sigframe_pc(words + i + 1, nr - i - 1);

		if (pc && pc - start < end - start)
			return true;
	}
	return false;
}

/*
 * The maximum size of the code of syscall(3), in bytes. The code is short: the function moves the
 * arguments, and makes the system call.
 */
#define SYSCALL_BYTES 64

/*
 * Facts about a process for is_past_locks(). A thread that waits by FUTEX_WAIT without a timeout
 * may wait for a lock that dlopen(3) needs.
 *
 * @has_one_allocator: the process has no allocator except the allocator of the C library
 * @syscall: the address of syscall(3). A thread that waits in syscall(3) does not wait for such a
 *           lock: the allocator of the C library and the dynamic linker do not call syscall(3)
 */
struct locks {
	bool has_one_allocator;
	uint64_t syscall;
};

/*
 * Call this function while no thread is stopped: in a process with hundreds of modules,
 * find_locks() takes milliseconds.
 */
static struct locks find_locks(const struct attached *w, const struct maps *maps)
{
	const struct mapping *libc = maps_module(maps, callable_thread_libc_names);
	struct locks locks = { .has_one_allocator = libc };

	for (size_t i = 0; i < maps->nr && locks.has_one_allocator; i++) {
		const struct mapping *m = &maps->lines[i];

		if (m->path[0] != '/' || (i && strcmp(m[-1].path, m->path) == 0) ||
		    maps_is_named(m->path, callable_thread_libc_names) ||
		    maps_is_named(m->path, callable_thread_linker_names))
			continue;
		locks.has_one_allocator = !maps_symbol(w, m->start, "malloc");
	}
	if (locks.has_one_allocator)
		locks.syscall = maps_symbol(w, libc->start, "syscall");
	return locks;
}

/*
 * True when the waiting thread certainly does not wait for a lock of the allocator or of the
 * dynamic linker. A thread that waits for such a lock is in the C library (but not in syscall(3)),
 * in libpthread or in the dynamic linker. is_quiet() has already excluded the dynamic linker.
 */
static bool is_past_locks(const struct locks *locks, const struct mapping *code, uint64_t pc)
{
	if (!locks->has_one_allocator || maps_is_named(code->path, callable_thread_threads_names))
		return false;
	return !maps_is_named(code->path, callable_thread_libc_names) ||
	       (locks->syscall && pc - locks->syscall < SYSCALL_BYTES);
}

/*
 * True when the thread may be in a signal handler. The signal mask of the thread does not show
 * this, because a handler with SA_NODEFER and an empty mask blocks no signal. The list of installed
 * handlers does not show this either, because a handler with SA_RESETHAND leaves the list when the
 * handler starts.
 *
 * After a handler has ended, the bytes of its frame remain on the stack until the program
 * overwrites them, and the result may still be true. If the bytes lie in an unused variable of a
 * function, the result stays true until the thread leaves the function.
 */
static bool is_in_handler(const struct attached *w, const struct maps *maps,
			  const struct attached_thread *t)
{
	return callable_thread_has_interrupted(w, maps, t, 0, UINT64_MAX);
}

/*
 * True when the recorder can interrupt the thread's present code by a call of a function. If a
 * signal handler has interrupted other code, this function examines only the handler. So callers
 * must also check is_in_handler().
 */
static bool is_quiet(const struct attached *w, const struct maps *maps, const struct locks *locks,
		     const struct attached_thread *t)
{
	const struct mapping *code = maps_find(maps, arch_remote_pc(&t->regs));
	uint64_t args[4];
	long nr = arch_remote_system_call(&t->regs, args);

	if (!code || code->path[0] != '/' ||
	    maps_is_named(code->path, callable_thread_linker_names) ||
	    maps_is_named(code->path, callable_thread_probe_names))
		return false;
	if (nr >= 0)
		return waits_for_events(nr, args) ||
		       is_past_locks(locks, code, arch_remote_pc(&t->regs));
	if (maps_is_named(code->path, callable_thread_libc_names))
		return false;

	/* maps_symbol() needs the start of the module's first mapping. */
	const struct mapping *first = code;

	while (first > maps->lines && strcmp(first[-1].path, code->path) == 0)
		first--;
	return !maps_symbol(w, first->start, "malloc");
}

/*
 * A look is a call of look_for_quiet(), which searches for a thread that can call functions for the
 * recorder. In the first LOOKS_AT_FIRST looks, only the first thread of the process is examined. In
 * later looks, all threads are examined. The first thread is preferred because it already has an
 * arena of the allocator. In another thread, a call might make a new arena, and the new arena would
 * stay in the process.
 */
#define LOOKS_AT_FIRST 40

/*
 * find_locks() searches the modules only after this number of looks. In most processes, an earlier
 * look finds a thread, and the search is not needed.
 */
#define LOOKS_WITHOUT_LOCKS 4

/*
 * Looks once at each thread of the process if @at_all is true, else only at the first thread.
 * Returns 1 when one of these threads can call functions for the recorder; *@thread is this thread,
 * which stays stopped. Returns 0 when none of these threads can, or a negative errno.
 */
static int look_for_quiet(struct attached *w, const struct maps *maps, const struct locks *locks,
			  bool at_all, struct attached_thread **thread)
{
	DIR *list cleanup_dir = numbers_list(w->pid);

	if (!list)
		return -ESRCH;
	for (pid_t tid; (tid = numbers_next(list));) {
		struct uft_err unused = { 0 };
		int ret = at_all || tid == w->pid ? attached_stop_thread(w, tid, thread, &unused)
						  : -ESRCH;

		if (ret < 0)
			*thread = NULL;
		if (ret == -EPERM)
			return ret;
		if (ret < 0)
			continue;
		/* is_in_handler() is called last, because this function reads much of the stack. */
		if (is_quiet(w, maps, locks, *thread) && !is_in_handler(w, maps, *thread))
			return 1;
		attached_let_go(w);
		*thread = NULL;
	}
	return 0;
}

int callable_thread_stop(struct attached *w, const struct maps *maps,
			 struct attached_thread **thread, struct uft_err *err)
{
	struct locks locks = { 0 };

	*thread = NULL;
	for (int i = 0; i < LOOKS; i++) {
		if (i == LOOKS_WITHOUT_LOCKS)
			locks = find_locks(w, maps);

		int ret = look_for_quiet(w, maps, &locks, i >= LOOKS_AT_FIRST, thread);

		if (ret == 1)
			return 0;
		if (ret < 0)
			return err_set_errno(err, ret, "cannot stop process %d", w->pid);
		usleep(LOOK_WAIT_US);
		if (w->wait)
			w->wait(w->wait_arg);
	}
	return err_set(err, -EBUSY,
		       "no thread of process %d was ever seen where it can be made to call a "
		       "function (they wait for a lock, are in handlers of signals, or in the C "
		       "library itself)",
		       w->pid);
}
