/* A process that is attached to, or left (see attach.h): the shared part of both. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_ATTACHING_H
#define UTRAIL_CMDS_RECORD_ATTACH_ATTACHING_H

#include "cmds/record/attach/attach.h"
#include "cmds/record/attach/maps.h"
#include "cmds/record/attach/text.h"
#include "cmds/record/attach/attached.h"
#include "utils/base/cleanup.h"
#include "utils/format/probe/attach.h"

#define LOAD_MS	  60000 /* a slow thread may hold a lock meanwhile */
#define CODES_MAX (ATTACHED_ARGS_BYTES / (2 * sizeof(uint64_t)))

/*
 * @thread: the thread that makes calls; NULL once it is let go
 * @libc: addresses of functions of its C library
 * @codes: the probe's ranges of code
 * @text: the probe's changes of the program's text
 */
struct attaching {
	struct attached w;
	struct maps maps;
	struct attached_thread *thread;
	struct {
		uint64_t dlopen, dlclose, dlerror, dladdr1, syscall;
	} libc;
	uint64_t attach_fn;
	uint64_t leave_fn;
	uint64_t codes[2 * CODES_MAX];
	uint64_t nr_codes;
	struct text text;
};

/* Returns NULL, with a text in @err, when the process may not be traced. */
struct attaching *attaching_make(pid_t pid, const struct attach_how *how, struct uft_err *err);

void attaching_done(struct attaching **a);
#define cleanup_attaching cleanup(attaching_done)

/*
 * True when a later attempt may succeed: the process has executed another program since @a was
 * made, or its dynamic linker has not loaded the C library yet.
 */
int attaching_open(struct attaching **a, pid_t pid, const struct attach_how *how,
		   struct uft_err *err);

/* Find the process' C library, and the functions in it that are needed. */
int attaching_find_libc(struct attaching *a, struct uft_err *err);

/*
 * True when it is worth looking again later: the process has executed another program since @a was
 * made, or its dynamic linker has not loaded the C library yet.
 */
bool attaching_is_starting(struct attaching *a);

/* Find the functions of the probe. Returns false when the probe is not in the process. */
bool attaching_find_probe(struct attaching *a);
bool attaching_has_probe(const struct attaching *a);

/*
 * attaching_begin_calls(): stop a thread that can make calls, and make a room for them.
 * attaching_end_calls(): undo both, after success or failure.
 */
int attaching_begin_calls(struct attaching *a, struct uft_err *err);
void attaching_end_calls(struct attaching *a);

/* Make the thread call @fn. -ETIMEDOUT: the call did not return, and the thread was let go. */
int attaching_call(struct attaching *a, int patience_ms, uint64_t fn, uint64_t first,
		   uint64_t second, uint64_t third, uint64_t *result, struct uft_err *err);

/* Make the thread call utrail_leave() with @step. */
int attaching_leave(struct attaching *a, enum attach_step step, uint64_t *result,
		    struct uft_err *err);

/* Let the process run for a moment, and talk to it meanwhile. */
void attaching_wait(const struct attaching *a, unsigned us);

/* Read the probe's changes of the program's text to a->text. */
int attaching_read_text(struct attaching *a, struct uft_err *err);

/*
 * Read the probe's code ranges into a->codes, by ATTACH_CODES or ATTACH_WITHDRAW. -E2BIG: too many.
 */
int attaching_find_codes(struct attaching *a, enum attach_step step, struct uft_err *err);

/*
 * True when a thread runs the probe's code, or a signal handler has interrupted the thread in the
 * probe's code. True also for a thread in the dynamic linker, which may be about to store an
 * address of the probe. All threads must be stopped.
 */
bool attaching_is_anybody_within(struct attaching *a);

/*
 * Take out the changes of @text whose functions have no open call; the others stay in @text. The
 * hooks at the beginnings of these functions must be out already.
 *
 * @patches: has all these changes among its ends
 */
int attaching_take_ends_out(struct attaching *a, const struct process_patches *patches,
			    struct text *text, struct uft_err *err);

/*
 * Stop all threads. If a thread does not stop, all are let go, and another thread makes the calls.
 */
int attaching_stop_all(struct attaching *a, struct uft_err *err);

/*
 * Start and stop recording the program's own events, while threads run. After
 * attaching_close_doors() has returned 0, no libutrail-trace in the process calls the probe.
 */
void attaching_open_doors(struct attaching *a, const struct attach_how *how);
int attaching_close_doors(struct attaching *a, struct uft_err *err);

/* Take the probe out of the process. Returns the same as attach_end() (leaving.c). */
int attaching_take_out(struct attaching *a, struct uft_err *err);

#endif
