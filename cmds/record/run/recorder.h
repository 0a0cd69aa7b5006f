/*
 * The recorder consists of rooms, the directories of cmds/record. struct recorder connects the
 * rooms. No room except cmds/record/run includes this header.
 */
#ifndef UTRAIL_CMDS_RECORD_RUN_RECORDER_H
#define UTRAIL_CMDS_RECORD_RUN_RECORDER_H

#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "cmds/record/base/alive.h"
#include "cmds/record/base/loop.h"
#include "cmds/record/base/settings.h"
#include "cmds/record/control/control.h"
#include "cmds/record/control/overhead.h"
#include "cmds/record/control/service.h"
#include "cmds/record/control/steering.h"
#include "cmds/record/plan/plan.h"
#include "cmds/record/proc/proc.h"
#include "cmds/record/run/traceme.h"
#include "cmds/record/sources/kernel.h"
#include "cmds/record/sources/perf.h"
#include "cmds/record/sources/sources.h"
#include "cmds/record/sources/writer.h"
#include "cmds/record/store/store.h"
#include "cmds/record/tasks/process.h"
#include "cmds/record/tasks/session.h"
#include "cmds/record/tasks/tasks.h"
#include "utils/base/err.h"

/*
 * The whole recorder. The header of each member's type says which threads may use the member.
 *
 * @control, @control_fd: the page that all probes share with the recorder
 * @program_fd: a pidfd of the program, valid from recorder_run() on
 */
struct recorder {
	const struct record_settings *settings;
	struct store *store;
	struct loop loop;
	struct alive alive;
	struct planner planner;
	struct sessions sessions;
	struct processes processes;
	struct tasks tasks;
	struct sources sources;
	struct perf perf;
	struct kernel kernel;
	struct proc proc;
	struct writers writers;
	struct control channel;
	struct steering steering;
	struct overhead overhead;
	struct service service;
	struct control_page *control;
	int control_fd;
	int program_fd;
};

/*
 * Create the shared page, the socket and the writers, before the program starts. @store must stay
 * valid until recorder_close(). The caller must call recorder_close(), also after a failure.
 */
int recorder_open(struct recorder *rec, const struct record_settings *settings, struct store *store,
		  struct uft_err *err);

/* --- lifetime.c --- */

#define RECORDER_STATUS_UNKNOWN -1

/*
 * The end of the program.
 *
 * @status: the wait(2) status. RECORDER_STATUS_UNKNOWN when the program still runs, or is not a
 *          child of the recorder
 * @given_up: the signal that has ended the wait for a running program, otherwise 0
 * @has_left_rest: after ALIVE_REST_TICKS, processes of the program had not ended (base/alive.h)
 * @has_stayed: an attached process could not be restored to its former state
 * @traceme: a process that has asked the recorder to be its tracer
 * @usage: the resources that the program has used
 */
struct recorder_end {
	int status;
	int given_up;
	bool has_left_rest;
	bool has_stayed;
	struct traceme traceme;
	struct rusage usage;
};

/*
 * Set @set to the signals that a recorder with these settings reads from a descriptor. The caller
 * must block these signals before it starts a thread.
 */
void recorder_signals(const struct record_settings *settings, sigset_t *set);

/*
 * Serve probes until the program @child has ended, and then until the other traced processes have
 * ended. Interrupts can end this function earlier (base/alive.h). Returns 0, or a negative errno
 * with a text.
 */
int recorder_run(struct recorder *rec, pid_t child, struct recorder_end *end, struct uft_err *err);

/*
 * The function for attach_how.wait. Waits a moment for requests from probes, and handles each
 * request that arrives. Called while the recorder waits for a thread of the program. This thread
 * may run a function of the probe, which may send requests. @arg: the struct recorder
 */
void recorder_serve_a_moment(void *arg);

/* Take the remaining records of all rings, and end the writers. */
void recorder_stop(struct recorder *rec);

void recorder_close(struct recorder *rec);
#define cleanup_recorder cleanup(recorder_close)

/*
 * The interpreter of Python may be in the program or in libpython. Returns a bit for each of these
 * two files that @rules name: PLAN_PATCHES_PROGRAM, PLAN_PATCHES_LIBPYTHON, both, or 0.
 */
uint32_t recorder_python_flags(const struct patch_rules *rules);

#endif
