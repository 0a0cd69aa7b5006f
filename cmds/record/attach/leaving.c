/* Takes the probe out of a process (see attach.h). */
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>

#include "cmds/record/attach/attaching.h"
#include "cmds/record/attach/callable_thread.h"
#include "cmds/record/base/settings.h"
#include "utils/base/units.h"

static bool is_within(const struct attaching *a, uint64_t pc, const struct mapping *probe,
		      const struct mapping *linker)
{
	if (pc - probe->start < probe->end - probe->start ||
	    (linker && pc - linker->start < linker->end - linker->start))
		return true;
	for (uint64_t i = 0; i < a->nr_codes; i++) {
		if (pc - a->codes[2 * i] < a->codes[2 * i + 1] - a->codes[2 * i])
			return true;
	}
	return false;
}

/*
 * is_in_fork() reads words of 8 bytes on the thread's stack. The function looks for a word that is
 * an address within the code of fork(3).
 *
 * FORK_BYTES: the assumed size of the code of fork(3)
 * FORK_LOOK: the number of words to read. The first word is at the stack pointer
 */
#define FORK_BYTES 2048
#define FORK_LOOK  32

static bool is_in_fork(const struct attaching *a, const struct attached_thread *t)
{
	uint64_t words[FORK_LOOK];
	uint64_t sp = arch_remote_sp(&t->regs);
	size_t nr = a->libc.fork ? attached_read(&a->w, sp, words, sizeof(words)) / sizeof(*words)
				 : 0;

	for (size_t i = 0; i < nr; i++) {
		if (words[i] - a->libc.fork < FORK_BYTES)
			return true;
	}
	return false;
}

/*
 * True when the C library may be about to call a function of the probe. Such a function is a
 * destructor of thread-specific data, or a handler of forks. The probe has unregistered the
 * function. But the library may have read the function's address before the function was
 * unregistered. In this case the address is in a register.
 *
 * fork(3) is an exception. fork(3) calls futex(2) to release a lock, and then reads the address of
 * the next handler. During the call of futex(2), no register has the handler's address.
 */
static bool is_about_to_enter(const struct attaching *a, const struct attached_thread *t,
			      const struct mapping *probe)
{
	const struct mapping *code = maps_find(&a->maps, arch_remote_pc(&t->regs));
	long call = arch_remote_entered_call(&t->regs);
	uint64_t args[4];

	if (!code || !(maps_is_named(code->path, callable_thread_libc_names) ||
		       maps_is_named(code->path, callable_thread_threads_names)))
		return false;
	if (call == SYS_futex)
		return arch_remote_system_call(&t->regs, args) < 0 && is_in_fork(a, t);
	if (call >= 0)
		return false;
	for (size_t i = 0; i < t->regs.bytes / sizeof(t->regs.words[0]); i++) {
		if (t->regs.words[i] - probe->start < probe->end - probe->start)
			return true;
	}
	return false;
}

bool attaching_is_anybody_within(struct attaching *a)
{
	const struct mapping *probe = maps_code(&a->maps,
						maps_module(&a->maps, callable_thread_probe_names));
	const struct mapping *linker = maps_module(&a->maps, callable_thread_linker_names);

	linker = linker ? maps_code(&a->maps, linker) : NULL;
	for (size_t i = 0; i < a->w.nr; i++) {
		const struct attached_thread *t = a->w.threads[i];

		if (t->is_gone)
			continue;
		if (is_within(a, arch_remote_pc(&t->regs), probe, linker) ||
		    callable_thread_has_interrupted(&a->w, &a->maps, t, probe->start, probe->end) ||
		    (linker && callable_thread_has_interrupted(&a->w, &a->maps, t, linker->start,
							       linker->end)))
			return true;
		for (uint64_t k = 0; k < a->nr_codes; k++) {
			if (callable_thread_has_interrupted(&a->w, &a->maps, t, a->codes[2 * k],
							    a->codes[2 * k + 1]))
				return true;
		}
	}
	return false;
}

bool attaching_is_anybody_about_to_enter(const struct attaching *a)
{
	const struct mapping *probe = maps_code(&a->maps,
						maps_module(&a->maps, callable_thread_probe_names));

	for (size_t i = 0; i < a->w.nr; i++) {
		if (!a->w.threads[i]->is_gone && is_about_to_enter(a, a->w.threads[i], probe))
			return true;
	}
	return false;
}

#define SAME_TRIES  4
#define EMPTY_TRIES 2000
#define EMPTY_NS    (30 * NSEC_PER_SEC)

/*
 * wait_until_empty() makes several attempts. Between two attempts, the process runs for
 * EMPTY_WAIT_US, plus EMPTY_WAITS times the duration of the previous attempt. An attempt takes long
 * if it must undo many changes of the program's code.
 */
#define EMPTY_WAIT_US 2000
#define EMPTY_WAITS   4

/*
 * Wait until the program's code is restored and no thread runs code of the probe. Afterwards no
 * code calls the probe.
 *
 * If a recorder was killed while it attached, a thread may still be in the probe. This thread may
 * make new references to the probe after ATTACH_WITHDRAW. So whenever this function has waited for
 * such a thread, the function repeats ATTACH_WITHDRAW.
 */
