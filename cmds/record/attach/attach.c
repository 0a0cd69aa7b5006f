/* Putting the probe into a process that runs, and taking it out (see attach.h). */
#include "cmds/record/attach/attach.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmds/record/attach/hand_over.h"
#include "cmds/record/attach/maps.h"
#include "cmds/record/attach/quiet.h"
#include "cmds/record/attach/target.h"
#include "cmds/record/attach/text.h"
#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"
#include "utils/format/attach.h"

#define LOAD_MS	  60000	 /* a lock may be held, by who is slow */
#define ATTACH_MS 120000 /* symbols are read meanwhile */
#define CODES_MAX (WORLD_ARGS_BYTES / (2 * sizeof(uint64_t)))

/*
 * One process at work.
 *
 * @thread: the one that makes calls; NULL once it is let go
 * @libc: functions of its C library
 * @codes: from where to where the probe has made code
 * @text: what the probe changes of the program's
 */
struct attaching {
	struct world w;
	struct maps maps;
	struct world_thread *thread;
	struct {
		uint64_t dlopen, dlclose, dlerror, dladdr1, syscall;
	} libc;
	uint64_t attach_fn;
	uint64_t leave_fn;
	uint64_t codes[2 * CODES_MAX];
	uint64_t nr_codes;
	struct text text;
};

static void done(struct attaching *a)
{
	maps_deinit(&a->maps);
	text_deinit(&a->text);
	world_close(&a->w);
	free(a);
}

static void cleanup_attaching_fn(struct attaching **a)
{
	if (*a)
		done(*a);
}
#define cleanup_attaching cleanup(cleanup_attaching_fn)

static struct attaching *make(pid_t pid, const struct attach_how *how, struct uft_err *err)
{
	struct attaching *a = calloc(1, sizeof(*a));
	struct uft_err why = { 0 };

	if (!a) {
		err_set_errno(err, -ENOMEM, "cannot attach to process %d", pid);
		return NULL;
	}

	int ret = world_open(&a->w, pid, &why);

	if (ret < 0) {
		target_explain(pid, ret, err);
		done(a);
		return NULL;
	}
	a->w.wait = how->wait;
	a->w.wait_arg = how->wait_arg;
	return a;
}

/* Its C library, and what of it is needed. */
static int find_libc(struct attaching *a, struct uft_err *err)
{
	static const char *const musl[] = { "ld-musl", NULL };
	static const char *const libdl[] = { "libdl.so.", "libdl-2.", NULL };
	int ret = maps_read(&a->maps, a->w.pid);

	if (ret < 0)
		return target_explain(a->w.pid, ret, err);

	const struct mapping *libc = maps_module(&a->maps, quiet_libc_names);
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
	return world_find_gadgets(&a->w, code->start, code->end, err);
}

/* The probe's functions, when it is there. */
static bool find_probe(struct attaching *a)
{
	if (maps_read(&a->maps, a->w.pid) < 0)
		return false;

	const struct mapping *probe = maps_module(&a->maps, quiet_probe_names);

	a->attach_fn = probe ? maps_symbol(&a->w, probe->start, ATTACH_FUNCTION) : 0;
	a->leave_fn = probe ? maps_symbol(&a->w, probe->start, LEAVE_FUNCTION) : 0;
	return a->attach_fn && a->leave_fn;
}

static bool has_probe(const struct attaching *a)
{
	return maps_module(&a->maps, quiet_probe_names);
}

static int call(struct attaching *a, int patience_ms, uint64_t fn, uint64_t first, uint64_t second,
		uint64_t third, uint64_t *result, struct uft_err *err)
{
	const uint64_t args[6] = { first, second, third };
	int ret = world_call(&a->w, a->thread, fn, args, patience_ms, result, err);

	if (ret == -ETIMEDOUT)
		a->thread = NULL;
	return ret;
}

static int leave(struct attaching *a, enum attach_step step, uint64_t *result, struct uft_err *err)
{
	return call(a, LOAD_MS, a->leave_fn, step, world_args(&a->w), CODES_MAX, result, err);
}

