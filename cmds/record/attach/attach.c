/* Puts the probe into a running process (see attach.h). */
#include "cmds/record/attach/attach.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "cmds/record/attach/attaching.h"
#include "cmds/record/attach/hand_over.h"
#include "cmds/record/attach/callable_thread.h"

/*
 * The maximum duration of a call of utrail_attach(). During this call the probe waits until the
 * recorder has read the symbols of the program.
 */
#define ATTACH_MS 120000

#define PUT_IN_TRIES   50
#define PUT_IN_WAIT_US 1000

/*
 * Write the patches into the program's text. While a thread is within the bytes of a patch, it may
 * be impossible to write this patch. After PUT_IN_TRIES attempts, the unwritten patches are left
 * out. The probe then counts the missing patches, and raises the semaphores of the program's
 * events.
 */
static int put_text_in(struct attaching *a, struct uft_err *err)
{
	uint64_t nr_failed;
	int ret = attaching_read_text(a, err);

	if (ret < 0)
		return ret;
	for (int i = 0; i < PUT_IN_TRIES && a->text.nr; i++) {
		size_t left = 1;

		ret = attaching_stop_all(a, err);
		if (ret < 0)
			return ret;
		if (maps_read(&a->maps, a->w.pid) == 0)
			left = text_put_in(&a->text, &a->w, &a->maps);
		attached_let_others_go(&a->w, a->thread);
		if (!left)
			break;
		attaching_wait(a, PUT_IN_WAIT_US);
	}
	return attaching_leave(a, ATTACH_CHANGED, &nr_failed, err);
}

/*
 * Takes out the probe that an earlier recorder has left in the process. Returns 0 when the probe is
 * gone. It is an error if that recorder still runs, or if the process was started with the probe.
 */
static int deal_with_former(struct attaching *a, struct uft_err *err)
{
	uint64_t state;
	int ret;

	if (!attaching_find_probe(a))
		return err_set(
			err, -EBUSY,
			"cannot attach to process %d: there is a probe of another version in "
			"it, which stays; only that version of utrail takes it out",
			a->w.pid);
	ret = attaching_leave(a, ATTACH_STATE, &state, err);
	if (ret < 0)
		err_prefix(err, "cannot attach to process %d, which has a probe already", a->w.pid);
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
	ret = attaching_take_out(a, err);
	if (ret < 0 && ret != -ESRCH)
		attaching_say_stays(a->w.pid, ret, err);
	if (ret < 0)
		err_prefix(err, "cannot attach to process %d", a->w.pid);
	return ret;
}

/*
 * True when the path of the probe's file leads to the same file in the process and in the recorder.
 */
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

	if (len > ATTACHED_ARGS_BYTES ||
	    attached_write(&a->w, attached_args(&a->w), text, len) != len)
		return err_set_errno(err, -EIO, "cannot write to the memory of process %d",
				     a->w.pid);
	return 0;
}

/*
 * Makes the process create a file in memory (memfd_create(2)). Returns the process's descriptor of
 * the file, or a negative error with @err.
 */
static int make_memory_file(struct attaching *a, struct uft_err *err)
{
	uint64_t fd = 0;
	int ret = put_text(a, CALLABLE_THREAD_PROBE, err);

	if (ret == 0)
		ret = attaching_call(a, LOAD_MS, a->libc.syscall, SYS_memfd_create,
				     attached_args(&a->w), MFD_CLOEXEC, &fd, err);
	if (ret < 0)
		return ret;
	return (int)fd < 0 ? err_set(err, -EMFILE,
				     "cannot attach to process %d: it does not see the probe's "
				     "file, and cannot be given another one",
				     a->w.pid)
			   : (int)fd;
}

static int say_dlerror(struct attaching *a, struct uft_err *err)
{
	uint64_t text = 0;
	char words[256] = "";

	if (attaching_call(a, LOAD_MS, a->libc.dlerror, 0, 0, 0, &text, err) < 0)
		return -EIO;
	if (text)
		attached_read(&a->w, text, words, sizeof(words) - 1);
	return err_set(
		err, -ENOEXEC,
		"cannot attach to process %d: its dynamic linker does not load the probe: %s",
		a->w.pid, words[0] ? words : "no reason was given");
}

