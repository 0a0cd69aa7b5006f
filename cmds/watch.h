/* While a recording is read: progress on the terminal, and Ctrl-C that stops with what there is. */
#ifndef UTRAIL_CMDS_WATCH_H
#define UTRAIL_CMDS_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "cmds/opts.h"
#include "utils/trace/pipeline.h"

/* 128 + SIGINT, the shell's way to say it. */
#define STATUS_INTERRUPTED 130

/* Begins with watch_begin(), ends with watch_end(). */
struct watch {
	struct pipeline *pipe;
	pthread_t thread;
	bool is_running;
	bool shows_progress;
	atomic_bool is_done;
	atomic_bool is_interrupted;
};

/*
 * From here on SIGINT makes @pipe end as if there were no more records; a second one kills. When
 * it takes longer than a second, and stderr is a terminal that nothing else is written to, a line there
 * says how far it is. @prints_at_end: the command writes nothing while it reads
 */
void watch_begin(struct watch *watch, const struct opts *opts, struct pipeline *pipe,
		 bool prints_at_end);

/* STATUS_INTERRUPTED with a warning when it was interrupted and @status is CMD_DONE, else @status. */
int watch_end(struct watch *watch, const struct opts *opts, int status);

#endif