static int begin_calls(struct attaching *a, struct uft_err *err)
{
	int ret = quiet_stop(&a->w, &a->maps, &a->thread, err);

	return ret < 0 ? ret : world_make_room(&a->w, a->thread, err);
}

/* What was asked of the thread is over, well or badly. */
static void end_calls(struct attaching *a)
{
	if (a->thread && !a->thread->is_gone)
		world_drop_room(&a->w, a->thread, NULL);
	world_let_go(&a->w);
	a->thread = NULL;
}

/* --- the program's text --- */

static int read_text(struct attaching *a, struct uft_err *err)
{
	uint64_t address = 0, nr = 0;
	int ret = leave(a, ATTACH_CHANGES, &nr, err);

	if (ret == 0 && (int64_t)nr < 0)
		ret = err_set_errno(err, (int64_t)nr, "cannot patch process %d", a->w.pid);
	if (ret == 0 && nr &&
	    world_read(&a->w, world_args(&a->w), &address, sizeof(address)) != sizeof(address))
		ret = err_set_errno(err, -EIO, "cannot read the memory of process %d", a->w.pid);
	return ret < 0 ? ret : text_read(&a->text, &a->w, address, nr, err);
}

#define STOP_TRIES 3

/* Another thread makes the calls when one of them did not stop: then all were let go. */
static int stop_all(struct attaching *a, struct uft_err *err)
{
	int ret = world_stop(&a->w, err);

	for (int i = 1; i < STOP_TRIES && ret == -EBUSY; i++) {
		ret = quiet_stop(&a->w, &a->maps, &a->thread, err);
		if (ret == 0)
			ret = world_stop(&a->w, err);
	}
	if (ret < 0)
		a->thread = NULL;
	return ret;
}

#define PUT_IN_TRIES   50
#define PUT_IN_WAIT_US 1000

/* Then it is recorded. Functions that threads do not get out of the beginning of are left alone: the probe counts them. */
static int put_text_in(struct attaching *a, struct uft_err *err)
{
	uint64_t nr_failed;
	int ret = read_text(a, err);

	if (ret < 0)
		return ret;
	for (int i = 0; i < PUT_IN_TRIES && a->text.nr; i++) {
		size_t left = 1;

		ret = stop_all(a, err);
		if (ret < 0)
			return ret;
		if (maps_read(&a->maps, a->w.pid) == 0)
			left = text_put_in(&a->text, &a->w, &a->maps);
		world_let_others_go(&a->w, a->thread);
		if (!left)
			break;
		usleep(PUT_IN_WAIT_US);
		if (a->w.wait)
			a->w.wait(a->w.wait_arg);
	}
	return leave(a, ATTACH_CHANGED, &nr_failed, err);
}

/* --- leaving --- */

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
 * Whether a thread is just now in the probe's code, or was when a signal came; or in the dynamic linker, which may be about to store what it
 * has found where it was told before. All stand.
 */
static bool is_anybody_within(struct attaching *a)
{
	const struct mapping *probe = maps_code(&a->maps, maps_module(&a->maps, quiet_probe_names));
	const struct mapping *linker = maps_module(&a->maps, quiet_linker_names);

	linker = linker ? maps_code(&a->maps, linker) : NULL;
	for (size_t i = 0; i < a->w.nr; i++) {
		const struct world_thread *t = a->w.threads[i];

		if (t->is_gone)
			continue;
		if (is_within(a, arch_remote_pc(&t->regs), probe, linker) ||
		    quiet_has_interrupted(&a->w, &a->maps, t, probe->start, probe->end) ||
		    (linker &&
		     quiet_has_interrupted(&a->w, &a->maps, t, linker->start, linker->end)))
			return true;
		for (uint64_t k = 0; k < a->nr_codes; k++) {
			if (quiet_has_interrupted(&a->w, &a->maps, t, a->codes[2 * k],
						  a->codes[2 * k + 1]))
				return true;
		}
	}
	return false;
}

#define SAME_TRIES    4
#define EMPTY_TRIES   2000
#define EMPTY_WAIT_US 2000