static int load_file(struct attaching *a, const char *path, uint64_t *handle, struct uft_err *err)
{
	int ret = put_text(a, path, err);

	if (ret == 0)
		ret = attaching_call(a, LOAD_MS, a->libc.dlopen, attached_args(&a->w),
				     RTLD_NOW | RTLD_LOCAL, 0, handle, err);
	if (ret < 0)
		*handle = 0;
	return ret == 0 && !*handle ? say_dlerror(a, err) : ret;
}

/* Copies @library to a file in memory, and loads the copy. */
static int load_copy(struct attaching *a, const char *library, uint64_t *handle,
		     struct uft_err *err)
{
	int fd = make_memory_file(a, err);
	char theirs[64], path[64];
	uint64_t unused;

	if (fd < 0)
		return fd;
	snprintf(theirs, sizeof(theirs), "/proc/%d/fd/%d", a->w.pid, fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

	int ret = copy_file(library, theirs);

	if (ret < 0)
		err_set_errno(err, ret, "cannot give process %d the probe", a->w.pid);
	else
		ret = load_file(a, path, handle, err);
	if (a->thread) {
		int closed = attaching_call(a, LOAD_MS, a->libc.syscall, SYS_close, fd, 0, &unused,
					    err);

		ret = ret < 0 ? ret : closed;
	}
	return ret;
}

static int load_library(struct attaching *a, const char *library, uint64_t *handle,
			struct uft_err *err)
{
	return sees_library(a->w.pid, library) ? load_file(a, library, handle, err)
					       : load_copy(a, library, handle, err);
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

static int stop_again(struct attaching *a, struct uft_err *err)
{
	int ret = callable_thread_stop(&a->w, &a->maps, &a->thread, err);

	if (ret == -EBUSY)
		err_prefix(err, "cannot attach to process %d", a->w.pid);
	return ret;
}

/*
 * Start recording. First, while all threads are stopped, the recorder tells the probe which calls
 * are already open. After the threads have gone on, these calls cannot be found any more.
 */
static int begin_recording(struct attaching *a, const struct attach_how *how, struct uft_err *err)
{
	struct uft_err why = { 0 };
	uint64_t result;
	struct unwinder *u = unwinder_open(&a->w, &a->maps, &why);
	int ret = u ? attached_stop(&a->w, &why) : 0;

	if (!u || ret < 0)
		msg_debug(how->msg, MSG_MCOUNT, 1,
			  "process %d: its open calls are not known, so its threads begin at depth "
			  "0: %s",
			  a->w.pid, why.text);
	if (ret < 0) /* attached_stop() has let all threads go on */
		ret = stop_again(a, err);
	else if (u)
		ret = hand_over_calls(&a->w, u, a->thread, a->leave_fn, how->msg, err);
	unwinder_close(u);
	if (ret == -ETIMEDOUT)
		a->thread = NULL;
	return ret < 0 ? ret : attaching_leave(a, ATTACH_BEGIN, &result, err);
}

/*
 * Tells the loaded probe to record. @is_known: gets true once the probe has connected to the
 * recorder, even if a later step fails
 */
static int begin_loaded(struct attaching *a, const struct attach_how *how, uint64_t handle,
			bool *is_known, struct uft_err *err)
{
	uint64_t result = ATTACH_DONE;
	int ret = 0;

	if (!attaching_find_probe(a))
		ret = err_set(err, -ENOEXEC,
			      "cannot attach to process %d: the probe's file is of another version",
			      a->w.pid);
	if (ret == 0)
		ret = put_text(a, how->address, err);
	if (ret == 0)
		ret = attaching_call(a, ATTACH_MS, a->attach_fn, attached_args(&a->w), handle, 0,
				     &result, err);
	if (ret == 0 && result != ATTACH_DONE)
		ret = err_set(err, -ECONNREFUSED, "cannot attach to process %d: %s", a->w.pid,
			      refusal(result));
	*is_known = ret == 0;
	if (ret == 0)
		ret = put_text_in(a, err);
	return ret < 0 ? ret : begin_recording(a, how, err);
}

/*
 * Unloads the probe after the failure @ret. A stopped thread makes the calls that unload the probe.
 * If a->thread is 0, no thread is stopped, and the recorder first stops a thread. If @ret is
 * -ETIMEDOUT, a thread is still in a call that the recorder has forced the thread to make. In this
 * case the probe stays, and the function returns -ETIMEDOUT.
 *
 * @handle: the result of dlopen(3); 0: dlopen(3) has not returned a handle
 */
static int unload_probe(struct attaching *a, uint64_t handle, int ret, struct uft_err *err)
{
	uint64_t unused;

	if (ret == -ETIMEDOUT)
		return err_set(err, ret, "a thread is still in a call that it was made to do");
	if (!handle && (maps_read(&a->maps, a->w.pid) < 0 || !attaching_has_probe(a)))
		return 0;
	if (!handle)
		return err_set(err, ret, "it is loaded in part");
	ret = a->thread ? 0 : callable_thread_stop(&a->w, &a->maps, &a->thread, err);
	if (ret < 0)
		return ret;
	if (a->leave_fn)
		return attaching_take_out(a, err);
	return attaching_call(a, LOAD_MS, a->libc.dlclose, handle, 0, 0, &unused, err);
}

/* Turns a process that has a stopped thread into a recorded process. */
static int come(struct attaching *a, const struct attach_how *how, struct uft_err *err)
{
	struct uft_err why = { 0 };
	bool is_known = false;
	uint64_t handle = 0;
	int ret = attaching_has_probe(a) ? deal_with_former(a, err) : 0;

	if (ret < 0)
		return ret;
	ret = load_library(a, how->library, &handle, err);
	if (ret == 0)
		ret = begin_loaded(a, how, handle, &is_known, err);
	if (ret == 0) {
		attached_let_others_go(&a->w, a->thread);
		attaching_open_doors(a, how);
	} else if (ret != -ESRCH) {
		int left = unload_probe(a, handle, ret, &why);

		if (left < 0 && left != -ESRCH && !is_known) {
			attaching_say_stays(a->w.pid, left, &why);
			msg_warn(how->msg, "%s", why.text);
		}
	}
	return ret;
}

/*
 * The maximum number of attempts to attach to a process, and the pause after an attempt, in
 * microseconds. Another attempt is made only if attaching_is_starting() was true after the last
 * attempt. A program that has started a moment ago may load glibc before the next attempt. Because
 * some programs never load glibc, the number of attempts has a limit.
 */
#define STARTING_TRIES	 500
#define STARTING_WAIT_US 10000

static int try_to_begin(pid_t pid, const struct attach_how *how, bool *is_starting,
			struct uft_err *err)
{
	struct attaching *a cleanup_attaching = attaching_make(pid, how, err);
	int ret = a ? attaching_find_libc(a, err) : err->code;

	*is_starting = false;
	if (!a)
		return ret;
	if (ret == 0) {
		ret = attaching_begin_calls(a, err);
		if (ret == -EBUSY)
			err_prefix(err, "cannot attach to process %d, which is not changed", pid);
	}
	if (ret == 0)
		ret = come(a, how, err);
	else
		*is_starting = attaching_is_starting(a);
	attaching_end_calls(a);
	if (*is_starting)
		attaching_wait(a, STARTING_WAIT_US);
	return ret;
}

int attach_begin(pid_t pid, const struct attach_how *how, struct uft_err *err)
{
	bool is_starting = true;
	struct uft_err why;
	int ret = 0;

	for (int i = 0; i < STARTING_TRIES && is_starting; i++) {
		why = (struct uft_err){ 0 };
		ret = try_to_begin(pid, how, &is_starting, &why);
	}
	if (ret < 0 && err)
		*err = why;
	return ret;
}
