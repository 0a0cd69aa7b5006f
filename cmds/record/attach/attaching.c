/* Shared code for attaching to a process and for leaving it (see attaching.h). */
#include "cmds/record/attach/attaching.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmds/record/attach/callable_thread.h"
#include "cmds/record/attach/target.h"
#include "utils/base/compiler.h"

static void done(struct attaching *a)
{
	maps_deinit(&a->maps);
	text_deinit(&a->text);
	attached_close(&a->w);
	free(a);
}

void attaching_done(struct attaching **a)
{
	if (*a)
		done(*a);
}

struct attaching *attaching_make(pid_t pid, const struct attach_how *how, struct uft_err *err)
{
	struct attaching *a = calloc(1, sizeof(*a));
	struct uft_err why = { 0 };

	if (!a) {
		err_set_errno(err, -ENOMEM, "cannot attach to process %d", pid);
		return NULL;
	}

	int ret = attached_open(&a->w, pid, &why);

	if (ret < 0) {
		target_explain(pid, ret, err);
		done(a);
		return NULL;
	}
	a->w.wait = how->wait;
	a->w.wait_arg = how->wait_arg;
	return a;
}

int attaching_find_libc(struct attaching *a, struct uft_err *err)
{
	static const char *const musl[] = { "ld-musl", NULL };
	static const char *const libdl[] = { "libdl.so.", "libdl-2.", NULL };
	int ret = maps_read(&a->maps, a->w.pid);

	if (ret < 0)
		return target_explain(a->w.pid, ret, err);

	/* A process without mappings is ending, and has already released its memory. */
	if (!a->maps.nr)
		return target_explain(a->w.pid, -ESRCH, err);

	const struct mapping *libc = maps_module(&a->maps, callable_thread_libc_names);
	const struct mapping *dl = maps_module(&a->maps, libdl);
	const struct mapping *code = libc ? maps_code(&a->maps, libc) : NULL;

	if (!code || maps_module(&a->maps, musl))
		return err_set(err, -ENOEXEC,
			       "cannot attach to process %d: its C library is not glibc (musl?), "
			       "which the probe needs",
			       a->w.pid);
	a->libc.dlopen = maps_symbol(&a->w, libc->start, "dlopen");
	a->libc.dlclose = maps_symbol(&a->w, libc->start, "dlclose");
	a->libc.dlerror = maps_symbol(&a->w, libc->start, "dlerror");
	a->libc.dladdr1 = maps_symbol(&a->w, libc->start, "dladdr1");
	a->libc.syscall = maps_symbol(&a->w, libc->start, "syscall");
	a->libc.fork = maps_symbol(&a->w, libc->start, "fork");
	if (dl && !a->libc.dlopen) {
		a->libc.dlopen = maps_symbol(&a->w, dl->start, "dlopen");
		a->libc.dlclose = maps_symbol(&a->w, dl->start, "dlclose");
		a->libc.dlerror = maps_symbol(&a->w, dl->start, "dlerror");
		a->libc.dladdr1 = maps_symbol(&a->w, dl->start, "dladdr1");
	}
	if (!a->libc.dlopen || !a->libc.dlclose || !a->libc.dlerror || !a->libc.syscall)
		return err_set(err, -ENOEXEC,
			       "cannot attach to process %d: its C library has no dlopen()",
			       a->w.pid);
	return attached_find_gadgets(&a->w, code->start, code->end, err);
}

/*
 * True when the open file /proc/PID/mem shows the memory of an earlier program, which execve(2) has
 * replaced.
 */
static bool is_former_memory(const struct attaching *a)
{
	uint8_t byte;

	for (size_t i = 0; i < a->maps.nr; i++) {
		if (attached_read(&a->w, a->maps.lines[i].start, &byte, 1) == 1)
			return false;
	}
	return a->maps.nr;
}

bool attaching_is_starting(struct attaching *a)
{
	if (maps_read(&a->maps, a->w.pid) < 0)
		return false;
	return is_former_memory(a) || (maps_module(&a->maps, callable_thread_linker_names) &&
				       !maps_module(&a->maps, callable_thread_libc_names));
}

bool attaching_find_probe(struct attaching *a)
{
	a->attach_fn = a->leave_fn = 0;
	if (maps_read(&a->maps, a->w.pid) < 0)
		return false;

	const struct mapping *probe = maps_module(&a->maps, callable_thread_probe_names);

	a->attach_fn = probe ? maps_symbol(&a->w, probe->start, ATTACH_FUNCTION) : 0;
	a->leave_fn = probe ? maps_symbol(&a->w, probe->start, LEAVE_FUNCTION) : 0;
	return a->attach_fn && a->leave_fn;
}