/* Until the text is as it was, and no thread is within the probe: nothing leads there any more, so this stays so. */
static int empty(struct attaching *a, struct uft_err *err)
{
	for (int i = 0; i < EMPTY_TRIES; i++) {
		uint64_t inside = 1;
		size_t changed = 0;
		int ret = 0;

		/* The one that makes the calls may itself be within: it waits for the recorder's answer. */
		if (i >= SAME_TRIES) {
			world_let_go(&a->w);
			ret = quiet_stop(&a->w, &a->maps, &a->thread, err);
		}
		if (ret == 0)
			ret = world_stop(&a->w, err);
		if (ret < 0) {
			a->thread = NULL;
			return ret;
		}
		/* Stacks may have come. */
		ret = maps_read(&a->maps, a->w.pid);
		if (ret == 0)
			changed = text_take_out(&a->text, &a->w, &a->maps);
		if (ret == 0 && !is_anybody_within(a))
			ret = leave(a, ATTACH_COUNT, &inside, err);
		if (ret < 0)
			return ret;
		world_let_others_go(&a->w, a->thread);
		if (inside == 0 && changed == 0)
			return 0;
		usleep(EMPTY_WAIT_US);
		if (a->w.wait)
			a->w.wait(a->w.wait_arg);
	}
	return err_set(err, -EBUSY,
		       "the probe stays loaded in process %d, and does nothing there: a thread is "
		       "within it (a handler of a signal has interrupted it and does not end?)",
		       a->w.pid);
}

/*
 * What dlopen(3) has returned for the probe, when the recorder was killed before it could tell the probe: in glibc it is the link map, which
 * dladdr1(3) gives. Nothing is written when there is none.
 */
static int find_handle(struct attaching *a, uint64_t *handle, struct uft_err *err)
{
	struct {
		Dl_info info;
		uint64_t link_map;
	} found = { 0 };
	const uint64_t at = world_args(&a->w);
	const uint64_t args[6] = { a->leave_fn, at, at + sizeof(found.info), RTLD_DL_LINKMAP };
	uint64_t is_found = 0;
	int ret = a->libc.dladdr1 ? world_call(&a->w, a->thread, a->libc.dladdr1, args, LOAD_MS,
					       &is_found, err)
				  : 0;

	if (ret == -ETIMEDOUT)
		a->thread = NULL;
	if (ret == 0 && (int)is_found &&
	    world_read(&a->w, at, &found, sizeof(found)) == sizeof(found))
		*handle = found.link_map;
	return ret;
}

/* Nothing of the program leads to the probe, all that it has is given back, and it is unloaded. */
static int take_out(struct attaching *a, struct uft_err *err)
{
	uint64_t result, handle = 0;
	int ret = leave(a, ATTACH_HANDLE, &handle, err);

	if (ret == 0 && !handle)
		ret = find_handle(a, &handle, err);
	if (ret == 0)
		ret = leave(a, ATTACH_WITHDRAW, &a->nr_codes, err);
	if (ret < 0)
		return ret;
	if (a->nr_codes > CODES_MAX || !handle)
		return err_set(err, -E2BIG, "the probe stays loaded in process %d", a->w.pid);
	if (world_read(&a->w, world_args(&a->w), a->codes, a->nr_codes * 2 * sizeof(uint64_t)) !=
	    a->nr_codes * 2 * sizeof(uint64_t))
		return err_set_errno(err, -EIO, "cannot read the memory of process %d", a->w.pid);
	ret = read_text(a, err);
	if (ret == 0)
		ret = empty(a, err);
	if (ret == 0)
		ret = leave(a, ATTACH_GIVE_BACK, &result, err);
	if (ret == 0)
		ret = call(a, LOAD_MS, a->libc.dlclose, handle, 0, 0, &result, err);
	if (ret == 0)
		ret = maps_read(&a->maps, a->w.pid);
	if (ret == 0 && has_probe(a))
		ret = err_set(err, -EBUSY,
			      "the C library of process %d has not unloaded the probe, which does "
			      "nothing there",
			      a->w.pid);
	return ret;
}

