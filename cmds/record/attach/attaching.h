/* Data and functions to attach to a process, and to leave it (see attach.h). */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_ATTACHING_H
#define UTRAIL_CMDS_RECORD_ATTACH_ATTACHING_H

#include "cmds/record/attach/attach.h"
#include "cmds/record/attach/maps.h"
#include "cmds/record/attach/text.h"
#include "cmds/record/attach/attached.h"
#include "utils/base/cleanup.h"
#include "utils/format/probe/attach.h"

/*
 * The maximum duration, in milliseconds, of a call that a thread of the process makes for the
 * recorder. The called function may wait for a lock that a slow thread holds.
 */
#define LOAD_MS	  60000
#define CODES_MAX (ATTACHED_ARGS_BYTES / (2 * sizeof(uint64_t)))

/*
 * @thread: the stopped thread that calls functions for the recorder; NULL: there is no such
 *          thread
 * @libc: the addresses of functions in the program's C library or libdl. The address is 0 if these
 *        libraries do not have the function
 * @codes: the ranges of the probe's code
 * @text: the probe's changes in the text of the program
 */
struct attaching {
	struct attached w;
	struct maps maps;
	struct attached_thread *thread;
	struct {
		uint64_t dlopen, dlclose, dlerror, dladdr1, syscall, fork;
	} libc;
	uint64_t attach_fn;
	uint64_t leave_fn;
	uint64_t codes[2 * CODES_MAX];
	uint64_t nr_codes;
	struct text text;
};

/*
 * Make the struct for process @pid. If the process cannot be traced, returns NULL, with a text in
 * @err.
 */
struct attaching *attaching_make(pid_t pid, const struct attach_how *how, struct uft_err *err);

void attaching_done(struct attaching **a);
#define cleanup_attaching cleanup(attaching_done)

/*
 * Make *@a for a process that has a probe, and find its C library and the probe. Returns 0, or a
 * negative errno with a text. -ESRCH: the process has ended, or has no probe.
 */
int attaching_open(struct attaching **a, pid_t pid, const struct attach_how *how,
		   struct uft_err *err);

/* Find the C library of the process, and the addresses of the functions in a->libc. */
int attaching_find_libc(struct attaching *a, struct uft_err *err);

/*
 * Called after an attempt to attach has failed. True when a new attempt may succeed: the process
 * has executed another program since @a was made, or its dynamic linker has not loaded the C
 * library yet.
 */
bool attaching_is_starting(struct attaching *a);

/*
 * attaching_find_probe() sets @attach_fn and @leave_fn. It returns false when the process has no
 * probe, or when the probe lacks one of these functions. attaching_has_probe() returns false only
 * when the process has no probe.
 */
bool attaching_find_probe(struct attaching *a);
bool attaching_has_probe(const struct attaching *a);

/*
 * attaching_begin_calls() stops a thread that can call functions for the recorder, and maps memory
 * for the calls. attaching_end_calls() unmaps the memory, and lets all stopped threads go. Call
 * attaching_end_calls() even if attaching_begin_calls() has failed.
 */
int attaching_begin_calls(struct attaching *a, struct uft_err *err);
void attaching_end_calls(struct attaching *a);

/* Make the thread call @fn. -ETIMEDOUT: the call has not returned, and the thread was let go. */
int attaching_call(struct attaching *a, int patience_ms, uint64_t fn, uint64_t first,
		   uint64_t second, uint64_t third, uint64_t *result, struct uft_err *err);

/* Make the thread call utrail_leave() with @step. */
int attaching_leave(struct attaching *a, enum attach_step step, uint64_t *result,
		    struct uft_err *err);

/*
 * Put into @err that the probe stays in process @pid, with the error @ret and the earlier text of
 * @err as the reason. The text also tells the user how to take the probe out later.
 */
void attaching_say_stays(pid_t pid, int ret, struct uft_err *err);

/* Sleep for @us microseconds. Then handle requests from probes (attach_how.wait). */
void attaching_wait(const struct attaching *a, unsigned us);

/* Read the probe's list of changes to the program's text, and store it in a->text. */
int attaching_read_text(struct attaching *a, struct uft_err *err);

/*
 * Make the thread call utrail_leave() with @step, which is ATTACH_CODES or ATTACH_WITHDRAW. The
 * call reports ranges of the probe's code. Store these ranges in a->codes. Returns 0 or a negative
 * errno; -E2BIG: there are too many ranges.
 */
int attaching_find_codes(struct attaching *a, enum attach_step step, struct uft_err *err);

/*
 * True when a thread runs code of the probe or of the dynamic linker, or when a signal handler has
 * interrupted a thread in such code. Code of the dynamic linker is included, because this code may
 * be about to store an address of the probe. All threads must be stopped.
 */
bool attaching_is_anybody_within(struct attaching *a);

/*
 * True when the C library may be about to call a function of the probe in a thread, although the
 * probe has unregistered the function. All threads must be stopped.
 */
bool attaching_is_anybody_about_to_enter(const struct attaching *a);

/*
 * @text lists hooks at the ends of functions. Remove these hooks from the process and from @text,
 * in several attempts if needed. The caller must first remove the hooks at the starts of these
 * functions. In the following cases, a hook stays in the process and in @text, without an error:
 *
 * - The hook's function has an open call, or the probe does not know the open calls.
 * - At each attempt, a thread is in code of the probe or of the dynamic linker.
 * - The probe has too many ranges of code (attaching_find_codes()).
 * - @patches->ends does not list the hook's site.
 */
int attaching_take_ends_out(struct attaching *a, const struct process_patches *patches,
			    struct text *text, struct uft_err *err);

/*
 * Stop all threads. If a thread does not stop, the function lets all threads go, and tries again,
 * at most twice. Each new attempt first chooses a thread for @a->thread. If the function returns an
 * error, @a->thread is NULL.
 */
int attaching_stop_all(struct attaching *a, struct uft_err *err);

/*
 * attaching_open_doors() starts the recording of events that the program declares, and
 * attaching_close_doors() ends this recording. During both calls, threads other than a->thread may
 * run. After attaching_close_doors() has returned 0, no copy of libutrail-trace in the process
 * calls the probe.
 */
void attaching_open_doors(struct attaching *a, const struct attach_how *how);
int attaching_close_doors(struct attaching *a, struct uft_err *err);

/* Take the probe out of the process. Returns the same values as attach_end() (leaving.c). */
int attaching_take_out(struct attaching *a, struct uft_err *err);

#endif
