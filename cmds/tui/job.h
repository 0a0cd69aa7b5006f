/* Reads a recording in a separate thread, so that the TUI can react to keys meanwhile. */
#ifndef UTRAIL_CMDS_TUI_JOB_H
#define UTRAIL_CMDS_TUI_JOB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cmds/tui/reading.h"

enum job_work {
	JOB_OPEN = 1, /* open the recording, but print no messages */
	JOB_TREE = 2,
	JOB_REPORT = 4,
};

/*
 * Starts as { 0 }; job_start() begins a job. While @runs is true, other threads may use only
 * @reading->data.dir and the atomic members of @reading.
 *
 * @wanted: the report to be made
 * @began_ns, @took_ns: the start and the duration, by the monotonic clock
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
 * Begin @work on @reading. @work has bits of enum job_work. Only one job may run at a time. Returns
 * 0, or a negative error with @err.
 *
 * @config: the configuration for JOB_REPORT
 */
int job_start(struct tui_job *job, struct tui_reading *reading, unsigned work,
	      const struct report_config *config, struct uft_err *err);

/* True when the job has ended. In this case job_end() does not wait. */
bool job_is_done(const struct tui_job *job);

/* Wait for the end of the job. Returns 0, or the job's error with @err. */
int job_end(struct tui_job *job, struct uft_err *err);

/* End a job whose result is not wanted any more. Does nothing when no job runs. */
void job_stop(struct tui_job *job);

/* Append the progress of the job as text. */
void job_put_progress(struct tui_job *job, struct strbuf *out);

#endif
