/* Shows the progress of `record`. Prints a line every second on the terminal of stderr. */
#ifndef UTRAIL_CMDS_RECORD_RUN_PROGRESS_H
#define UTRAIL_CMDS_RECORD_RUN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmds/record/base/loop.h"
#include "cmds/record/run/run.h"

/*
 * The state of the status line. The struct belongs to the control thread. Callers use no member.
 *
 * @program: the process that the recorder has started. With -p, this is 0
 * @is_asked_for: the line is shown even if recorded processes write to the terminal
 * @device: the device number of the terminal, from statusline_terminal()
 */
struct run_progress {
	struct recorder *rec;
	pid_t program;
	uint64_t began_ns;
	bool is_asked_for;
	uint64_t device;
	int timer_fd; /* negative: no line is shown */
	struct served timer;
};

/*
 * Let the writers count calls, if a status line may be shown. Call this function before the writers
 * get records.
 */
void run_progress_prepare(const struct run *run, struct recorder *rec);

/*
 * Show a line with the time since this function was called, the number of recorded calls, the
 * megabytes of the recording, and the number of lost records. In a flight recording, the line shows
 * the number of tasks and the megabytes of their records in memory, but no number of calls and no
 * megabytes of the recording. Without --progress, the line is hidden while a recorded process has
 * the terminal as its stdout.
 */
void run_progress_begin(struct run_progress *progress, const struct run *run, struct recorder *rec,
			pid_t program);

/* Remove the line. */
void run_progress_end(struct run_progress *progress);

#endif
