/* Progress of `record`: a line every second, on the terminal of stderr. */
#ifndef UTRAIL_CMDS_RECORD_RUN_PROGRESS_H
#define UTRAIL_CMDS_RECORD_RUN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmds/record/base/loop.h"
#include "cmds/record/run/run.h"

/*
 * Control thread. From run_progress_begin() to run_progress_end(); callers need nothing in it.
 *
 * @program: 0 when there is none of ours (-p)
 * @is_asked_for: whoever else writes to the terminal
 * @device: the terminal's, statusline_terminal()
 */
struct run_progress {
	struct recorder *rec;
	pid_t program;
	uint64_t began_ns;
	bool is_asked_for;
	uint64_t device;
	int timer_fd; /* -1: nothing is shown */
	struct served timer;
};

/* After recorder_open(), before anything is recorded: have counted what will be shown. */
void run_progress_prepare(const struct run *run, struct recorder *rec);

/*
 * From here on a line shows the number of calls and bytes that were recorded and lost, and the
 * time. It is shown only while none of the recorded processes has that terminal as its stdout. With
 * --progress it does not matter. An error is no failure: then there is no line.
 */
void run_progress_begin(struct run_progress *progress, const struct run *run, struct recorder *rec,
			pid_t program);

/* The line is removed. */
void run_progress_end(struct run_progress *progress);

#endif
