/* A process that is attached to, or left (see attach.h): the shared part of both. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_ATTACHING_H
#define UTRAIL_CMDS_RECORD_ATTACH_ATTACHING_H

#include "cmds/record/attach/attach.h"
#include "cmds/record/attach/maps.h"
#include "cmds/record/attach/text.h"
#include "cmds/record/attach/attached.h"
#include "utils/base/cleanup.h"
#include "utils/format/probe/attach.h"

#define LOAD_MS	  60000 /* a lock may be held, by a thread that is slow */
#define CODES_MAX (ATTACHED_ARGS_BYTES / (2 * sizeof(uint64_t)))

/*
 * One process at work.
 *
 * @thread: the one that makes calls; NULL once it is let go
 * @libc: functions of its C library
 * @codes: ranges of code that the probe has made
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

/* NULL and a text, when it may not be traced. */
struct attaching *attaching_make(pid_t pid, const struct attach_how *how, struct uft_err *err);

void attaching_done(struct attaching **a);
#define cleanup_attaching cleanup(attaching_done)

/* Its C library, and what of it is needed. */
int attaching_find_libc(struct attaching *a, struct uft_err *err);

/*
 * True when the process has executed another program since @a was made, or its dynamic linker has
 * not loaded the C library yet: look again later.
 */
bool attaching_is_starting(struct attaching *a);

/* The probe's functions, when it is there. */
bool attaching_find_probe(struct attaching *a);
bool attaching_has_probe(const struct attaching *a);

/*
 * Stop a thread that can make calls, and make a room for them; and end that, after success or
 * failure.
 */
int attaching_begin_calls(struct attaching *a, struct uft_err *err);
void attaching_end_calls(struct attaching *a);

/* The thread calls @fn. -ETIMEDOUT: it did not return, and has been let go. */
int attaching_call(struct attaching *a, int patience_ms, uint64_t fn, uint64_t first,
		   uint64_t second, uint64_t third, uint64_t *result, struct uft_err *err);

/* It calls utrail_leave(). */
int attaching_leave(struct attaching *a, enum attach_step step, uint64_t *result,
		    struct uft_err *err);

/* Lets the process run for a moment, and talks to it meanwhile. */
void attaching_wait(const struct attaching *a, unsigned us);

/* Read the probe's changes of the program's text to a->text. */
int attaching_read_text(struct attaching *a, struct uft_err *err);

/*
 * Read code ranges of the probe to a->codes with @step (ATTACH_CODES, ATTACH_WITHDRAW). -E2BIG when
 * there are too many.
 */
int attaching_find_codes(struct attaching *a, enum attach_step step, struct uft_err *err);

/*
 * True when a thread runs the probe's code now, or did when a signal came. Also true when one is in
 * the dynamic linker, which may be about to store a function's address at the place of earlier. All
 * threads are stopped.
 */
bool attaching_is_anybody_within(struct attaching *a);

/*
 * Take those changes of @text out whose functions have no open call, and look several times for
 * more of them; those that stay are left in @text. The hooks at the beginnings of these functions
 * are out already. @patches lists all of these changes among its ends.
 */
int attaching_take_ends_out(struct attaching *a, const struct process_patches *patches,
			    struct text *text, struct uft_err *err);

/*
 * Stop all threads. If one of them does not stop, all are let go, and another thread makes the
 * calls.
 */
int attaching_stop_all(struct attaching *a, struct uft_err *err);

/*
 * Start and stop recording the program's own events (doors.c). Threads run meanwhile. Copies of the
 * library that cannot be opened are reported; after closing has returned 0 no copy calls the probe.
 */
void attaching_open_doors(struct attaching *a, const struct attach_how *how);
int attaching_close_doors(struct attaching *a, struct uft_err *err);

/* The probe, out of it. As attach_end() (leaving.c). */
int attaching_take_out(struct attaching *a, struct uft_err *err);

#endif
