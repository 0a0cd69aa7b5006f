/*
 * A recording whose page asks for its calls in parts: the answers, and a new reading when the
 * recording has grown.
 */
#ifndef UTRAIL_CMDS_SHOW_PARTS_H
#define UTRAIL_CMDS_SHOW_PARTS_H

#include <pthread.h>
#include <time.h>

#include "cmds/show/parts/answers.h"
#include "cmds/show/parts/index.h"
#include "cmds/show/server.h"

/* Files as they were at @stamp, read since @began_s. */
struct parts_reading {
	struct trace_data data;
	struct index index;
	uint64_t stamp;
	time_t began_s;
};

/*
 * Starts with parts_open(), ends with parts_close().
 *
 * @lock: of what follows it, as far as it is no index: that has one of its own
 * @now: the one that answers come from; @next: of files that have grown, or NULL
 * @generation: the number of the former
 * @took_s: the last one took so long
 * @sums_lock: of the recording opened once more
 * @stop: of sums, by any thread
 */
struct parts {
	const struct opts *opts;
	const char *dir;
	pthread_rwlock_t lock;
	struct parts_reading *now;
	struct parts_reading *next;
	unsigned generation;
	time_t took_s;
	pthread_mutex_t sums_lock;
	struct trace_data sums;
	unsigned sums_generation; /* 0: @sums is not open */
	struct sums_stop stop;
};

/*
 * True when the recording is better read in parts: it has more calls than a page should, it is
 * still being recorded, or the options say so.
 */
bool parts_are_better(const struct opts *opts, const struct trace_data *data);

/*
 * Begin to read @dir, which must stay valid as @opts. NULL with @err.
 */
struct parts *parts_open(const struct opts *opts, const char *dir, struct uft_err *err);
void parts_close(struct parts *parts);

/* Sums that are being made, which may take long, end without an answer. Any thread. */
void parts_stop(struct parts *parts);

/* Answer to a path below the recording's: "/", "/state" and so on. Any thread. */
void parts_answer(struct parts *parts, const char *path, const struct server_query *query,
		  struct server_reply *reply);

#endif