int attach_end(pid_t pid, const struct attach_how *how, struct uft_err *err)
{
	struct attaching *a cleanup_attaching = make(pid, how, err);
	int ret = a ? find_libc(a, err) : -ESRCH;

	if (ret < 0)
		return ret;
	if (!find_probe(a))
		return err_set(err, -ESRCH, "there is no probe in process %d any more", pid);
	ret = begin_calls(a, err);
	if (ret == 0)
		ret = take_out(a, err);
	end_calls(a);
	return ret;
}

/* --- coming --- */

/* A probe that is there already: with a recorder, or left behind by one that was killed. Gone when this returns 0. */
static int deal_with_former(struct attaching *a, struct uft_err *err)
{
	uint64_t state;
	int ret;

	if (!find_probe(a))
		return err_set(
			err, -EBUSY,
			"cannot attach to process %d: there is a probe of another version in "
			"it",
			a->w.pid);
	ret = leave(a, ATTACH_STATE, &state, err);
	if (ret < 0)
		return ret;
	if (state == ATTACH_STATE_RECORDED)
		return err_set(err, -EBUSY,
			       "cannot attach to process %d: it is being recorded already",
			       a->w.pid);
	if (state == ATTACH_STATE_PRELOADED)
		return err_set(err, -EBUSY,
			       "cannot attach to process %d: it was started by 'utrail record', "
			       "whose probe it keeps until it ends",
			       a->w.pid);
	ret = take_out(a, err);
	if (ret < 0)
		err_prefix(err, "cannot attach to process %d", a->w.pid);
	return ret;
}

/* The process finds the probe's file where we do. */
static bool sees_library(pid_t pid, const char *library)
{
	char path[PATH_MAX + 32];
	struct stat theirs, ours;

	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, library);
	return stat(library, &ours) == 0 && stat(path, &theirs) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

static int copy_file(const char *from, const char *to)
{
	int in cleanup_fd = open(from, O_RDONLY | O_CLOEXEC);
	int out cleanup_fd = open(to, O_WRONLY | O_CLOEXEC);
	ssize_t n = 1;

	while (in >= 0 && out >= 0 && n > 0)
		n = sendfile(out, in, NULL, 1UL << 30);
	return in < 0 || out < 0 || n < 0 ? -errno : 0;
}

static int put_text(struct attaching *a, const char *text, struct uft_err *err)
{
	size_t len = strlen(text) + 1;

	if (len > WORLD_ARGS_BYTES || world_write(&a->w, world_args(&a->w), text, len) != len)
		return err_set_errno(err, -EIO, "cannot write to the memory of process %d",
				     a->w.pid);
	return 0;
}

/* The probe as a file that only this process has: its descriptor there. */
static int64_t pass_library(struct attaching *a, const char *library, struct uft_err *err)
{
	char path[64];
	uint64_t fd = 0;
	int ret = put_text(a, QUIET_PROBE, err);

	if (ret == 0)
		ret = call(a, LOAD_MS, a->libc.syscall, SYS_memfd_create, world_args(&a->w),
			   MFD_CLOEXEC, &fd, err);
	if (ret < 0)
		return ret;
	if ((int)fd < 0)
		return err_set(err, -EMFILE,
			       "cannot attach to process %d: the probe's file is not where it sees "
			       "it, and it cannot be given another one",
			       a->w.pid);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", a->w.pid, (int)fd);
	ret = copy_file(library, path);
	return ret < 0 ? err_set_errno(err, ret, "cannot give process %d the probe", a->w.pid)
		       : (int)fd;
}

static int say_dlerror(struct attaching *a, struct uft_err *err)
{
	uint64_t text = 0;
	char words[256] = "";

	if (call(a, LOAD_MS, a->libc.dlerror, 0, 0, 0, &text, err) < 0)
		return -EIO;
	if (text)
		world_read(&a->w, text, words, sizeof(words) - 1);
	return err_set(
		err, -ENOEXEC,
		"cannot attach to process %d: its dynamic linker does not load the probe: %s",
		a->w.pid, words[0] ? words : "no reason was given");
}

