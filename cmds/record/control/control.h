/*
 * Conversations with probes. A conversation consists of a probe's reports and the recorder's
 * answers.
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_CONTROL_H
#define UTRAIL_CMDS_RECORD_CONTROL_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmds/record/base/loop.h"
#include "cmds/record/base/settings.h"
#include "cmds/record/control/crash.h"
#include "cmds/record/plan/plan.h"
#include "cmds/record/sources/writer.h"
#include "cmds/record/store/store.h"
#include "cmds/record/tasks/process.h"
#include "cmds/record/tasks/session.h"
#include "cmds/record/tasks/tasks.h"
#include "utils/base/err.h"
#include "utils/format/probe/control.h"

struct conversation;

/* Conversations, sorted by the time of their last packet. */
struct talk_list {
	struct conversation *oldest;
	struct conversation *newest;
	unsigned nr;
};

/*
 * @max: the maximum number of conversations in @believed
 * @module_bytes: the size of all MODULE reports that conversations keep
 * @pause, @pause_fd: a timer that ends a pause in accepting connections
 * @nr_dropped: the number of conversations that the recorder ended because of limits, although the
 *              probe of the conversation was still reporting modules or a crash
 * @nr_modules_left_out: the number of modules that were left out because of limits
 */
struct talks {
	struct talk_list strangers;
	struct talk_list believed;
	unsigned max;
	size_t module_bytes;
	struct served pause;
	int pause_fd;
	unsigned nr_dropped;
	unsigned long long nr_modules_left_out;
	/* the number of conversations whose HELLO had the protocol version @other_version */
	unsigned nr_other_version;
	unsigned other_version;
	/*
	 * the number of conversations in @believed that ended early, because the recorder refused
	 * a message, or because the probe sent ERROR
	 */
	unsigned nr_refused;
};

/*
 * The socket for probes, and everything that conversations change. Only the control thread uses the
 * struct. Members above the empty line are set before control_listen().
 *
 * @plan: the part of a plan that is the same for all processes
 * @page_fd: the page that all probes share with the recorder
 * @socket_name: the name with which probes find the recorder
 * @secret: the proof that a process is a probe of this recording
 * @address: @socket_name and @secret in one text, for the program's environment
 * @working_ms: the minimum time between two messages CONTROL_WORKING to the process of @served.
 *              These messages tell the process that the recorder is working
 * @served: the conversation of the process that waits for the recorder's work, or NULL
 * @told_ms: the time of the last message to @served, or the time when the work began
 * @declined: the number of processes that had too little address space for tracing
 * @protected: the number of processes that have a shadow stack
 * @other_libc: the number of processes whose C library is not glibc
 * @in_valgrind: the number of processes that run in valgrind
 * @nr_without_arena: the number of processes that got no shared memory
 * @why_no_arena: the reason why the first of these processes got no shared memory: an errno
 * @save_error: the error of the first symbol file that could not be written
 */
struct control {
	const struct record_settings *settings;
	struct loop *loop;
	struct planner *planner;
	struct sessions *sessions;
	struct store *store;
	struct tasks *tasks;
	struct processes *processes;
	struct writers *writers;
	struct steering *steering;
	struct plan plan;
	int page_fd;
	char socket_name[CONTROL_NAME_SIZE];
	uint8_t secret[CONTROL_SECRET_BYTES];
	char address[CONTROL_ADDRESS_SIZE];
	unsigned working_ms;

	struct served listener;
	int listen_fd;
	struct talks talks;
	struct conversation *served;
	uint64_t told_ms;
	struct crash *crashes;
	unsigned declined;
	unsigned protected;
	unsigned other_libc;
	unsigned in_valgrind;
	unsigned nr_without_arena;
	int why_no_arena;
	struct uft_err save_error;
};

/* Open the abstract socket @socket_name, and serve probes from then on. */
int control_listen(struct control *ctl, struct uft_err *err);

/*
 * Call this function repeatedly during long work. If a probe waits for the end of the work, this
 * function tells the probe that the recorder is alive.
 *
 * @arg: the struct control
 */
void control_tick(void *arg);

/* End all conversations. */
void control_close(struct control *ctl);

#endif