static int wait_until_empty(struct attaching *a, struct uft_err *err)
{
	const uint64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + EMPTY_NS;
	uint64_t began_ns = 0;
	bool is_undone = true;

	for (int i = 0; i < EMPTY_TRIES && (i < SAME_TRIES || began_ns < until_ns); i++) {
		uint64_t inside = 1;
		size_t changed = 0;
		int ret = 0;

		began_ns = clock_now_ns(CLOCK_MONOTONIC);
		/*
		 * The first SAME_TRIES attempts use the thread that is already stopped, and never
		 * let this thread run. If this thread was stopped inside the probe, for example
		 * while it waited for an answer of the recorder, the thread stays there. So each
		 * later attempt lets all threads run, and then stops a thread that can call
		 * functions.
		 */
		if (i >= SAME_TRIES) {
			attached_let_go(&a->w);
			ret = callable_thread_stop(&a->w, &a->maps, &a->thread, err);
		}
		if (ret < 0)
			a->thread = NULL;
		else
			ret = attaching_stop_all(a, err);
		if (ret < 0)
			return ret;
		/* Threads that have started since the last attempt have stacks in new mappings. */
		ret = maps_read(&a->maps, a->w.pid);
		if (ret == 0)
			changed = text_take_out(&a->text, &a->w, &a->maps);
		if (ret == 0 && !attaching_is_anybody_within(a) &&
		    !attaching_is_anybody_about_to_enter(a))
			ret = attaching_leave(a, ATTACH_COUNT, &inside, err);
		if (ret < 0)
			return ret;
		attached_let_others_go(&a->w, a->thread);
		if (inside == 0 && changed == 0 && is_undone)
			return 0;
		if (inside == 0 && !is_undone)
			ret = attaching_find_codes(a, ATTACH_WITHDRAW, err);
		if (ret < 0)
			return ret;
		is_undone = inside == 0;
		attaching_wait(a, EMPTY_WAIT_US +
					  EMPTY_WAITS * (unsigned)((clock_now_ns(CLOCK_MONOTONIC) -
								    began_ns) /
								   1000));
	}
	return err_set(err, -EBUSY,
		       "a thread is within it (a handler of a signal has interrupted it and does "
		       "not end?)");
}

/*
 * Find the handle of the probe for dlclose(3). In glibc a handle is the address of a link map. If
 * the recorder was killed before the call of utrail_attach(), the probe does not know the handle.
 */
static int find_handle(struct attaching *a, uint64_t *handle, struct uft_err *err)
{
	struct {
		Dl_info info;
		uint64_t link_map;
	} found = { 0 };
	const uint64_t at = attached_args(&a->w);
	const uint64_t args[6] = { a->leave_fn, at, at + sizeof(found.info), RTLD_DL_LINKMAP };
	uint64_t is_found = 0;
	int ret = a->libc.dladdr1 ? attached_call(&a->w, a->thread, a->libc.dladdr1, args, LOAD_MS,
						  &is_found, err)
				  : 0;

	if (ret == -ETIMEDOUT)
		a->thread = NULL;
	if (ret == 0 && (int)is_found &&
	    attached_read(&a->w, at, &found, sizeof(found)) == sizeof(found))
		*handle = found.link_map;
	return ret;
}

int attaching_take_out(struct attaching *a, struct uft_err *err)
{
	uint64_t result, handle = 0;
	int ret = attaching_close_doors(a, err);

	if (ret == 0)
		ret = attaching_leave(a, ATTACH_HANDLE, &handle, err);
	if (ret == 0 && !handle)
		ret = find_handle(a, &handle, err);
	if (ret == 0)
		ret = attaching_find_codes(a, ATTACH_WITHDRAW, err);
	if (ret == 0)
		ret = attaching_read_text(a, err);
	if (ret == 0)
		ret = wait_until_empty(a, err);
	if (ret == 0 && !handle)
		ret = err_set(err, -EBUSY, "the C library does not tell its handle");
	if (ret == 0)
		ret = attaching_leave(a, ATTACH_GIVE_BACK, &result, err);
	if (ret == 0)
		ret = attaching_call(a, LOAD_MS, a->libc.dlclose, handle, 0, 0, &result, err);
	if (ret == 0)
		ret = maps_read(&a->maps, a->w.pid);
	if (ret == 0 && attaching_has_probe(a))
		ret = err_set(err, -EBUSY, "the C library has not unloaded it");
	return ret;
}

int attach_end(pid_t pid, const struct attach_how *how, struct uft_err *err)
{
	struct attaching *a cleanup_attaching = NULL;
	int ret = attaching_open(&a, pid, how, err);

	if (ret == 0) {
		ret = attaching_begin_calls(a, err);
		if (ret == 0)
			ret = attaching_take_out(a, err);
		attaching_end_calls(a);
	}
	if (ret < 0 && ret != -ESRCH)
		attaching_say_stays(pid, ret, err);
	return ret;
}
