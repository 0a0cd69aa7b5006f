/* Progress of `record`: a line every second, on the terminal of stderr. */
#ifndef UTRAIL_CMDS_RECORD_RUN_PROGRESS_H
#define UTRAIL_CMDS_RECORD_RUN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmds/record/base/loop.h"
#include "cmds/record/run/run.h"

/*
 * Control thread. From run_progress_begin() to run_progress_end(); callers need no member.
 *
 * @program: 0 when there is none of ours (-p)
 * @is_asked_for: shown even if others write to the terminal
 * @device: the terminal's, statusline_terminal()
 */
struct run_progress {
	struct recorder *rec;
	pid_t program;
	uint64_t began_ns;
	bool is_asked_for;
	uint64_t device;
	int timer_fd; /* -1: no line is shown */
	struct served timer;
};

/* After recorder_open(), before anything is recorded: switch on the counts that will be shown. */
void run_progress_prepare(const struct run *run, struct recorder *rec);

/*
 * From here on a line shows the recorded and lost calls and bytes, and the time. Without --progress
 * it is shown only while no recorded process has that terminal as its stdout. Errors only mean that
 * there is no line.
 */
void run_progress_begin(struct run_progress *progress, const struct run *run, struct recorder *rec,
			pid_t program);

/* The line is removed. */
void run_progress_end(struct run_progress *progress);

#endif