int attaching_open(struct attaching **a, pid_t pid, const struct attach_how *how,
		   struct uft_err *err)
{
	*a = attaching_make(pid, how, err);
	int ret = *a ? attaching_find_libc(*a, err) : err->code;

	/*
	 * The process may have executed another program after the probe was loaded. If this program
	 * has no probe, the program's C library does not matter.
	 */
	if (ret == -ENOEXEC && *a && !attaching_has_probe(*a)) {
		err_clear(err);
		ret = 0;
	}
	if (ret == 0 && !attaching_find_probe(*a))
		return err_set(err, -ESRCH, "there is no probe in process %d any more", pid);
	return ret;
}

bool attaching_has_probe(const struct attaching *a)
{
	return maps_module(&a->maps, callable_thread_probe_names);
}

int attaching_call(struct attaching *a, int patience_ms, uint64_t fn, uint64_t first,
		   uint64_t second, uint64_t third, uint64_t *result, struct uft_err *err)
{
	const uint64_t args[6] = { first, second, third };
	int ret = attached_call(&a->w, a->thread, fn, args, patience_ms, result, err);

	if (ret == -ETIMEDOUT)
		a->thread = NULL;
	return ret;
}

int attaching_leave(struct attaching *a, enum attach_step step, uint64_t *result,
		    struct uft_err *err)
{
	return attaching_call(a, LOAD_MS, a->leave_fn, step, attached_args(&a->w), CODES_MAX,
			      result, err);
}

int attaching_begin_calls(struct attaching *a, struct uft_err *err)
{
	int ret = callable_thread_stop(&a->w, &a->maps, &a->thread, err);

	return ret < 0 ? ret : attached_make_room(&a->w, a->thread, err);
}

void attaching_end_calls(struct attaching *a)
{
	if (a->thread && !a->thread->is_gone)
		attached_drop_room(&a->w, a->thread, NULL);
	attached_let_go(&a->w);
	a->thread = NULL;
}

void attaching_say_stays(pid_t pid, int ret, struct uft_err *err)
{
	struct uft_err why = *err;

	err_set_errno(&why, ret, "it cannot be taken out");
	err_clear(err);
	err_set(err, ret,
		"the probe stays in process %d: %s; it does nothing there, and 'utrail record -p "
		"%d' takes it out when that is possible",
		pid, why.text, pid);
}

void attaching_wait(const struct attaching *a, unsigned us)
{
	usleep(us);
	if (a->w.wait)
		a->w.wait(a->w.wait_arg);
}

int attaching_read_text(struct attaching *a, struct uft_err *err)
{
	uint64_t address = 0, nr = 0;
	int ret = attaching_leave(a, ATTACH_CHANGES, &nr, err);

	if (ret == 0 && (int64_t)nr < 0)
		ret = err_set_errno(err, (int64_t)nr, "cannot patch process %d", a->w.pid);
	if (ret == 0 && nr &&
	    attached_read(&a->w, attached_args(&a->w), &address, sizeof(address)) !=
		    sizeof(address))
		ret = err_set_errno(err, -EIO, "cannot read the memory of process %d", a->w.pid);
	return ret < 0 ? ret : text_read(&a->text, &a->w, address, nr, err);
}

int attaching_find_codes(struct attaching *a, enum attach_step step, struct uft_err *err)
{
	int ret = attaching_leave(a, step, &a->nr_codes, err);
	size_t bytes = MIN(a->nr_codes, (uint64_t)CODES_MAX) * 2 * sizeof(uint64_t);

	if (ret < 0)
		return ret;
	if (a->nr_codes > CODES_MAX) {
		a->nr_codes = 0;
		return err_set(err, -E2BIG,
			       "the probe has made more code in process %d than utrail can watch",
			       a->w.pid);
	}
	return attached_read(&a->w, attached_args(&a->w), a->codes, bytes) == bytes
		       ? 0
		       : err_set_errno(err, -EIO, "cannot read the memory of process %d", a->w.pid);
}

#define STOP_TRIES 3

int attaching_stop_all(struct attaching *a, struct uft_err *err)
{
	/* The error of an attempt does not count if a later one succeeds. */
	struct uft_err why = { 0 };
	int ret = attached_stop(&a->w, &why);

	for (int i = 1; i < STOP_TRIES && ret == -EBUSY; i++) {
		ret = callable_thread_stop(&a->w, &a->maps, &a->thread, &why);
		if (ret == 0)
			ret = attached_stop(&a->w, &why);
	}
	if (ret < 0) {
		a->thread = NULL;
		if (why.code)
			err_set(err, ret, "%s", why.text);
	}
	return ret;
}
