/* Reading a recording in a thread of its own, so that keys need not wait for it. */
#ifndef UTRAIL_CMDS_TUI_JOB_H
#define UTRAIL_CMDS_TUI_JOB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cmds/tui/reading.h"

enum job_work {
	JOB_OPEN = 1, /* quietly */
	JOB_TREE = 2,
	JOB_REPORT = 4,
};

/*
 * Starts as { 0 } with job_start(). While it @runs, no other thread may look at the reading, but
 * for its data's directory.
 *
 * @wanted: the report that is asked for
 * @began_ns, @took_ns: of the monotonic clock
 */
struct tui_job {
	struct tui_reading *reading;
	unsigned work;
	struct report wanted;
	pthread_t thread;
	bool runs;
	atomic_bool is_done;
	uint64_t began_ns;
	uint64_t took_ns;
	int status;
	struct uft_err err;
};

/*
 * Begin @work, of enum job_work, on @reading. @config: of JOB_REPORT. One at a time. 0 or negative
 * with @err.
 */
int job_start(struct tui_job *job, struct tui_reading *reading, unsigned work,
	      const struct report_config *config, struct uft_err *err);

/* True when it runs no more; job_end() does not wait then. */
bool job_is_done(const struct tui_job *job);

/* Wait for its end: 0, or its failure with @err. */
int job_end(struct tui_job *job, struct uft_err *err);

/* The same for a job whose result is not wanted any more. Does nothing when none runs. */
void job_stop(struct tui_job *job);

/* Append how far it is. */
void job_put_progress(struct tui_job *job, struct strbuf *out);

/* The monotonic clock. */
uint64_t job_now_ns(void);

#endif