static int load(struct attaching *a, const char *library, uint64_t *handle, struct uft_err *err)
{
	bool is_seen = sees_library(a->w.pid, library);
	int64_t fd = is_seen ? -1 : pass_library(a, library, err);
	char path[PATH_MAX];
	uint64_t unused;

	if (!is_seen && fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", (int)fd);

	int ret = put_text(a, is_seen ? library : path, err);

	if (ret == 0)
		ret = call(a, LOAD_MS, a->libc.dlopen, world_args(&a->w), RTLD_NOW | RTLD_LOCAL, 0,
			   handle, err);
	if (ret == 0 && !*handle)
		ret = say_dlerror(a, err);
	if (!is_seen && a->thread)
		call(a, LOAD_MS, a->libc.syscall, SYS_close, fd, 0, &unused, err);
	return ret;
}

static const char *refusal(uint64_t result)
{
	switch (result) {
	case ATTACH_NO_MEMORY:
		return "it has no memory for the probe";
	case ATTACH_SHADOW_STACK:
		return "its return addresses are protected by a shadow stack";
	case ATTACH_OTHER_LIBC:
		return "its C library is not glibc, which the probe needs";
	case ATTACH_NO_ADDRESS_SPACE:
		return "its address space is limited (ulimit -v)";
	}
	return "the probe in it could not speak with the recorder";
}

/*
 * Everything is in its place. The calls that are open now would never be heard of, so they are told before others are seen; those that begin
 * meanwhile would be open, and not seen, so nothing runs meanwhile.
 */
static int begin_recording(struct attaching *a, const struct attach_how *how, struct uft_err *err)
{
	struct uft_err why = { 0 };
	uint64_t result;
	struct unwinder *u = unwinder_open(&a->w, &a->maps, &why);
	int ret = u ? world_stop(&a->w, &why) : 0;

	if (!u || ret < 0)
		msg_debug(how->msg, MSG_MCOUNT, 1,
			  "process %d: which calls are open in it is not known, its threads begin "
			  "at depth 0: %s",
			  a->w.pid, why.text);
	if (ret < 0) /* which has let all go */
		ret = quiet_stop(&a->w, &a->maps, &a->thread, err);
	else if (u)
		ret = hand_over_calls(&a->w, u, a->thread, a->leave_fn, how->msg, err);
	unwinder_close(u);
	if (ret == -ETIMEDOUT)
		a->thread = NULL;
	return ret < 0 ? ret : leave(a, ATTACH_BEGIN, &result, err);
}

/* From the stopped thread to a process that is recorded. */
static int come(struct attaching *a, const struct attach_how *how, struct uft_err *err)
{
	uint64_t handle = 0, result = 0;
	struct uft_err unused = { 0 };
	int ret = has_probe(a) ? deal_with_former(a, err) : 0;

	if (ret == 0)
		ret = load(a, how->library, &handle, err);
	if (ret < 0)
		return ret;
	if (!find_probe(a))
		ret = err_set(err, -ENOEXEC,
			      "cannot attach to process %d: the probe's file is of another version",
			      a->w.pid);
	if (ret == 0)
		ret = put_text(a, how->address, err);
	if (ret == 0)
		ret = call(a, ATTACH_MS, a->attach_fn, world_args(&a->w), handle, 0, &result, err);
	if (ret == 0 && result == ATTACH_DONE) {
		ret = put_text_in(a, err);
		if (ret == 0)
			ret = begin_recording(a, how, err);
		if (ret == 0)
			return 0;
	} else if (ret == 0)
		ret = err_set(err, -ECONNREFUSED, "cannot attach to process %d: %s", a->w.pid,
			      refusal(result));
	if (a->thread && a->leave_fn)
		take_out(a, &unused);
	return ret;
}

int attach_begin(pid_t pid, const struct attach_how *how, struct uft_err *err)
{
	struct attaching *a cleanup_attaching = make(pid, how, err);
	int ret = a ? find_libc(a, err) : -EPERM;

	if (ret < 0)
		return a ? ret : err->code;
	ret = begin_calls(a, err);
	if (ret == 0)
		ret = come(a, how, err);
	end_calls(a);
	return ret;
}
